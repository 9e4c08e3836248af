/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-step every kernel under secrets that differ, and compare the traces.
 *
 * A child calls the kernel once per pattern of secrets, with the same public values, the same
 * operands at the same places and the same stack. The tracer steps it natively and records, for
 * every instruction between call and return, its address and the address of each memory access. All
 * traces of a kernel and a set of lengths must be equal, word for word.
 *
 * Which lengths: those of lengths_of(); the tracer says which instructions none of them reached.
 * Where all patterns would take too long, they run only at lengths that take a jump that no earlier
 * length took.
 *
 *   trace DECODE [--part I/N] [--row NAME] [--op OP] [--json] [--quick]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode.h"
#include "harness.h"
#include "patterns.h"

extern void trace_call(fc_any_fn *fn, const uint64_t words[HARNESS_MAX_WORDS]);
extern const char trace_begin[], trace_end[];

/* ---- Traces ------------------------------------------------------------------------------------
 */

/* The words of a trace: an instruction's address, then those of its accesses. */
struct trace {
  uint64_t *words;
  size_t count, capacity;
  size_t steps;
};

static void append(struct trace *trace, uint64_t word) {
  if (trace->count == trace->capacity) {
    trace->capacity = trace->capacity == 0 ? 1 << 16 : trace->capacity * 2;
    trace->words = realloc(trace->words, trace->capacity * sizeof *trace->words);
    if (trace->words == NULL) abort();
  }
  trace->words[trace->count++] = word;
}

/* Which jumps the lengths so far have taken: a set of (from, to). */
enum { EDGE_SLOTS = 1 << 14 };
static uint64_t edges[EDGE_SLOTS];

static int add_edge(uint64_t from, uint64_t to) {
  const uint64_t key = from * 0x9e3779b97f4a7c15 ^ to;
  for (size_t i = key % EDGE_SLOTS, tries = 0; tries < EDGE_SLOTS;
       i = (i + 1) % EDGE_SLOTS, tries++) {
    if (edges[i] == key) return 0;
    if (edges[i] == 0) {
      edges[i] = key;
      return 1;
    }
  }
  return 0;
}

/* What went wrong in the present target, empty if nothing. */
static char problem[400];

static void where(char *out, size_t size, uint64_t rip) {
  const struct decode_function *f = decode_function_at(rip);
  if (f != NULL) {
    snprintf(out, size, "%s+0x%llx", f->name, (unsigned long long)(rip - f->start));
  } else {
    snprintf(out, size, "0x%llx", (unsigned long long)rip);
  }
}

/* The recorder writes the first trace and compares each later one with it, word by word. */
struct recorder {
  struct trace *reference;
  int recording;
  size_t at; /* next word to compare */
  size_t steps;
  uint64_t previous;
  int new_edges;
};

static int expect(struct recorder *r, uint64_t word) {
  if (r->recording) {
    append(r->reference, word);
    return 1;
  }
  return r->at < r->reference->count && r->reference->words[r->at++] == word;
}

static int step_differs(struct recorder *r, uint64_t rip, const char *what, uint64_t seen) {
  char here[160], before[160];
  where(here, sizeof here, rip);
  where(before, sizeof before, r->previous);
  const uint64_t wanted = r->at > 0 ? r->reference->words[r->at - 1] : 0;
  if (what == NULL) {
    char there[160];
    where(there, sizeof there, wanted);
    snprintf(problem, sizeof problem, "step %zu: after %s runs %s, not %s", r->steps, before, here,
             there);
  } else {
    snprintf(problem, sizeof problem, "step %zu: %s at %s accesses 0x%llx, not 0x%llx", r->steps,
             what, here, (unsigned long long)seen, (unsigned long long)wanted);
  }
  return 0;
}

/* memcpy and its kind take other jumps for every few lengths; a kernel's paths are its own. */
static int in_library(uint64_t rip) {
  const struct decode_function *f = decode_function_at(rip);
  return f != NULL && (strncmp(f->name, "__mem", 5) == 0 || f->name[0] == '.');
}

/* One instruction, about to run. 0 if the trace differs. */
static int step(struct recorder *r, const struct user_regs_struct *regs) {
  const uint64_t rip = regs->rip;
  struct decode_instruction *i = decode_at(rip);
  r->steps++;
  if (i == NULL) {
    snprintf(problem, sizeof problem, "no decoded instruction at 0x%llx", (unsigned long long)rip);
    return 0;
  }
  i->executed = 1;
  if (r->recording && add_edge(r->previous, rip) && !in_library(rip)) r->new_edges = 1;
  if (!expect(r, rip)) return step_differs(r, rip, NULL, 0);
  for (size_t k = 0; k < i->operand_count; k++) {
    const uint64_t address = decode_effective_address(&i->operands[k], regs);
    if (!expect(r, address)) return step_differs(r, rip, "the instruction", address);
  }
  r->previous = rip;
  return 1;
}

static int unexpected_stop(int status) {
  if (WIFSIGNALED(status) || WIFEXITED(status)) {
    snprintf(problem, sizeof problem, "the traced process ended, status 0x%x", (unsigned)status);
  } else {
    snprintf(problem, sizeof problem, "stopped by signal %d", WSTOPSIG(status));
  }
  return 0;
}

/* Let the child run to the next call; 0 if it ends first. */
static int run_to_call(pid_t child) {
  int status;
  struct user_regs_struct regs;
  if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0 || waitpid(child, &status, 0) < 0) return 0;
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return unexpected_stop(status);
  ptrace(PTRACE_GETREGS, child, NULL, &regs);
  return regs.rip == (uintptr_t)trace_begin + 1;
}

/* Step the child from the mark to the end of the call. 0 if the trace differs or the child dies. */
static int step_through_call(pid_t child, struct recorder *r) {
  struct user_regs_struct regs;
  int status;
  for (;;) {
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) return 0;
    if (waitpid(child, &status, 0) < 0) return 0;
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return unexpected_stop(status);
    ptrace(PTRACE_GETREGS, child, NULL, &regs);
    if (regs.rip == (uintptr_t)trace_end) break;
    if (!step(r, &regs)) return 0;
  }
  if (!r->recording && r->at != r->reference->count) {
    snprintf(problem, sizeof problem, "the call ends after %zu steps, not %zu", r->steps,
             r->reference->steps);
    return 0;
  }
  return 1;
}

/* ---- One target --------------------------------------------------------------------------------
 */

/* Compilers make other code for operands that are one buffer. */
static void place_in_place(struct harness_call *call) {
  const struct harness_op *op = call->target->op;
  const int in = harness_operand_index(op, "in"), out = harness_operand_index(op, "out");
  if (harness_has_in_place(op)) call->at[out] = call->at[in];
}

/* In the child: call the kernel once per pattern. */
static void call_under_patterns(const struct harness_target *target, struct harness_sizes sizes,
                                const struct patterns *patterns) {
  struct harness_call call = {.target = target, .sizes = sizes};
  harness_place_plainly(&call);
  if (sizes.n % 4 == 3) place_in_place(&call);
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  raise(SIGSTOP);
  for (size_t i = 0; i < patterns->count; i++) {
    struct pattern_source source = {target->op, &patterns->list[i], patterns->list[i].seed, &sizes};
    if (harness_fill(&call, fill_by_pattern, &source) != 0) _exit(3);
    harness_set_words(&call);
    trace_call(target->kernel->fn, call.words);
  }
  _exit(0);
}

static pid_t start_child(const struct harness_target *target, struct harness_sizes sizes,
                         const struct patterns *patterns) {
  int status;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) call_under_patterns(target, sizes, patterns);
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) {
    perror("trace: cannot start the traced process");
    exit(2);
  }
  ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
  return child;
}

static void end_child(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

/* All patterns where that is cheap or this length takes a new jump; else the first one alone. */
enum { CHEAP_STEPS = 30000, QUICK_CHEAP_STEPS = 4000 };

static size_t patterns_to_run(const struct recorder *first, const struct patterns *patterns) {
  const size_t cheap = harness_options.quick ? QUICK_CHEAP_STEPS : CHEAP_STEPS;
  const int all = first->new_edges || first->steps * patterns->count <= cheap;
  return all ? patterns->count : 1;
}

struct totals {
  size_t lengths, traces, steps;
};

/* Returns the steps of one call, or 0 if the traces differ. */
static size_t trace_length(const struct harness_target *target, struct harness_sizes sizes,
                           const struct patterns *patterns, struct totals *totals) {
  static struct trace reference;
  const pid_t child = start_child(target, sizes, patterns);
  size_t wanted = 1;
  int same = 1;
  for (size_t i = 0; i < wanted && same; i++) {
    struct recorder r = {
        .reference = &reference, .recording = i == 0, .previous = (uintptr_t)trace_begin};
    if (i == 0) reference.count = reference.steps = 0;
    same = run_to_call(child) && step_through_call(child, &r);
    if (i == 0) reference.steps = r.steps;
    if (i == 0 && same) wanted = patterns_to_run(&r, patterns);
    if (!same && problem[0] == '\0') strcpy(problem, "the traced process could not make the call");
    if (!same) {
      const size_t used = strlen(problem);
      snprintf(problem + used, sizeof problem - used, " [n=%zu aad=%zu key=%zu; %s against %s]",
               sizes.n, sizes.aad_len, sizes.key_len, patterns->list[i].name,
               patterns->list[0].name);
    }
    totals->traces++;
    totals->steps += r.steps;
  }
  end_child(child);
  totals->lengths++;
  printf("count %s %zu %zu %zu %zu\n", target->id, sizes.n, sizes.aad_len, sizes.key_len,
         reference.steps);
  return same ? reference.steps : 0;
}

/* A slow kernel takes no new jump at lengths beyond this: its loops have turned many times. */
enum { SLOW_STEPS = 4000, SLOW_LENGTH = 150, SLOW_AAD = 80 };

static int trace_target(const struct harness_target *target, struct totals *totals) {
  struct harness_sizes sizes[MAX_LENGTHS];
  struct patterns patterns;
  const size_t count = lengths_of(target->op, sizes);
  make_patterns(target->op, &patterns);
  memset(edges, 0, sizeof edges);
  memset(totals, 0, sizeof *totals);
  problem[0] = '\0';
  for (size_t i = 0, steps = 0; i < count; i++) {
    const int is_long = sizes[i].n > SLOW_LENGTH || sizes[i].aad_len > SLOW_AAD;
    if (steps > SLOW_STEPS && is_long) continue;
    steps = trace_length(target, sizes[i], &patterns, totals);
    if (steps == 0) return 0;
  }
  return 1;
}

/* ---- The report --------------------------------------------------------------------------------
 */

/* `missed NAME COUNT offset ...`: the instructions of a function that never ran, of COUNT in all.
 */
static void print_missed(const struct decode_function *f) {
  size_t ran = 0;
  for (size_t i = 0; i < f->count; i++) ran += (size_t)f->instructions[i].executed;
  if (ran == 0) return;
  printf("missed %s %zu", f->name, f->count);
  for (size_t i = 0; i < f->count; i++) {
    const struct decode_instruction *instruction = &f->instructions[i];
    if (instruction->executed || instruction->padding) continue;
    printf(" %llx", (unsigned long long)(instruction->address - f->start));
  }
  printf("\n");
}

static void print_all_missed(void) {
  size_t count;
  const struct decode_function *functions = decode_functions(&count);
  for (size_t i = 0; i < count; i++) print_missed(&functions[i]);
}

static void report_target(const struct harness_target *target) {
  struct totals totals;
  if (trace_target(target, &totals)) {
    harness_report(HARNESS_PASS, target->id, "trace", "%zu lengths, %zu traces, %zu steps",
                   totals.lengths, totals.traces, totals.steps);
  } else {
    harness_report(HARNESS_FAIL, target->id, "trace", "%s", problem);
  }
}

/* The planted leaks: the check is blind if their traces are equal. */
static void report_leaks(void) {
  size_t count;
  struct harness_target *targets =
      harness_targets(harness_leak_rows, harness_leak_row_count, &count);
  for (size_t i = 0; i < count; i++) {
    struct totals totals;
    if (!trace_target(&targets[i], &totals) && strncmp(problem, "step", 4) == 0) {
      harness_report(HARNESS_PASS, targets[i].kernel->symbol, "trace-catches", "%s", problem);
    } else {
      harness_report(HARNESS_FAIL, targets[i].kernel->symbol, "trace-catches",
                     "a planted leak was not seen %s", problem);
    }
  }
  free(targets);
}

static void part_of(int *argc, char **argv, size_t *part, size_t *parts) {
  *part = 0;
  *parts = 1;
  if (*argc > 3 && strcmp(argv[2], "--part") == 0) {
    if (sscanf(argv[3], "%zu/%zu", part, parts) != 2 || *parts == 0) exit(2);
    memmove(argv + 2, argv + 4, (size_t)(*argc - 4 + 1) * sizeof *argv);
    *argc -= 2;
  }
}

int main(int argc, char **argv) {
  size_t count, part, parts, taken = 0;
  if (argc < 2) {
    fprintf(stderr, "usage: %s DECODE [--part I/N] [--row NAME] [--op OP] [--json] [--quick]\n",
            argv[0]);
    return 2;
  }
  part_of(&argc, argv, &part, &parts);
  decode_load(argv[1]);
  argv[1] = argv[0];
  harness_parse(argc - 1, argv + 1);
  report_leaks();
  if (harness_failed()) return 1;
  struct harness_target *targets = harness_targets(fc_rows, fc_row_count, &count);
  for (size_t i = 0; i < count; i++) {
    if (!harness_selected(&targets[i]) || taken++ % parts != part) continue;
    const char *reason = harness_not_runnable(&targets[i]);
    if (reason == NULL) {
      report_target(&targets[i]);
    } else {
      harness_report(HARNESS_UNDECIDABLE, targets[i].id, "trace", "%s", reason);
    }
  }
  free(targets);
  print_all_missed();
  return harness_failed();
}

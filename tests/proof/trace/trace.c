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

extern void trace_call(fc_any_fn *fn, const uint64_t words[HARNESS_MAX_WORDS]);
extern const char trace_begin[], trace_end[];

/* ---- Secrets -----------------------------------------------------------------------------------
 */

enum pattern_kind { CONSTANT, RANDOM, ONE_BIT, EQUAL, DIFFERS };
enum place { FIRST, MIDDLE, LAST };

struct pattern {
  char name[64];
  enum pattern_kind kind;
  uint8_t byte;        /* CONSTANT */
  uint64_t seed;       /* RANDOM, EQUAL, DIFFERS */
  const char *operand; /* ONE_BIT: which holds the bit; DIFFERS: which of a and b is larger */
  enum place place;
};

enum { MAX_PATTERNS = 64, RANDOM_PATTERNS = 16, QUICK_RANDOM_PATTERNS = 3 };

struct patterns {
  size_t count;
  struct pattern list[MAX_PATTERNS];
};

static struct pattern *add_pattern(struct patterns *patterns, enum pattern_kind kind) {
  if (patterns->count == MAX_PATTERNS) abort();
  struct pattern *p = &patterns->list[patterns->count++];
  memset(p, 0, sizeof *p);
  p->kind = kind;
  return p;
}

static const char *const place_names[] = {"first", "middle", "last"};

static void add_one_bit(struct patterns *patterns, const char *operand) {
  for (int place = FIRST; place <= LAST; place++) {
    struct pattern *p = add_pattern(patterns, ONE_BIT);
    p->operand = operand;
    p->place = (enum place)place;
    snprintf(p->name, sizeof p->name, "one bit, %s of %s", place_names[place], operand);
  }
}

static void add_differences(struct patterns *patterns) {
  struct pattern *p = add_pattern(patterns, EQUAL);
  p->seed = 1;
  strcpy(p->name, "equal operands");
  for (int place = FIRST; place <= LAST; place++) {
    for (int larger = 0; larger < 2; larger++) {
      p = add_pattern(patterns, DIFFERS);
      p->seed = 1;
      p->place = (enum place)place;
      p->operand = larger ? "b" : "a";
      snprintf(p->name, sizeof p->name, "%s larger in the %s byte", p->operand, place_names[place]);
    }
  }
}

static int is_compare(const struct harness_op *op) {
  return harness_operand_index(op, "a") >= 0 && harness_operand_index(op, "b") >= 0;
}

/* The names that harness_fill asks its source for, and that are secret. */
static size_t secret_names(const struct harness_op *op, const char *names[HARNESS_MAX_OPERANDS]) {
  size_t count = 0;
  for (size_t k = 0; k < op->operand_count; k++) {
    const struct harness_operand *o = &op->operands[k];
    if (o->secrecy != HARNESS_SECRET) continue;
    if (o->direction == HARNESS_OUTPUT || o->direction == HARNESS_OUT) continue;
    names[count++] = o->kind == HARNESS_RAW ? o->name : o->kind == HARNESS_GHASH_KEY ? "h" : "key";
  }
  return count;
}

static void make_patterns(const struct harness_op *op, struct patterns *patterns) {
  const char *names[HARNESS_MAX_OPERANDS];
  const size_t name_count = secret_names(op, names);
  patterns->count = 0;
  strcpy(add_pattern(patterns, CONSTANT)->name, "all zero");
  for (uint64_t i = 0; i < (harness_options.quick ? QUICK_RANDOM_PATTERNS : RANDOM_PATTERNS); i++) {
    struct pattern *p = add_pattern(patterns, RANDOM);
    p->seed = i + 1;
    snprintf(p->name, sizeof p->name, "random secret %d", (int)i + 1);
  }
  struct pattern *ones = add_pattern(patterns, CONSTANT);
  ones->byte = 0xff;
  strcpy(ones->name, "all one");
  for (size_t i = 0; i < name_count; i++) add_one_bit(patterns, names[i]);
  if (is_compare(op)) add_differences(patterns);
}

static size_t offset_of(enum place place, size_t len) {
  return place == FIRST ? 0 : place == MIDDLE ? len / 2 : len - 1;
}

struct source {
  const struct harness_op *op;
  const struct pattern *pattern;
  uint64_t random;
  const struct harness_sizes *sizes;
};

static int is_public(const struct harness_op *op, const char *name) {
  const int k = harness_operand_index(op, name);
  return k >= 0 && op->operands[k].secrecy == HARNESS_PUBLIC;
}

/* Both operands of a compare hold the same random bytes, but for one byte of one of them. */
static void fill_nearly_equal(const struct pattern *p, const char *name, uint8_t *out, size_t len) {
  uint64_t state = p->seed;
  harness_random(&state, name, out, len);
  if (p->kind != DIFFERS || len == 0) return;
  uint8_t *byte = out + offset_of(p->place, len);
  *byte = strcmp(name, p->operand) == 0 ? 0x80 : 0x7f;
}

static void fill_secret(struct source *s, const char *name, uint8_t *out, size_t len) {
  const struct pattern *p = s->pattern;
  if (p->kind == RANDOM) {
    harness_random(&s->random, name, out, len);
  } else if (p->kind == EQUAL || p->kind == DIFFERS) {
    fill_nearly_equal(p, name, out, len);
  } else {
    memset(out, p->byte, len);
    if (p->kind != ONE_BIT || len == 0 || strcmp(name, p->operand) != 0) return;
    out[offset_of(p->place, len)] = p->place == LAST ? 0x80 : 0x01;
  }
}

/*
 * Public operands are the same whatever the pattern. At odd numbers of blocks a counter wraps
 * halfway through the call: in turn as a whole and in its last byte alone.
 */
static void fill_public(const struct harness_sizes *sizes, uint8_t *out, size_t len) {
  const size_t blocks = (sizes->n + 15) / 16;
  uint64_t fixed = 0x5eed;
  harness_random(&fixed, "", out, len);
  if (blocks % 2 == 0 || len != 16) return;
  if (blocks % 4 == 1) memset(out, 0xff, len);
  out[len - 1] = (uint8_t)(0xff - blocks / 2);
}

static void fill(void *context, const char *name, uint8_t *out, size_t len) {
  struct source *s = context;
  if (is_public(s->op, name)) {
    fill_public(s->sizes, out, len);
  } else {
    fill_secret(s, name, out, len);
  }
}

/* ---- Lengths -----------------------------------------------------------------------------------
 */

static const size_t compare_lengths[] = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  15,  16,  17,  18,
    20,  23,  24,  25,  28,  31,  32,  33,  34,  36,  40,  47,  48,  49,  50,  56,  60,
    63,  64,  65,  72,  80,  95,  96,  97,  112, 127, 128, 129, 130, 159, 160, 161, 191,
    192, 193, 224, 255, 256, 257, 300, 383, 384, 385, 511, 512, 513, 600};

/* In units of a block of 16 or 64 bytes: every count up to 17, then around the powers of two. */
static const size_t block_counts[] = {1,  0,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65};

static const size_t stream_lengths[] = {
    1,   0,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  14,   15,   16,   17,  31,
    32,  33,  47,  48,  49,  63,  64,  65,  79,  80,  81,  95,  96,  97,   112,  113,  127, 128,
    129, 143, 144, 145, 159, 160, 176, 191, 192, 193, 208, 224, 239, 240,  241,  255,  256, 257,
    272, 288, 304, 320, 336, 383, 384, 385, 511, 512, 513, 600, 768, 1023, 1024, 1025, 1040};

static const size_t aad_lengths[] = {0,  1,  13,  16,  17,  20,  32,  48,  64, 65,
                                     80, 96, 112, 128, 129, 144, 200, 256, 300};
static const size_t key_lengths[] = {16, 24, 32};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { MAX_LENGTHS = 256 };

static size_t *base_lengths(const struct harness_op *op, size_t *count) {
  static size_t list[MAX_LENGTHS];
  const size_t *from = is_compare(op) ? compare_lengths
                       : op->unit > 1 ? block_counts
                                      : stream_lengths;
  *count = is_compare(op)      ? COUNT(compare_lengths)
           : op->unit > 1      ? COUNT(block_counts)
           : harness_has_n(op) ? COUNT(stream_lengths)
                               : 1;
  if (harness_options.quick && *count > 20 && !is_compare(op)) *count = 15;
  for (size_t i = 0; i < *count; i++) list[i] = from[i] * op->unit;
  return list;
}

/* Each length with one key length and one length of AAD, in turn; the shortest with all key
 * lengths. */
static size_t lengths_of(const struct harness_op *op, struct harness_sizes sizes[MAX_LENGTHS]) {
  size_t n_count, count = 0;
  const size_t *n = base_lengths(op, &n_count);
  const int keys = harness_has_key_len(op), aad = harness_has_aad(op);
  for (size_t i = 0; keys && i < COUNT(key_lengths); i++) {
    sizes[count++] = (struct harness_sizes){n[0], 0, key_lengths[i]};
  }
  for (size_t i = keys != 0; i < n_count; i++) {
    const size_t aad_len = aad ? aad_lengths[i % COUNT(aad_lengths)] : 0;
    sizes[count++] = (struct harness_sizes){n[i], aad_len, key_lengths[i % COUNT(key_lengths)]};
  }
  for (size_t i = 0; aad && i < COUNT(aad_lengths); i++) {
    sizes[count++] = (struct harness_sizes){i % 3 * 8, aad_lengths[i], 16};
  }
  return count;
}

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
    struct source source = {target->op, &patterns->list[i], patterns->list[i].seed, &sizes};
    if (harness_fill(&call, fill, &source) != 0) _exit(3);
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

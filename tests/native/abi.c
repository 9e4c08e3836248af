/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four checks:
 *
 * - abi: rbx, rbp, r12-r15, rsp, the direction flag, MXCSR, the x87 state and the caller's stack are as
 *   before the call, and no upper half of a ymm register is left dirty.
 * - stack: at most 2048 bytes below the caller are written (painted, then looked at).
 * - thread: the kernel runs on a thread whose stack is 64 KiB between pages that are not there.
 * - signals: answers stay right while a timer's handler keeps writing its frame below the kernel's stack.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "bodies.h"
#include "trampoline.h"

#define STACK_LIMIT 2048
#define RED_ZONE 128
#define SCRIBBLE 8192
#define PAINT_A 0xd1
#define PAINT_B 0x2e

static struct harness_call case_of(const struct harness_target *target, size_t n, size_t key_len) {
  struct harness_call call = {.target = target};
  uint64_t seed = n * 3 + key_len;
  call.sizes = (struct harness_sizes){n, harness_has_aad(target->op) ? 5 + n % 40 : 0, key_len};
  harness_place_plainly(&call);
  harness_fill(&call, harness_random, &seed);
  return call;
}

/* ---- abi and stack --------------------------------------------------------------------------- */

static const char *check_registers(void) {
  static const int callee_saved[] = {RBX, RBP, R12, R13, R14, R15};
  static char text[100];
  const struct trampoline_state *s = &trampoline_state;
  for (size_t i = 0; i < sizeof callee_saved / sizeof callee_saved[0]; i++) {
    const int r = callee_saved[i];
    if (s->gpr[r] != s->gpr_fill + (uint64_t)r) {
      snprintf(text, sizeof text, "%s was changed", trampoline_gpr_names[r]);
      return text;
    }
  }
  if (s->gpr[RSP] != s->stack_top) return "rsp was changed";
  if (s->rflags >> 10 & 1) return "the direction flag is set";
  if (s->mxcsr != s->mxcsr_in) return "mxcsr was changed";
  if (s->x87_control != s->x87_control_in) return "the x87 control word was changed";
  if (s->x87_tags != 0xffff) return "x87 registers are in use: emms is missing";
  return NULL;
}

static const char *check_upper_halves(void) {
  static char text[100];
  static const uint8_t zeros[48];
  for (size_t i = 0; i < 16 && trampoline_state.vector_bits > 128; i++) {
    if (memcmp(trampoline_state.vectors[i] + 16, zeros, 48) != 0) {
      snprintf(text, sizeof text, "ymm%zu's upper half is dirty: vzeroupper is missing", i);
      return text;
    }
  }
  return NULL;
}

static const char *check_caller_stack(uint8_t paint) {
  const uint8_t *above = trampoline_stack + TRAMPOLINE_STACK;
  for (size_t i = 0; i < TRAMPOLINE_ABOVE; i++) {
    if (above[i] != paint) return "the caller's stack was written";
  }
  return NULL;
}

struct abi_result {
  char failure[200];
  size_t depth, calls;
};

static void note(struct abi_result *result, const char *failure, const struct harness_call *call) {
  if (failure == NULL || result->failure[0] != '\0') return;
  snprintf(result->failure, sizeof result->failure, "%s, n %zu, key %zu", failure, call->sizes.n,
           call->sizes.key_len);
}

static void try_lengths(const struct harness_target *target, size_t key_len,
                        struct abi_result *result) {
  for (size_t i = 0; i < trampoline_length_count; i++) {
    for (int second = 0; second < 2; second++) {
      const uint8_t paint = second ? PAINT_B : PAINT_A;
      struct harness_call call = case_of(target, trampoline_length(target->op, i), key_len);
      trampoline_run(&call, paint);
      note(result, check_registers(), &call);
      note(result, check_upper_halves(), &call);
      note(result, check_caller_stack(paint), &call);
      const size_t depth = trampoline_depth(paint);
      if (depth > result->depth) result->depth = depth;
      result->calls++;
    }
    if (!harness_has_n(target->op)) break;
  }
}

static struct abi_result try_all(const struct harness_target *target) {
  struct abi_result result = {.depth = 0};
  for (size_t key_len = 16; key_len <= 32; key_len += 8) {
    if (key_len == 16 || harness_has_key_len(target->op)) try_lengths(target, key_len, &result);
  }
  return result;
}

/* A C kernel behind an entry: what it uses must be what the entry clears, or less. */
static void check_stack(const struct harness_target *target, size_t depth) {
  const struct body *body = body_of(target->kernel);
  if (body == NULL) {
    harness_report(depth <= STACK_LIMIT ? HARNESS_PASS : HARNESS_FAIL, target->id, "stack",
                   "%zu bytes deep, limit %d", depth, STACK_LIMIT);
    return;
  }
  struct harness_target behind = *target;
  behind.kernel = &body->kernel;
  const size_t used = try_all(&behind).depth;
  const int ok = depth <= STACK_LIMIT && used <= body->cleared;
  harness_report(ok ? HARNESS_PASS : HARNESS_FAIL, target->id, "stack",
                 "%zu bytes deep, limit %d; the C code behind it uses %zu of %zu cleared", depth,
                 STACK_LIMIT, used, body->cleared);
}

static void check_abi(const struct harness_target *target) {
  const struct abi_result result = try_all(target);
  if (result.failure[0] != '\0') {
    harness_report(HARNESS_FAIL, target->id, "abi", "%s", result.failure);
  } else {
    harness_report(HARNESS_PASS, target->id, "abi", "%zu calls", result.calls);
  }
  check_stack(target, result.depth);
}

/* ---- thread ---------------------------------------------------------------------------------- */

enum { THREAD_STACK = 65536, THREAD_GUARD = 1 << 20 };

static sigjmp_buf after_fault;

static void on_fault(int signal_number) {
  (void)signal_number;
  siglongjmp(after_fault, 1);
}

struct thread_run {
  struct harness_call *call;
  int faulted;
};

static void *run_on_thread(void *argument) {
  static uint8_t stack[65536];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct thread_run *run = argument;
  uint8_t here;
  sigaltstack(&alternate, NULL);
  if (sigsetjmp(after_fault, 1) == 0) {
    trampoline_call(run->call, &here - 1024); /* below this frame, on the thread's stack */
  } else {
    run->faulted = 1;
  }
  return NULL;
}

/* Run on a thread with this stack, faults caught; 0 if that could be done. */
static int run_in_thread(struct thread_run *run, uint8_t *stack) {
  struct sigaction action, before;
  pthread_attr_t attributes;
  pthread_t thread;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before);
  pthread_attr_init(&attributes);
  int failed = pthread_attr_setstack(&attributes, stack, THREAD_STACK);
  if (failed == 0) failed = pthread_create(&thread, &attributes, run_on_thread, run);
  if (failed == 0) failed = pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  sigaction(SIGSEGV, &before, NULL);
  return failed;
}

static void check_thread(const struct harness_target *target) {
  const size_t n = harness_has_n(target->op) ? 4096 : 0;
  struct harness_call call = case_of(target, n, 32);
  struct thread_run run = {.call = &call};
  const size_t size = THREAD_GUARD + THREAD_STACK + THREAD_GUARD;
  uint8_t *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int failed = p == MAP_FAILED;
  if (!failed) failed = mprotect(p + THREAD_GUARD, THREAD_STACK, PROT_READ | PROT_WRITE);
  if (!failed) failed = run_in_thread(&run, p + THREAD_GUARD);
  if (p != MAP_FAILED) munmap(p, size);
  harness_report(failed || run.faulted ? HARNESS_FAIL : HARNESS_PASS, target->id, "thread",
                 "stack of 64 KiB, n %zu%s%s", n, failed ? ", no such thread" : "",
                 run.faulted ? ", an access outside of it" : "");
}

/* ---- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t hits;

/*
 * What a handler on the interrupted stack may do: write anything below the red zone. The kernel's
 * own signal frame would leave gaps, so this runs on another stack and writes all of it.
 */
static void on_alarm(int signal_number, siginfo_t *info, void *context) {
  (void)signal_number;
  (void)info;
  const ucontext_t *interrupted = context;
  const uint64_t rsp = (uint64_t)interrupted->uc_mcontext.gregs[REG_RSP];
  const uint64_t bottom = (uintptr_t)trampoline_stack;
  /* The kernel runs, not the trampoline around it: that has another stack. */
  if (rsp < bottom + RED_ZONE + SCRIBBLE || rsp >= bottom + TRAMPOLINE_STACK) return;
  memset((uint8_t *)(uintptr_t)(rsp - RED_ZONE - SCRIBBLE), 0xee, SCRIBBLE);
  hits++;
}

static void set_timer(long microseconds) {
  const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

struct snapshot {
  uint8_t bytes[HARNESS_MAX_OPERANDS][HARNESS_PLAIN_MAX];
};

static void save(const struct harness_call *call, struct snapshot *to) {
  for (size_t k = 0; k < call->target->op->operand_count; k++) {
    memcpy(to->bytes[k], call->at[k], harness_size(call, k));
  }
}

static void restore(struct harness_call *call, const struct snapshot *from) {
  for (size_t k = 0; k < call->target->op->operand_count; k++) {
    memcpy(call->at[k], from->bytes[k], harness_size(call, k));
  }
}

static int same(const struct harness_call *call, const struct snapshot *expected) {
  for (size_t k = 0; k < call->target->op->operand_count; k++) {
    if (memcmp(call->at[k], expected->bytes[k], harness_size(call, k)) != 0) return 0;
  }
  return 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_signals(const struct harness_target *target) {
  static struct snapshot before, expected;
  const sig_atomic_t wanted = harness_options.quick ? 5 : 50;
  const double limit = now() + (harness_options.quick ? 2.0 : 10.0);
  struct harness_call call = case_of(target, 1040 / target->op->unit * target->op->unit, 32);
  save(&call, &before);
  const int right = trampoline_run(&call, PAINT_A);
  save(&call, &expected);
  size_t wrong = 0, calls = 0;
  hits = 0;
  set_timer(40);
  for (; hits < wanted && wrong == 0 && now() < limit; calls++) {
    restore(&call, &before);
    const int result = trampoline_run(&call, PAINT_A);
    wrong += result != right || !same(&call, &expected) || check_registers() != NULL;
  }
  set_timer(0);
  const int ok = wrong == 0 && hits > 0;
  harness_report(ok ? HARNESS_PASS : HARNESS_FAIL, target->id, "signals",
                 "%d signals while it ran, %zu calls%s", (int)hits, calls,
                 wrong ? ", a wrong answer or a register changed" : "");
}

static void bombard(void) {
  static uint8_t stack[65536];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_alarm;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaltstack(&alternate, NULL);
  sigaction(SIGALRM, &action, NULL);
}

/* ---- All ------------------------------------------------------------------------------------- */

static void check_target(const struct harness_target *target) {
  static const char *const checks[] = {"abi", "stack", "thread", "signals"};
  const char *reason = harness_not_runnable(target);
  for (size_t i = 0; i < 4 && reason != NULL; i++) {
    harness_report(HARNESS_UNDECIDABLE, target->id, checks[i], "%s", reason);
  }
  if (reason != NULL) return;
  check_abi(target);
  check_thread(target);
  check_signals(target);
}

int main(int argc, char **argv) {
  harness_parse(argc, argv);
  trampoline_init();
  bombard();
  size_t count;
  struct harness_target *targets = harness_all_targets(&count);
  for (size_t i = 0; i < count; i++) {
    if (harness_selected(&targets[i])) check_target(&targets[i]);
  }
  free(targets);
  return harness_failed();
}

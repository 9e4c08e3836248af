/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bounds     every length, every operand against an unmapped page at its end and at its beginning,
 * in place, zero lengths at NULL: no fault, nothing outside the outputs written answers    every
 * one of those calls gives what the standard says (reference.c) alignment  each operand alone at
 * offsets 0 to 63, then seeded combinations of offsets
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "reference.h"
#include "trampoline.h"

#define PAGE 4096
#define ROOM (5 * PAGE)
#define MARGIN 512 /* bytes around an operand that must keep their canary */
#define PLAIN_CANARY 0x5a
#define CANARY 0xa7

enum placement { AT_END, AT_BEGIN, AT_OFFSETS };
static const char *const placement_names[] = {"at the end of a page", "at the start of a page",
                                              "at offsets"};

/* ---- Rooms: pages for one operand, unmapped ones around them --------------------------------- */

static uint8_t *rooms[HARNESS_MAX_OPERANDS];

static void make_rooms(void) {
  for (size_t k = 0; k < HARNESS_MAX_OPERANDS; k++) {
    uint8_t *p = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + PAGE, ROOM, PROT_READ | PROT_WRITE) != 0) {
      perror("mmap");
      exit(2);
    }
    rooms[k] = p + PAGE;
  }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static sigjmp_buf after_fault;
static volatile sig_atomic_t in_kernel, fault_signal;
static uint8_t *volatile fault_address;

static void on_fault(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  if (!in_kernel) {
    signal(signal_number, SIG_DFL);
    return;
  }
  fault_signal = signal_number;
  fault_address = info->si_addr;
  siglongjmp(after_fault, 1);
}

static void catch_faults(void) {
  static uint8_t stack[65536];
  const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaltstack(&alternate, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGILL, &action, NULL);
  sigaction(SIGFPE, &action, NULL);
}

/* ---- One case: lengths and contents, and what must come of them ------------------------------ */

struct test_case {
  struct harness_call call;
  uint8_t image[HARNESS_MAX_OPERANDS][HARNESS_PLAIN_MAX]; /* each operand before the call */
  struct reference_result expected;
  size_t variation;
};

struct verdict {
  char bounds[300], answers[300]; /* the first failure of each, or "" */
};

enum { EVERY_LAST_BYTE = 16 }; /* variations from here on: the counter's last byte, and carries */
/* Contents that random bytes would not bring about: equal operands of a compare, counters that
 * wrap. */
static void vary(struct harness_call *call, size_t variation) {
  const struct harness_op *op = call->target->op;
  const size_t n = call->sizes.n;
  if (op->result == HARNESS_SECRET && variation != 0 && n != 0) {
    memcpy(call->at[1], call->at[0], n);
    if (variation == 2) call->at[1][0] ^= 0x80;
    if (variation == 3) call->at[1][n - 1] ^= 1;
  }
  const int counter = harness_operand_index(op, "counter"), j0 = harness_operand_index(op, "j0");
  uint8_t *p = counter >= 0 ? call->at[counter] : j0 >= 0 ? call->at[j0] : NULL;
  if (p == NULL || variation == 0) return;
  if (variation >= EVERY_LAST_BYTE) {
    if (variation == EVERY_LAST_BYTE + 256) {
      memset(p + 8, 0, 8);
      return;
    }
    memset(p + 11, 0xff, 4);
    p[15] = (uint8_t)(variation - EVERY_LAST_BYTE);
    return;
  }
  memset(p + (variation == 1 ? 0 : 12), 0xff, variation == 1 ? 15 : 3);
  p[15] = (uint8_t)(0xfe - variation);
}

static size_t variations(const struct harness_op *op) {
  return op->result == HARNESS_SECRET ? 4 : 1;
}

/* Fill at plain places, run there, keep images and the right answers. */
static void prepare_case(struct test_case *c, uint64_t seed) {
  struct reference_raw raw = {.source = harness_random, .context = &seed};
  struct harness_call *call = &c->call;
  const struct harness_op *op = call->target->op;
  harness_place_plainly(call);
  for (size_t k = 0; k < op->operand_count; k++) {
    memset(call->at[k], PLAIN_CANARY, harness_size(call, k));
  }
  harness_fill(call, reference_source, &raw);
  vary(call, c->variation);
  for (size_t k = 0; k < op->operand_count; k++) {
    memcpy(c->image[k], call->at[k], harness_size(call, k));
  }
  reference_run(call, &raw, &c->expected);
  for (size_t k = 0; k < op->operand_count; k++) {
    if (c->expected.known[k]) continue;
    /* A layout of the suite's own: the answer at plain places is the one that others must equal. */
    trampoline_call(call, trampoline_stack + TRAMPOLINE_STACK);
    memcpy(c->expected.bytes[k], call->at[k], harness_size(call, k));
  }
}

static void place(struct harness_call *call, enum placement placement, const uint8_t *offsets,
                  int in_place) {
  const struct harness_op *op = call->target->op;
  for (size_t k = 0; k < op->operand_count; k++) {
    if (placement == AT_END) call->at[k] = rooms[k] + ROOM - harness_size(call, k);
    if (placement == AT_BEGIN) call->at[k] = rooms[k];
    if (placement == AT_OFFSETS) call->at[k] = rooms[k] + MARGIN + offsets[k];
    if (in_place && op->operands[k].direction == HARNESS_OUT) call->at[k] = call->at[k - 1];
  }
}

/* The part of operand k's room that is watched. */
static uint8_t *watch_begin(const struct harness_call *call, size_t k) {
  return call->at[k] - rooms[k] < MARGIN ? rooms[k] : call->at[k] - MARGIN;
}
static uint8_t *watch_end(const struct harness_call *call, size_t k) {
  uint8_t *end = call->at[k] + harness_size(call, k);
  return rooms[k] + ROOM - end < MARGIN ? rooms[k] + ROOM : end + MARGIN;
}

static int is_output(const struct harness_operand *operand) {
  return operand->direction == HARNESS_OUTPUT || operand->direction == HARNESS_OUT ||
         operand->direction == HARNESS_INOUT;
}

static int is_alias(const struct harness_call *call, size_t k, int in_place) {
  return in_place && call->target->op->operands[k].direction == HARNESS_OUT;
}

static void load_images(struct test_case *c, int in_place) {
  struct harness_call *call = &c->call;
  const struct harness_op *op = call->target->op;
  for (size_t k = 0; k < op->operand_count; k++) {
    if (is_alias(call, k, in_place)) continue;
    uint8_t *begin = watch_begin(call, k);
    memset(begin, CANARY, (size_t)(watch_end(call, k) - begin));
    if (op->operands[k].direction != HARNESS_OUTPUT && op->operands[k].direction != HARNESS_OUT) {
      memcpy(call->at[k], c->image[k], harness_size(call, k));
    }
    if (harness_points(&op->operands[k])) {
      harness_fill_pointers(call, k);
      memcpy(c->image[k], call->at[k], harness_size(call, k));
    }
  }
}

static const char *operand_at(const struct test_case *c, const uint8_t *address, long *distance) {
  const struct harness_op *op = c->call.target->op;
  for (size_t k = 0; k < op->operand_count; k++) {
    if (address >= rooms[k] - PAGE && address < rooms[k] + ROOM + PAGE) {
      *distance = address - c->call.at[k];
      return op->operands[k].name;
    }
  }
  return NULL;
}

#define NOTE(where, ...)                                                 \
  do {                                                                   \
    if ((where)[0] == '\0') snprintf(where, sizeof(where), __VA_ARGS__); \
  } while (0)

static void note_fault(const struct test_case *c, const char *what, struct verdict *verdict) {
  long distance = 0;
  const char *name = operand_at(c, fault_address, &distance);
  if (fault_signal == SIGSEGV && name != NULL) {
    NOTE(verdict->bounds, "fault at byte %ld of %s, %s", distance, name, what);
  } else {
    NOTE(verdict->bounds, "signal %d at %p, %s", (int)fault_signal, (void *)fault_address, what);
  }
}

static void check_operand(const struct test_case *c, size_t k, int in_place, const char *what,
                          struct verdict *verdict) {
  const struct harness_call *call = &c->call;
  const struct harness_operand *operand = &call->target->op->operands[k];
  const size_t size = harness_size(call, k);
  const int written = is_output(operand) || (in_place && operand->direction == HARNESS_IN);
  if (is_alias(call, k, in_place)) return;
  for (const uint8_t *p = watch_begin(call, k); p < watch_end(call, k); p++) {
    if (p == call->at[k]) p += size;
    if (p < watch_end(call, k) && *p != CANARY) {
      NOTE(verdict->bounds, "byte %ld of %s (%zu bytes) was written, %s", (long)(p - call->at[k]),
           operand->name, size, what);
      break;
    }
  }
  /* In place, what lies at IN afterwards is the output's answer. */
  const size_t answer = in_place && operand->direction == HARNESS_IN ? k + 1 : k;
  const uint8_t *right = written ? c->expected.bytes[answer] : c->image[k];
  if (memcmp(call->at[k], right, size) == 0) return;
  if (written) {
    NOTE(verdict->answers, "wrong %s, %s", operand->name, what);
  } else {
    NOTE(verdict->bounds, "input %s was changed, %s", operand->name, what);
  }
}

static void run_case(struct test_case *c, enum placement placement, const uint8_t *offsets,
                     int in_place, int null_empty, struct verdict *verdict) {
  struct harness_call *call = &c->call;
  const struct harness_op *op = call->target->op;
  char what[160];
  snprintf(what, sizeof what, "n %zu, aad %zu, key %zu, contents %zu, %s%s%s", call->sizes.n,
           call->sizes.aad_len, call->sizes.key_len, c->variation, placement_names[placement],
           in_place ? ", in place" : "", null_empty ? ", empty operands at NULL" : "");
  place(call, placement, offsets, in_place);
  load_images(c, in_place);
  uint8_t *const kept[HARNESS_MAX_OPERANDS] = {call->at[0], call->at[1], call->at[2], call->at[3],
                                               call->at[4], call->at[5], call->at[6], call->at[7]};
  if (null_empty) {
    for (size_t k = 0; k < op->operand_count; k++) {
      if (harness_size(call, k) == 0) call->at[k] = NULL;
    }
    const int pointers = harness_pointers_index(op);
    if (pointers >= 0) {
      harness_fill_pointers(call, (size_t)pointers);
      memcpy(c->image[pointers], call->at[pointers], harness_size(call, (size_t)pointers));
    }
  }
  int result = 0;
  if (sigsetjmp(after_fault, 1) != 0) {
    in_kernel = 0;
    memcpy(call->at, kept, sizeof kept);
    note_fault(c, what, verdict);
    return;
  }
  in_kernel = 1;
  result = trampoline_call(call, trampoline_stack + TRAMPOLINE_STACK);
  in_kernel = 0;
  memcpy(call->at, kept, sizeof kept);
  if (result != c->expected.result) {
    NOTE(verdict->answers, "returned %d, not %d, %s", result, c->expected.result, what);
  }
  for (size_t k = 0; k < op->operand_count; k++) check_operand(c, k, in_place, what, verdict);
}

/* ---- The sweeps ------------------------------------------------------------------------------ */

static const size_t long_lengths[] = {640,  960,  1024, 1040, 1536, 2048, 2064, 3072,
                                      4080, 4096, 4112, 6144, 8128, 8192, 8256};
static const size_t quick_lengths[] = {0,   1,   2,   3,   4,   5,   7,   8,   9,   12,   15,  16,
                                       17,  20,  24,  31,  32,  33,  40,  47,  48,  49,   63,  64,
                                       65,  79,  80,  81,  95,  96,  97,  111, 112, 127,  128, 129,
                                       143, 144, 159, 160, 191, 192, 208, 255, 256, 257,  304, 320,
                                       383, 384, 400, 448, 511, 512, 513, 576, 600, 1024, 2048};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The i-th length of the sweep, or -1 after the last. Long ones also one byte off where that
 * counts. */
static long sweep_length(const struct harness_op *op, size_t i) {
  if (!harness_has_n(op)) return i == 0 ? 0 : -1;
  if (harness_options.quick) {
    if (i >= COUNT(quick_lengths)) return -1;
    return (long)(op->unit == 1 ? quick_lengths[i] : quick_lengths[i] / 16 * op->unit);
  }
  const size_t short_count = 600 / op->unit + 1;
  if (i < short_count) return (long)(i * op->unit);
  const size_t j = i - short_count, variants = op->unit == 1 ? 3 : 1;
  if (j / variants >= COUNT(long_lengths)) return -1;
  return (long)(long_lengths[j / variants] / op->unit * op->unit - j % variants);
}

static void everywhere(struct test_case *c, struct verdict *verdict) {
  const int pair = harness_has_in_place(c->call.target->op);
  for (int in_place = 0; in_place <= pair; in_place++) {
    run_case(c, AT_END, NULL, in_place, 0, verdict);
    run_case(c, AT_BEGIN, NULL, in_place, 0, verdict);
  }
  if (c->call.sizes.n == 0 || c->call.sizes.aad_len == 0) run_case(c, AT_END, NULL, 0, 1, verdict);
}

static size_t sweep_lengths(struct test_case *c, size_t key_len, struct verdict *verdict) {
  const struct harness_op *op = c->call.target->op;
  size_t cases = 0;
  for (size_t i = 0; sweep_length(op, i) >= 0; i++) {
    const size_t n = (size_t)sweep_length(op, i);
    c->call.sizes = (struct harness_sizes){n, harness_has_aad(op) ? n * 7 % 61 : 0, key_len};
    for (size_t v = 0; v < variations(op); v++, cases++) {
      c->variation = variations(op) > 1 ? v : i % 3;
      prepare_case(c, 1000 * n + 10 * key_len + v);
      everywhere(c, verdict);
    }
  }
  return cases;
}

static size_t sweep_aad(struct test_case *c, size_t key_len, struct verdict *verdict) {
  static const size_t lengths[] = {0, 17, 256};
  size_t cases = 0;
  if (!harness_has_aad(c->call.target->op)) return 0;
  for (size_t aad_len = 0; aad_len <= 600; aad_len += harness_options.quick ? 37 : 1, cases++) {
    c->call.sizes = (struct harness_sizes){lengths[aad_len % 3], aad_len, key_len};
    c->variation = aad_len % 3;
    prepare_case(c, 7000 + aad_len);
    everywhere(c, verdict);
  }
  return cases;
}

/* Counters are added to a byte at a time where that byte cannot overflow: begin at each. */
static size_t sweep_counters(struct test_case *c, struct verdict *verdict) {
  const struct harness_op *op = c->call.target->op;
  if (harness_operand_index(op, "counter") < 0 && harness_operand_index(op, "j0") < 0) return 0;
  for (size_t last = 0; last <= 256; last++) { /* 256: the low half is zero, as after a nonce */
    c->call.sizes = (struct harness_sizes){400, harness_has_aad(op) ? 9 : 0, 16};
    c->variation = EVERY_LAST_BYTE + last;
    prepare_case(c, last);
    run_case(c, AT_END, NULL, 0, 0, verdict);
  }
  return 257;
}

/* What a schedule does not use is zero: bytes that are the same for eight keys, but for the rounds. */
static size_t sweep_unused(struct test_case *c, size_t key_len, struct verdict *verdict) {
  uint8_t differ[FC_AES_SCHEDULE_BYTES] = {0}, first[FC_AES_SCHEDULE_BYTES];
  struct harness_call *call = &c->call;
  if (harness_operand_index(call->target->op, "bytes") < 0) return 0;
  call->sizes = (struct harness_sizes){0, 0, key_len};
  for (uint64_t seed = 1; seed <= 8; seed++) {
    uint64_t state = seed;
    harness_place_plainly(call);
    memset(call->at[0], PLAIN_CANARY, sizeof(struct fc_aes_key));
    harness_fill(call, harness_random, &state);
    trampoline_call(call, trampoline_stack + TRAMPOLINE_STACK);
    if (seed == 1) memcpy(first, call->at[0], sizeof first);
    for (size_t i = 0; i < sizeof first; i++) differ[i] |= (uint8_t)(first[i] ^ call->at[0][i]);
  }
  for (size_t i = 0; i < sizeof first; i++) {
    if (differ[i] == 0 && first[i] != 0) {
      NOTE(verdict->answers, "unused byte %zu of the schedule is not zero, key %zu", i, key_len);
    }
  }
  return 8;
}

static size_t align(size_t offset, const struct harness_operand *operand) {
  return offset / operand->alignment * operand->alignment;
}

static size_t sweep_offsets(struct test_case *c, struct verdict *verdict) {
  static const size_t lengths[] = {1, 16, 17, 63, 64, 65, 128, 255, 256, 257, 600, 1024};
  const struct harness_op *op = c->call.target->op;
  size_t cases = 0;
  for (size_t i = 0; i < COUNT(lengths); i += harness_options.quick ? 5 : 1) {
    const size_t n = (lengths[i] + op->unit - 1) / op->unit * op->unit;
    c->call.sizes = (struct harness_sizes){n, harness_has_aad(op) ? 21 : 0, 16 + 8 * (i % 3)};
    c->variation = 0;
    prepare_case(c, 9000 + i);
    for (size_t k = 0; k < op->operand_count; k++) {
      for (size_t offset = 0; offset < 64; offset += op->operands[k].alignment, cases++) {
        uint8_t offsets[HARNESS_MAX_OPERANDS] = {0};
        offsets[k] = (uint8_t)offset;
        run_case(c, AT_OFFSETS, offsets, 0, 0, verdict);
      }
    }
  }
  return cases;
}

static size_t sweep_combinations(struct test_case *c, struct verdict *verdict) {
  const struct harness_op *op = c->call.target->op;
  const size_t count = harness_options.quick ? 100 : 1000;
  uint64_t seed = 1;
  for (size_t i = 0; i < count; i++) {
    uint8_t random[HARNESS_MAX_OPERANDS + 4], offsets[HARNESS_MAX_OPERANDS];
    harness_random(&seed, "", random, sizeof random);
    if (i % 10 == 0) { /* ten combinations of offsets for each of the contents */
      const size_t n = (size_t)(random[8] << 8 | random[9]) % 601 / op->unit * op->unit;
      c->call.sizes = (struct harness_sizes){n, harness_has_aad(op) ? random[10] : 0,
                                             16 + 8 * (size_t)(random[11] % 3)};
      c->variation = i / 10 % variations(op);
      prepare_case(c, seed);
    }
    for (size_t k = 0; k < op->operand_count; k++) {
      offsets[k] = (uint8_t)align(random[k] % 64, &op->operands[k]);
    }
    run_case(c, AT_OFFSETS, offsets, harness_has_in_place(op) && i % 2 == 1, 0, verdict);
  }
  return count;
}

static int prepares(struct test_case *c) {
  uint64_t seed = 1;
  c->call.sizes = (struct harness_sizes){0, 0, 16};
  harness_place_plainly(&c->call);
  return harness_fill(&c->call, harness_random, &seed) == 0;
}

static void report(const struct harness_target *target, const char *check, const char *failure,
                   size_t cases) {
  if (failure[0] != '\0') {
    harness_report(HARNESS_FAIL, target->id, check, "%s", failure);
  } else {
    harness_report(HARNESS_PASS, target->id, check, "%zu cases", cases);
  }
}

static void check_target(const struct harness_target *target) {
  static const char *const checks[] = {"bounds", "answers", "alignment"};
  static struct test_case c;
  struct verdict verdict, offsets;
  const char *reason = harness_not_runnable(target);
  memset(&verdict, 0, sizeof verdict);
  memset(&offsets, 0, sizeof offsets);
  c.call.target = target;
  if (reason == NULL && !prepares(&c)) reason = "not built";
  if (reason != NULL) {
    for (size_t i = 0; i < COUNT(checks); i++) {
      harness_report(HARNESS_UNDECIDABLE, target->id, checks[i], "%s", reason);
    }
    return;
  }
  size_t cases = 0, offset_cases;
  for (size_t key_len = 16; key_len <= 32; key_len += 8) {
    const int keyed = harness_has_key_len(target->op);
    if (!keyed && key_len != 16) continue;
    cases += sweep_unused(&c, key_len, &verdict);
    cases += sweep_lengths(&c, key_len, &verdict) + sweep_aad(&c, key_len, &verdict);
  }
  cases += sweep_counters(&c, &verdict);
  offset_cases = sweep_offsets(&c, &offsets) + sweep_combinations(&c, &offsets);
  report(target, "bounds", verdict.bounds, cases);
  report(target, "answers", verdict.answers, cases);
  report(target, "alignment", offsets.bounds[0] ? offsets.bounds : offsets.answers, offset_cases);
}

int main(int argc, char **argv) {
  harness_parse(argc, argv);
  const char *wrong = reference_self_test();
  if (wrong != NULL) {
    fprintf(stderr, "reference.c is wrong: %s\n", wrong);
    return 2;
  }
  trampoline_init();
  make_rooms();
  catch_faults();
  size_t count;
  struct harness_target *targets = harness_all_targets(&count);
  for (size_t i = 0; i < count; i++) {
    if (harness_selected(&targets[i])) check_target(&targets[i]);
  }
  free(targets);
  return harness_failed();
}

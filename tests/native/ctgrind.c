/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constant-time under memcheck: secrets are marked undefined, so that memcheck reports every branch
 * on one and every address made from one. Run as `valgrind -q --error-limit=no build/.../ctgrind`.
 *
 * An error belongs to the row that was running: errors are counted before and after each row.
 * Before any verdict the planted leaks (an early exit, a jump in assembly, AES by table, its key
 * schedule included) must each be reported.
 *
 * What is declassified, all of it here, once the function has returned: outputs, tags among them, and
 * the results of compares (declassify); the length that the removal of PKCS#7 padding says, which is
 * its result as well (check_padding). The functions themselves declassify nothing.
 *
 * memcheck 3.19 does not run SHA-NI, VAES, VPCLMULQDQ on ymm, GFNI or AVX-512: rows that need them
 * are not decidable here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/memcheck.h>

#include "aes/modes.h"
#include "leaks/leaks.h"
#include "trampoline.h"

/* What memcheck cannot run, by feature: never found out by a crash. */
static const struct {
  fc_features feature;
  const char *name;
} undecodable[] = {
    {FC_F(SHA_NI), "SHA-NI"}, {FC_F(VAES), "VAES"},     {FC_F(VPCLMULQDQ), "VPCLMULQDQ"},
    {FC_F(GFNI), "GFNI"},     {FC_F(SHA512), "SHA512"}, {FC_F(AVX512F), "AVX-512"},
};

static const char *not_decidable(const struct fc_row *row) {
  for (size_t i = 0; i < sizeof undecodable / sizeof undecodable[0]; i++) {
    if (row->features & undecodable[i].feature) return undecodable[i].name;
  }
  return NULL;
}

/* ---- Marking --------------------------------------------------------------------------------- */

static void classify(const struct harness_call *call) {
  for (size_t k = 0; k < call->target->op->operand_count; k++) {
    struct harness_range ranges[2];
    const size_t count = harness_secret_ranges(call, k, ranges);
    for (size_t r = 0; r < count; r++) {
      VALGRIND_MAKE_MEM_UNDEFINED(call->at[k] + ranges[r].offset, ranges[r].len);
    }
  }
}

/* The one place where secrets become public: every operand and the result, after the kernel. */
static void declassify(const struct harness_call *call, int *result) {
  for (size_t k = 0; k < call->target->op->operand_count; k++) {
    VALGRIND_MAKE_MEM_DEFINED(call->at[k], harness_size(call, k));
  }
  VALGRIND_MAKE_MEM_DEFINED(result, sizeof *result);
}

static int undefined(const void *p, size_t len) {
  static uint8_t bits[HARNESS_PLAIN_MAX];
  if (len == 0) return 1;
  if (VALGRIND_GET_VBITS(p, bits, len) != 1) return 0;
  for (size_t i = 0; i < len; i++) {
    if (bits[i] != 0) return 1;
  }
  return 0;
}

/*
 * A kernel that memcheck lost track of would pass for nothing: what it wrote must be marked still.
 * Returns which operand is not, or NULL.
 */
static const char *lost_mark(const struct harness_call *call, const int *result) {
  const struct harness_op *op = call->target->op;
  for (size_t k = 0; k < op->operand_count; k++) {
    const enum harness_direction direction = op->operands[k].direction;
    if (direction == HARNESS_INPUT || direction == HARNESS_IN) continue;
    if (op->operands[k].secrecy == HARNESS_PUBLIC) continue;
    if (!undefined(call->at[k], harness_size(call, k))) return op->operands[k].name;
  }
  if (op->result == HARNESS_SECRET && call->sizes.n != 0 && !undefined(result, sizeof *result)) {
    return "the result";
  }
  return NULL;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What all calls of one target came to. */
struct outcome {
  size_t calls;
  unsigned errors;
  const char *lost;
};

static void call_once(const struct harness_target *target, struct harness_sizes sizes, int in_place,
                      size_t contents, struct outcome *outcome) {
  struct harness_call call = {.target = target, .sizes = sizes};
  uint64_t seed = 1;
  harness_place_plainly(&call);
  for (size_t k = 0; in_place && k < target->op->operand_count; k++) {
    if (target->op->operands[k].direction == HARNESS_OUT) call.at[k] = call.at[k - 1];
  }
  harness_fill(&call, harness_random, &seed);
  /* Compares: equal operands as well, which an early exit would run through. */
  if (contents == 1) memcpy(call.at[1], call.at[0], sizes.n);
  classify(&call);
  int result = harness_run(&call);
  const char *lost = lost_mark(&call, &result);
  declassify(&call, &result);
  if (lost != NULL) outcome->lost = lost;
  outcome->calls++;
}

static void call_at_every_length(const struct harness_target *target, size_t key_len,
                                 struct outcome *outcome) {
  const struct harness_op *op = target->op;
  const int pair = harness_has_in_place(op);
  for (size_t i = 0; i < trampoline_length_count; i += harness_options.quick ? 3 : 1) {
    const struct harness_sizes sizes = {trampoline_length(op, i),
                                        harness_has_aad(op) ? i * 5 % 70 : 0, key_len};
    for (int in_place = 0; in_place <= pair; in_place++) {
      call_once(target, sizes, in_place, 0, outcome);
    }
    if (op->result == HARNESS_SECRET) call_once(target, sizes, 0, 1, outcome);
    if (!harness_has_n(op)) break;
  }
}

static struct outcome call_all(const struct harness_target *target) {
  struct outcome outcome = {.lost = NULL};
  const unsigned before = VALGRIND_COUNT_ERRORS;
  for (size_t key_len = 16; key_len <= 32; key_len += 8) {
    if (key_len == 16 || harness_has_key_len(target->op)) {
      call_at_every_length(target, key_len, &outcome);
    }
  }
  outcome.errors = VALGRIND_COUNT_ERRORS - before;
  return outcome;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Each planted leak must be seen; returns how many were not. */
static size_t check_leaks(void) {
  size_t count, missed = 0;
  struct harness_target *leaks = harness_targets(harness_leak_rows, harness_leak_row_count, &count);
  for (size_t i = 0; i < count; i++) {
    const unsigned errors = call_all(&leaks[i]).errors;
    if (errors == 0) missed++;
    harness_report(errors ? HARNESS_PASS : HARNESS_FAIL, leaks[i].id, "ctgrind-sees-leak",
                   "%u errors", errors);
  }
  free(leaks);
  return missed;
}

static void check_target(const struct harness_target *target) {
  const char *instruction = not_decidable(target->row);
  const char *reason = harness_not_runnable(target);
  if (target->kernel->fn == NULL) {
    harness_report(HARNESS_UNDECIDABLE, target->id, "ctgrind", "not built");
  } else if (instruction != NULL) {
    harness_report(HARNESS_UNDECIDABLE, target->id, "ctgrind", "memcheck does not run %s",
                   instruction);
  } else if (reason != NULL) {
    harness_report(HARNESS_UNDECIDABLE, target->id, "ctgrind", "%s", reason);
  } else {
    const struct outcome outcome = call_all(target);
    if (outcome.lost != NULL) {
      harness_report(HARNESS_FAIL, target->id, "ctgrind", "memcheck lost the mark of %s",
                     outcome.lost);
      return;
    }
    harness_report(outcome.errors ? HARNESS_FAIL : HARNESS_PASS, target->id, "ctgrind",
                   "%zu calls, %u errors", outcome.calls, outcome.errors);
  }
}

/* Above the kernels: every last byte, with padding before it that is good, or not in one byte. */
static void check_padding(void) {
  const unsigned before = VALGRIND_COUNT_ERRORS;
  size_t calls = 0, lost = 0, wrong = 0;
  for (unsigned last = 0; last < 256; last++) {
    for (unsigned bad = 0; bad <= 16; bad++, calls++) {
      uint8_t block[16];
      memset(block, (int)last, sizeof block);
      if (bad != 0) block[bad - 1] ^= 0x10;
      const unsigned pad = block[15];
      const int good = pad >= 1 && pad <= 16 && (bad == 0 || bad == 16 || bad - 1 < 16 - pad);
      VALGRIND_MAKE_MEM_UNDEFINED(block, sizeof block);
      size_t length = fc_pkcs7_unpad(block);
      lost += !undefined(&length, sizeof length);
      VALGRIND_MAKE_MEM_DEFINED(&length, sizeof length); /* good or bad, and how long: public now */
      wrong += bad != 16 && length != (good ? pad : 0);
    }
  }
  const unsigned errors = VALGRIND_COUNT_ERRORS - before;
  harness_report(errors || lost || wrong ? HARNESS_FAIL : HARNESS_PASS, "fc_pkcs7_unpad",
                 "ctgrind-padding", "%zu calls, %u errors, %zu marks lost, %zu wrong", calls,
                 errors, lost, wrong);
}

int main(int argc, char **argv) {
  harness_parse(argc, argv);
  if (!RUNNING_ON_VALGRIND) {
    fprintf(stderr, "run this under valgrind: valgrind -q --error-limit=no %s\n", argv[0]);
    return 2;
  }
  const size_t missed = check_leaks();
  if (missed == 0) check_padding();
  size_t count;
  struct harness_target *targets = harness_all_targets(&count);
  for (size_t i = 0; i < count && missed == 0; i++) {
    if (harness_selected(&targets[i])) check_target(&targets[i]);
  }
  free(targets);
  return harness_failed();
}

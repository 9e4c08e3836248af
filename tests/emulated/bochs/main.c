/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default payload: first that the emulator executes AVX-512, VAES and VPCLMULQDQ on zmm as the
 * standards say, then that the checks of runtime.c see broken kernels, then every row of
 * kernels.def. A new row comes under all of this without a line here.
 */
#include <string.h>

#include "cpu/detect.h"
#include "cpu/self_test.h"
#include "ops.h"
#include "runtime.h"

int main(void);

/* ---- The emulator ---------------------------------------------------------------------------- */

void probe_vaesenc(uint8_t blocks[64], const uint8_t round_keys[64]);
void probe_vpclmulqdq(uint8_t product[64], const uint8_t a[64], const uint8_t b[64]);
int probe_masked_difference(const uint8_t *a, const uint8_t *b, size_t len);

/* FIPS 197: the first round of appendix B in blocks 0 and 2, that of appendix C.1 in 1 and 3. */
static const uint8_t vaesenc_in[2][16] = {{0x19, 0x3d, 0xe3, 0xbe, 0xa0, 0xf4, 0xe2, 0x2b, 0x9a,
                                           0xc6, 0x8d, 0x2a, 0xe9, 0xf8, 0x48, 0x08},
                                          {0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80,
                                           0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0xe0, 0xf0}};
static const uint8_t vaesenc_key[2][16] = {{0xa0, 0xfa, 0xfe, 0x17, 0x88, 0x54, 0x2c, 0xb1, 0x23,
                                            0xa3, 0x39, 0x39, 0x2a, 0x6c, 0x76, 0x05},
                                           {0xd6, 0xaa, 0x74, 0xfd, 0xd2, 0xaf, 0x72, 0xfa, 0xda,
                                            0xa6, 0x78, 0xf1, 0xd6, 0xab, 0x76, 0xfe}};
static const uint8_t vaesenc_out[2][16] = {{0xa4, 0x9c, 0x7f, 0xf2, 0x68, 0x9f, 0x35, 0x2b, 0x6b,
                                            0x5b, 0xea, 0x43, 0x02, 0x6a, 0x50, 0x49},
                                           {0x89, 0xd8, 0x10, 0xe8, 0x85, 0x5a, 0xce, 0x68, 0x2d,
                                            0x18, 0x43, 0xd8, 0xcb, 0x12, 0x8f, 0xe4}};

static void test_probe_vaesenc(void) {
  uint8_t blocks[64], keys[64];
  for (size_t i = 0; i < 4; i++) {
    memcpy(blocks + 16 * i, vaesenc_in[i % 2], 16);
    memcpy(keys + 16 * i, vaesenc_key[i % 2], 16);
  }
  CALL("probe_vaesenc", probe_vaesenc, PTR(blocks), PTR(keys));
  for (size_t i = 0; i < 4; i++) {
    if (memcmp(blocks + 16 * i, vaesenc_out[i % 2], 16) != 0) fail("vaesenc zmm: wrong block");
  }
}

/* The example of Intel's paper on carry-less multiplication (low halves), in lanes 1 and 3. */
static void test_probe_vpclmulqdq(void) {
  static const uint64_t a[8] = {0, 0, 0x63746f725d53475d, 0, 1, 0, 0x63746f725d53475d, 0};
  static const uint64_t b[8] = {7, 0, 0x5b477565726f6e5d, 0, 9, 0, 0x5b477565726f6e5d, 0};
  static const uint64_t expected[8] = {0, 0, 0x929633d5d36f0451, 0x1d4d84c85c3440c0,
                                       9, 0, 0x929633d5d36f0451, 0x1d4d84c85c3440c0};
  uint64_t product[8];
  CALL("probe_vpclmulqdq", probe_vpclmulqdq, PTR(product), PTR(a), PTR(b));
  if (memcmp(product, expected, 64) != 0) fail("vpclmulqdq zmm: wrong product");
}

/* Masked loads do not touch what is masked off, even on a page that is not present. */
static void test_probe_masked_load(void) {
  for (size_t len = 0; len < 64; len++) {
    uint8_t *a = guard_alloc(len, GUARD_AFTER), *b = guard_alloc(len, GUARD_AFTER);
    for (size_t i = 0; i <= len; i++) {
      const int differs = i < len;
      if (differs) b[i] = 0x10;
      if ((int)CALL("probe_masked_difference", probe_masked_difference, PTR(a), PTR(b), len) !=
          differs) {
        fail("masked compare: wrong for byte %u of %u", (uint64_t)i, (uint64_t)len);
      }
      if (differs) b[i] = 0;
    }
    guard_reset();
  }
}

/* ---- The checks ------------------------------------------------------------------------------ */

#define BAD_FUNCTIONS(X) \
  X(bad_callee_saved) X(bad_no_vzeroupper) X(bad_direction) X(bad_opcode) X(bad_stack)
#define BAD_SECRETS(X) X(bad_secret_in_register) X(bad_secret_in_mask) X(bad_secret_on_stack)

#define X(name) fc_any_fn name;
BAD_FUNCTIONS(X)
BAD_SECRETS(X)
#undef X
fc_any_fn bad_entry, bad_read, bad_write;

#define X(name)                                       \
  static void run_##name(void) {                      \
    call_checked(#name, name, STACK_KERNEL, NULL, 0); \
  }
BAD_FUNCTIONS(X)
#undef X

static void run_with_secrets(const char *symbol, fc_any_fn *fn) {
  uint64_t secret[2] = {1, 2};
  CALL(symbol, fn, PTR(secret));
  residue_remember();
  secret[0] = 3;
  CALL(symbol, fn, PTR(secret));
  residue_check(symbol, 0);
}
#define X(name)                    \
  static void run_##name(void) {   \
    run_with_secrets(#name, name); \
  }
BAD_SECRETS(X)
#undef X

static void read_behind(void) {
  CALL("bad_read", bad_read, PTR(guard_alloc(7, GUARD_AFTER)) + 7);
  guard_reset();
}
static void read_before(void) {
  CALL("bad_read", bad_read, PTR(guard_alloc(7, GUARD_BEFORE)) - 1);
  guard_reset();
}
static void write_read_only(void) {
  uint8_t *p = guard_alloc(7, GUARD_AFTER);
  guard_read_only();
  CALL("bad_write", bad_write, PTR(p));
  guard_reset();
}
static void write_beside(void) {
  CALL("bad_write", bad_write, PTR(guard_alloc(7, GUARD_AFTER)) - 1);
  guard_reset();
}
static void read_null(void) {
  CALL("bad_read", bad_read, 0);
}

static void call_without_endbr64(void) {
  call_checked("bad_entry", bad_entry, STACK_KERNEL, NULL, 0);
}

static void test_checks(void) {
  static const struct {
    void (*run)(void);
    const char *name;
  } checks[] = {
#define X(name) {run_##name, #name},
      BAD_FUNCTIONS(X) BAD_SECRETS(X)
#undef X
          {read_behind, "a read behind a buffer"},
      {read_before, "a read before a buffer"},
      {write_read_only, "a write to an input"},
      {write_beside, "a write beside a buffer"},
      {read_null, "a read at NULL"},
  };
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
    if (failures_in(checks[i].run) != 1) fail("not caught: %s", checks[i].name);
  }
  if (branch_tracking() && failures_in(call_without_endbr64) != 1) {
    fail("not caught: an entry without endbr64");
  }
}

/* ---- The rows -------------------------------------------------------------------------------- */

static op_test *const tests[FC_OP_COUNT] = {
#define X(op) [FC_OP_##op] = test_##op,
    FC_OPS(X)
#undef X
        [FC_OP_aes] = test_aes,
};

static const struct fc_row *portable_row(enum fc_op op) {
  for (size_t i = 0; i < fc_row_count; i++) {
    if (fc_rows[i].op == op && strcmp(fc_rows[i].name, "portable") == 0) return &fc_rows[i];
  }
  return NULL;
}

/* Known answers from the standards. They call kernels from C, so the stack is the large one. */
static void test_known_answers(const struct fc_row *row) {
  const uint64_t args[] = {PTR(row)};
  const uint64_t failed =
      call_checked(row->kernels[0].symbol, (fc_any_fn *)fc_self_test_row, STACK_LARGE, args, 1);
  if (last_fault.vector < 0 && failed != 0) {
    fail("%s: wrong known answer", (const char *)(uintptr_t)failed);
  }
}

static void test_row(const struct fc_row *row, fc_features features) {
  const char *op = fc_op_names[row->op];
  const struct fc_row *reference = portable_row(row->op);
  if (!fc_row_built(row) || reference == NULL || !fc_row_built(reference)) {
    say("row %s-%s absent", op, row->name);
    return;
  }
  if (!fc_row_runnable(row, features)) {
    say("row %s-%s skipped: the emulated CPU lacks features", op, row->name);
    return;
  }
  const uint64_t failures = failures_so_far(), start = __builtin_ia32_rdtsc();
  random_seed(row->op);
  test_known_answers(row);
  tests[row->op](row, reference);
  say("row %s-%s %s instructions=%u", op, row->name,
      failures_so_far() == failures ? "passed" : "failed", __builtin_ia32_rdtsc() - start);
}

int main(void) {
  const fc_features features = fc_cpu_detect();
  test_probe_vaesenc();
  test_probe_vpclmulqdq();
  test_probe_masked_load();
  say("probes done");
  test_checks();
  say("checks done");
  for (size_t i = 0; i < fc_row_count; i++) test_row(&fc_rows[i], features);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a payload of the bare-metal image may use: output, pseudo-random bytes, memory that ends or
 * begins at a page that is not present, and calls that survive exceptions. A payload defines
 * `int main(void)`; it passes if main returns 0 and fail() was never called.
 */
#ifndef FC_BOCHS_RUNTIME_H
#define FC_BOCHS_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"

/* ---- Output ---------------------------------------------------------------------------------- */

/* One line of output. Conversions: %s, %u (uint64_t, decimal), %x (uint64_t, hexadecimal). */
void say(const char *format, ...);

/* The same for a failure, which makes the run fail. */
void fail(const char *format, ...);
uint64_t failures_so_far(void);

/* How many failures run() meets; they are neither shown nor counted. For tests of the checks. */
uint64_t failures_in(void (*run)(void));

/* ---- Pseudo-random bytes --------------------------------------------------------------------- */

void random_seed(uint64_t seed);
uint64_t random_word(void);
void random_fill(void *p, size_t len);

/* ---- Guarded memory -------------------------------------------------------------------------- */

enum guard_end {
  GUARD_BEFORE, /* p[-1] is not present */
  GUARD_AFTER   /* p[len] is not present */
};

/*
 * len zeroed bytes at a page that is not present; with len 0 even p[0] is not. The bytes on their
 * other side hold a pattern that guard_reset checks.
 */
uint8_t *guard_alloc(size_t len, enum guard_end end);

/* Write-protect every buffer so far: inputs. */
void guard_read_only(void);

/* Free every buffer; fail if the pattern beside one has changed. */
void guard_reset(void);

/* ---- Checked calls --------------------------------------------------------------------------- */

enum stack_size {
  STACK_KERNEL, /* 2048 bytes, what kernels.h grants a kernel; then a page that is not present */
  STACK_LARGE
};

/*
 * Call fn with up to six arguments and return rax. Fails in the name of `symbol` if
 * fn raises an exception, changes a callee-saved register, rsp, DF or MXCSR, or leaves data above
 * bit 127 of zmm0-15 (a missing vzeroupper).
 */
uint64_t call_checked(const char *symbol, void (*fn)(void), enum stack_size stack,
                      const uint64_t *args, size_t arg_count);

/* Whether a call to code without endbr64 raises an exception here: not every CPU model can. */
int branch_tracking(void);

#define CALL(symbol, fn, ...)                                                       \
  call_checked(symbol, (void (*)(void))(fn), STACK_KERNEL, CALL_ARGS_(__VA_ARGS__), \
               sizeof(CALL_ARGS_(__VA_ARGS__)) / sizeof(uint64_t))
#define CALL_ARGS_(...) ((const uint64_t[]){__VA_ARGS__})
#define PTR(p) ((uint64_t)(uintptr_t)(p))

/* The exception of the last call, or vector -1. */
struct fault {
  int vector;
  uint64_t error, rip, address;
};
extern struct fault last_fault;

/*
 * Secrets left behind. Call a kernel, call residue_remember, change the secrets but no public
 * value, call it again, call residue_check: it fails if a register or the stack below rsp differs.
 * With returns_value, rax may differ.
 */
void residue_remember(void);
void residue_check(const char *symbol, int returns_value);

#endif

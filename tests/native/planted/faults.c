/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compare kernels, right but for one fault each: what the checks must see before their verdict on
 * the real ones counts. The row's name says which check sees it.
 */
#include <string.h>

#include "harness.h"

#if defined(__GNUC__) && !defined(__clang__)
#define PLAIN_CODE __attribute__((noinline, noclone, optimize("no-tree-vectorize")))
#else
#define PLAIN_CODE __attribute__((noinline))
#endif

static int different(const uint8_t *a, const uint8_t *b, size_t len) {
  uint8_t difference = 0;
  for (size_t i = 0; i < len; i++) difference |= a[i] ^ b[i];
  return difference != 0;
}

/* bounds: one byte too many */
static PLAIN_CODE int reads_past_end(const void *a, const void *b, size_t len) {
  const volatile uint8_t *end = (const uint8_t *)a + len;
  (void)*end;
  return different(a, b, len);
}

/* bounds: the byte before */
static PLAIN_CODE int reads_before(const void *a, const void *b, size_t len) {
  const volatile uint8_t *before = (const uint8_t *)b - 1;
  if (len >= 8) (void)*before;
  return different(a, b, len);
}

/* bounds: a store behind the operand, where no page fault tells */
static PLAIN_CODE int writes_past_end(const void *a, const void *b, size_t len) {
  volatile uint8_t *end = (uint8_t *)(uintptr_t)a + len + 3;
  if (((uintptr_t)end & 4095) > 16) *end = 0;
  return different(a, b, len);
}

/* bounds: an input is changed */
static PLAIN_CODE int changes_input(const void *a, const void *b, size_t len) {
  volatile uint8_t *first = (uint8_t *)(uintptr_t)a;
  const int result = different(a, b, len);
  if (len == 17) *first ^= 1;
  return result;
}

/* answers: the last byte of a long operand does not count */
static PLAIN_CODE int ignores_last(const void *a, const void *b, size_t len) {
  return different(a, b, len > 256 ? len - 1 : len);
}

/* answers at some alignments only */
static PLAIN_CODE int needs_alignment(const void *a, const void *b, size_t len) {
  return ((uintptr_t)a & 63) == 37 ? 0 : different(a, b, len);
}

/* stack: a frame of 3000 bytes */
static PLAIN_CODE int large_frame(const void *a, const void *b, size_t len) {
  volatile uint8_t frame[3000];
  for (size_t i = 0; i < sizeof frame; i++) frame[i] = 0;
  return different(a, b, len);
}

/*
 * thread: reads 80 KiB below its frame, which a stack of 8 MiB may have and one of 64 KiB has not.
 * Nothing is written, so the paint of the stack check stays.
 */
static PLAIN_CODE int needs_large_stack(const void *a, const void *b, size_t len) {
  const volatile uint8_t *frame = __builtin_frame_address(0);
  if (len == 4096) (void)frame[-81920];
  return different(a, b, len);
}

/* ctgrind: a branch on the last byte */
static PLAIN_CODE int branches(const void *a, const void *b, size_t len) {
  const volatile uint8_t *last = (const uint8_t *)a + (len == 0 ? 0 : len - 1);
  static volatile int odd_calls;
  if (len != 0 && (*last & 1) != 0) odd_calls++;
  return different(a, b, len);
}

/* planted/faults.S */
fc_timingsafe_bcmp_fn fault_changes_rbx, fault_changes_r15, fault_sets_direction,
    fault_changes_mxcsr, fault_dirty_upper, fault_below_red_zone, fault_leaves_vector,
    fault_leaves_rcx, fault_leaves_rdx, fault_leaves_rsi, fault_leaves_rdi, fault_leaves_r8,
    fault_leaves_r9, fault_leaves_r10, fault_leaves_r11, fault_leaves_stack;

#define FAULTS(X)                         \
  X(reads_past_end, reads_past_end)       \
  X(reads_before, reads_before)           \
  X(writes_past_end, writes_past_end)     \
  X(changes_input, changes_input)         \
  X(ignores_last, ignores_last)           \
  X(needs_alignment, needs_alignment)     \
  X(large_frame, large_frame)             \
  X(needs_large_stack, needs_large_stack) \
  X(branches, branches)                   \
  X(changes_rbx, fault_changes_rbx)       \
  X(changes_r15, fault_changes_r15)       \
  X(sets_direction, fault_sets_direction) \
  X(changes_mxcsr, fault_changes_mxcsr)   \
  X(dirty_upper, fault_dirty_upper)       \
  X(below_red_zone, fault_below_red_zone) \
  X(leaves_vector, fault_leaves_vector)   \
  X(leaves_rcx, fault_leaves_rcx)         \
  X(leaves_rdx, fault_leaves_rdx)         \
  X(leaves_rsi, fault_leaves_rsi)         \
  X(leaves_rdi, fault_leaves_rdi)         \
  X(leaves_r8, fault_leaves_r8)           \
  X(leaves_r9, fault_leaves_r9)           \
  X(leaves_r10, fault_leaves_r10)         \
  X(leaves_r11, fault_leaves_r11)         \
  X(leaves_stack, fault_leaves_stack)

#define X(name, function) \
  static const struct fc_kernel name##_kernel[] = {{(fc_any_fn *)function, "fault_" #name}};
FAULTS(X)
#undef X

const struct fc_row harness_planted_rows[] = {
#define X(name, function) {FC_OP_timingsafe_bcmp, #name, 0, FC_AES_LAYOUT_NONE, name##_kernel, 0, 0},
    FAULTS(X)
#undef X
};
const size_t harness_planted_row_count =
    sizeof harness_planted_rows / sizeof harness_planted_rows[0];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two strings of bytes differ, in general registers only.
 *
 * Contract: kernels.h, op timingsafe_bcmp
 * Needs: nothing beyond x86-64
 * Arguments: the strings (rdi, rsi), their length (rdx)
 * Registers: rax rcx rdx rsi rdi r8 r9 r10 r11 used; r8 r9 r10 r11 held data and are cleared, rax
 *   is the result
 * Secret: the bytes of both strings and the result
 * Public registers: rdi rsi rdx rcx
 *
 * Up to 32 bytes: each class of lengths is one straight line of overlapping loads, and the classes
 * are few, since on lengths that vary a mispredicted jump costs more than all the loads of a class.
 * Four words per string, at 0, STRIDE, n - 8 - STRIDE and n - 8, cover 8 to 32 bytes if STRIDE is
 * n / 2 rounded down to a multiple of 8. Two halves of a word cover 4 to 7 bytes; three bytes, at
 * 0, n / 2 and n - 1, cover 1 to 3.
 *
 * Above: 32 bytes per iteration, then the last 32, some of them a second time. The 8 loads bound
 * the loop (3 per cycle on Zen 3); the chain through DIFF_BEFORE is one or.
 *
 * Rejected (Zen 3): a class of two words for 8-16 bytes: 0.5 ns less there, 0.5 ns more for 17-32,
 * and 6.9 instead of 5.9 ns per call on FreeBSD's Short mix; 64 bytes per iteration: 0.3 ns more
 * for 33-65 and the same 131072 bytes in 6.51 us.
 */
#include "fc_asm.h"

#define A %rdi
#define B %rsi
#define LEN %rdx
#define STRIDE %rcx

/* The difference of two words or bytes: zero where the strings agree. */
#define DIFF0 %rax
#define DIFF0_32 %eax
#define DIFF0_8 %al
#define DIFF1 %r8
#define DIFF1_32 %r8d
#define DIFF1_8 %r8b
#define DIFF2 %r9
#define DIFF2_32 %r9d
#define DIFF2_8 %r9b
#define DIFF3 %r10
#define DIFF3_32 %r10d
#define DIFF_BEFORE %r11
#define DIFF_BEFORE_32 %r11d
#define RESULT %eax
#define RESULT_8 %al

/* diff = the word at offset (+ index) of A ^ that of B. */
.macro DIFFERENCE_8 diff, offset, index
  .ifb \index
  movq \offset(A), \diff
  xorq \offset(B), \diff
  .else
  movq \offset(A, \index), \diff
  xorq \offset(B, \index), \diff
  .endif
.endm

.macro DIFFERENCE_1 diff, diff8, offset, index
  movzbl \offset(A, \index), \diff
  xorb \offset(B, \index), \diff8
.endm

/* DIFF0 |= DIFF1 | DIFF2 | DIFF3 */
.macro FOLD
  orq DIFF1, DIFF0
  orq DIFF3, DIFF2
  orq DIFF2, DIFF0
.endm

.macro DIFFERENCE_32
  DIFFERENCE_8 DIFF0, 0
  DIFFERENCE_8 DIFF1, 8
  DIFFERENCE_8 DIFF2, 16
  DIFFERENCE_8 DIFF3, 24
  FOLD
.endm

/* 1 if DIFF0 is not 0. The flags are those of the or that finished it. */
.macro RETURN_DIFF0
  setne RESULT_8
  movzbl RESULT_8, RESULT
  xorl DIFF1_32, DIFF1_32
  xorl DIFF2_32, DIFF2_32
  xorl DIFF3_32, DIFF3_32
  xorl DIFF_BEFORE_32, DIFF_BEFORE_32
  ret
.endm

FC_FUNC(fc_timingsafe_bcmp_gpr)
  cmpq $8, LEN
  jb .Lbelow_8
  cmpq $32, LEN
  ja .Labove_32

  movq LEN, STRIDE
  shrq $1, STRIDE
  andq $24, STRIDE
  DIFFERENCE_8 DIFF0, 0
  DIFFERENCE_8 DIFF1, 0, STRIDE
  DIFFERENCE_8 DIFF2, -8, LEN
  subq STRIDE, LEN
  DIFFERENCE_8 DIFF3, -8, LEN
  FOLD
  RETURN_DIFF0

.Lbelow_8:
  cmpq $4, LEN
  jb .Lbelow_4
  movl (A), DIFF0_32
  xorl (B), DIFF0_32
  movl -4(A, LEN), DIFF1_32
  xorl -4(B, LEN), DIFF1_32
  orl DIFF1_32, DIFF0_32
  RETURN_DIFF0

.Lbelow_4:
  testq LEN, LEN
  jz .Lempty
  movq LEN, STRIDE
  shrq $1, STRIDE
  movzbl (A), DIFF0_32
  xorb (B), DIFF0_8
  DIFFERENCE_1 DIFF1_32, DIFF1_8, 0, STRIDE
  DIFFERENCE_1 DIFF2_32, DIFF2_8, -1, LEN
  orl DIFF1_32, DIFF0_32
  orl DIFF2_32, DIFF0_32
  RETURN_DIFF0

.Lempty:
  xorl RESULT, RESULT
  ret

.Labove_32:
  xorl DIFF_BEFORE_32, DIFF_BEFORE_32
.p2align 6
.Lloop:
  DIFFERENCE_32
  orq DIFF0, DIFF_BEFORE
  addq $32, A
  addq $32, B
  subq $32, LEN
  cmpq $32, LEN
  ja .Lloop

  leaq -32(A, LEN), A
  leaq -32(B, LEN), B
  DIFFERENCE_32
  orq DIFF_BEFORE, DIFF0
  RETURN_DIFF0
FC_END(fc_timingsafe_bcmp_gpr)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths 0 to 128 of the vector kernels of timingsafe_bcmp, in SSE2. The wider kernels share them:
 * at these lengths a ymm register saves less than its vzeroupper costs, and no wider kernel may be
 * slower than SSE2 on a MAC tag.
 *
 * Each class of lengths is one straight line of overlapping loads, and the classes are few, since
 * on lengths that vary a mispredicted jump costs more than all the loads of a class. Four loads of
 * w bytes per string, at 0, STRIDE, n - w - STRIDE and n - w, cover every n from w to 4w if STRIDE
 * is n / 2 rounded down to a multiple of w:
 *
 *   n        loads per string
 *   0        none
 *   1-3      3 of 1 byte, at 0, n / 2 and n - 1
 *   4-15     4 of 4 bytes
 *   16-64    4 of 16 bytes
 *   65-128   8 of 16 bytes: the first 64 and the last 64
 *
 * Rejected, on FreeBSD's Short mix (Zen 3, best of 18 medians; this ladder 5.0 ns per call): the
 * usual ladder of two loads each for 4-7, 8-16 and 17-32 and four for 33-64, 5.5 ns; the same below
 * 16 and 16-64 as here, 5.5 ns. A register for each of the four comparisons of 64 bytes, to shorten
 * the chain of pands: no gain, and each costs its clear.
 */
#ifndef FC_TIMINGSAFE_BCMP_SHORT_H
#define FC_TIMINGSAFE_BCMP_SHORT_H

#define A %rdi
#define B %rsi
#define LEN %rdx
#define STRIDE %rcx

/* The difference of two bytes or words: zero where the strings agree. */
#define DIFF0 %eax
#define DIFF0_BYTE %al
#define DIFF1 %r8d
#define DIFF1_BYTE %r8b
#define DIFF2 %r9d
#define DIFF2_BYTE %r9b
#define DIFF3 %r10d
#define RESULT %eax
#define RESULT_BYTE %al

/* A byte of these is ff if every pair of bytes that was folded into it agreed, else 0. */
#define EQUAL %xmm0
#define EQUAL_HERE %xmm1
#define OTHER %xmm2
#define EQUAL_BEFORE %xmm3

/* diff = the byte or word at offset + index of A ^ that of B. */
.macro DIFFERENCE_1 diff, byte, offset, index
  movzbl \offset(A, \index), \diff
  xorb \offset(B, \index), \byte
.endm

.macro DIFFERENCE_4 diff, offset, index
  movl \offset(A, \index), \diff
  xorl \offset(B, \index), \diff
.endm

/* equal = the 16 bytes at offset (+ index) of A against those of B. */
.macro COMPARE_16 equal, offset, index
  .ifb \index
  movdqu \offset(A), \equal
  movdqu \offset(B), OTHER
  .else
  movdqu \offset(A, \index), \equal
  movdqu \offset(B, \index), OTHER
  .endif
  pcmpeqb OTHER, \equal
.endm

.macro COMPARE_16_MORE offset, index
  COMPARE_16 EQUAL_HERE, \offset, \index
  pand EQUAL_HERE, EQUAL
.endm

/* EQUAL = the 64 bytes at A against those at B. */
.macro COMPARE_64
  COMPARE_16 EQUAL, 0
  COMPARE_16_MORE 16
  COMPARE_16_MORE 32
  COMPARE_16_MORE 48
.endm

/* 1 unless EQUAL is all ones: its mask less ffff is 0 or negative, and the sign is the result. */
.macro RETURN_EQUAL
  pmovmskb EQUAL, RESULT
  FC_CLEAR_XMM 0, 3
  subl $0xffff, RESULT
  shrl $31, RESULT
  ret
.endm

/* 1 if DIFF0, with every other difference folded in by the last instruction, is not 0. */
.macro RETURN_DIFF0
  setne RESULT_BYTE
  movzbl RESULT_BYTE, RESULT
  xorl DIFF1, DIFF1
  xorl DIFF2, DIFF2
  xorl DIFF3, DIFF3
  ret
.endm

/* Compare and return if LEN <= 128; go on at `longer` if not. */
.macro SHORT_LENGTHS longer
  cmpq $16, LEN
  jb .Lbelow_16
  cmpq $64, LEN
  ja .Labove_64

  movq LEN, STRIDE
  shrq $1, STRIDE
  andq $48, STRIDE
  COMPARE_16 EQUAL, 0
  COMPARE_16_MORE 0, STRIDE
  COMPARE_16_MORE -16, LEN
  subq STRIDE, LEN
  COMPARE_16_MORE -16, LEN
  RETURN_EQUAL

.Lbelow_16:
  movq LEN, STRIDE
  shrq $1, STRIDE
  cmpq $4, LEN
  jb .Lbelow_4
  andq $12, STRIDE
  movl (A), DIFF0
  xorl (B), DIFF0
  DIFFERENCE_4 DIFF1, 0, STRIDE
  DIFFERENCE_4 DIFF2, -4, LEN
  subq STRIDE, LEN
  DIFFERENCE_4 DIFF3, -4, LEN
  orl DIFF1, DIFF0
  orl DIFF3, DIFF2
  orl DIFF2, DIFF0
  RETURN_DIFF0

.Lbelow_4:
  testq LEN, LEN
  jz .Lempty
  movzbl (A), DIFF0
  xorb (B), DIFF0_BYTE
  DIFFERENCE_1 DIFF1, DIFF1_BYTE, 0, STRIDE
  DIFFERENCE_1 DIFF2, DIFF2_BYTE, -1, LEN
  orl DIFF1, DIFF0
  orl DIFF2, DIFF0
  RETURN_DIFF0

.Lempty:
  xorl RESULT, RESULT
  ret

.Labove_64:
  cmpq $128, LEN
  ja \longer
  COMPARE_64
  movdqa EQUAL, EQUAL_BEFORE
  leaq -64(A, LEN), A
  leaq -64(B, LEN), B
  COMPARE_64
  pand EQUAL_BEFORE, EQUAL
  RETURN_EQUAL
.endm

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of two strings of bytes, in general registers only.
 *
 * Contract: kernels.h, op timingsafe_memcmp
 * Needs: nothing beyond x86-64
 * Arguments: the strings (rdi, rsi), their length (rdx)
 * Registers: rax rcx rdx rsi rdi r8 r9 r10 used; r8 r9 r10 held data and are cleared, rax is the
 *   result
 * Secret: the bytes of both strings and the result
 * Public registers: rdi rsi rdx rcx
 *
 * The first words that differ decide. Going from the last words to the first and taking each pair
 * that differs leaves the first such pair, with one compare and two moves on its flags per word and
 * nothing else; the byte order is put right once, at the end. Backwards, the chain is one cmov per
 * word; forwards it would be a compare and a cmov.
 *
 * 8 to 32 bytes: four overlapping words at 0, STRIDE, n - 8 - STRIDE and n - 8, which is also their
 * order in the string: STRIDE is 0 up to 16 bytes, else 8. 4 to 7 bytes: two overlapping halves
 * make one word; 1 to 3: the bytes at 0, n / 2 and n - 1 do. Few classes, for the reason that
 * timingsafe_bcmp_short.h gives.
 *
 * Above: 32 bytes per iteration from the end, then the first 32, some of them a second time. The 8
 * cmovs bound the loop, at 2 per cycle on Zen 3: 8.2 bytes per cycle were measured.
 *
 * Rejected: a borrow chain (sub, sbb), which needs both words in big-endian order, two bswaps more
 * per word, and an or chain for equality; collecting the outcome of each compare instead of the
 * words, which needs the bswaps too.
 */
#include "fc_asm.h"

#define A %rdi
#define B %rsi
#define LEN %rdx
#define STRIDE %rcx
#define FIRST_A %rax
#define FIRST_A_32 %eax
#define FIRST_B %r8
#define FIRST_B_32 %r8d
#define WORD_A %r9
#define WORD_A_32 %r9d
#define WORD_B %r10
#define WORD_B_32 %r10d
#define RESULT %eax
#define ABOVE_8 %al
#define BELOW_8 %r8b

/* FIRST_A, FIRST_B = the words at offset (+ index) of A and B, if these differ. */
.macro TAKE_IF_DIFFERENT offset, index
  .ifb \index
  movq \offset(A), WORD_A
  movq \offset(B), WORD_B
  .else
  movq \offset(A, \index), WORD_A
  movq \offset(B, \index), WORD_B
  .endif
  cmpq WORD_B, WORD_A
  cmovneq WORD_A, FIRST_A
  cmovneq WORD_B, FIRST_B
.endm

FC_FUNC(fc_timingsafe_memcmp_gpr)
  cmpq $8, LEN
  jb .Lbelow_8
  xorl FIRST_A_32, FIRST_A_32
  xorl FIRST_B_32, FIRST_B_32
  cmpq $32, LEN
  ja .Labove_32

  leaq -1(LEN), STRIDE
  shrq $1, STRIDE
  andq $8, STRIDE
  TAKE_IF_DIFFERENT -8, LEN
  subq STRIDE, LEN
  TAKE_IF_DIFFERENT -8, LEN
  TAKE_IF_DIFFERENT 0, STRIDE
  TAKE_IF_DIFFERENT 0

.Lmemory_order:
  bswapq FIRST_A
  bswapq FIRST_B
.Lorder:
  cmpq FIRST_B, FIRST_A
  seta ABOVE_8
  setb BELOW_8
  subb BELOW_8, ABOVE_8
  movsbl ABOVE_8, RESULT
  xorl FIRST_B_32, FIRST_B_32
  xorl WORD_A_32, WORD_A_32
  xorl WORD_B_32, WORD_B_32
  ret

.Lbelow_8:
  cmpq $4, LEN
  jb .Lbelow_4
  /* First half in the high half of FIRST, last half in its low half. */
  movl (A), FIRST_A_32
  movl (B), FIRST_B_32
  movl -4(A, LEN), WORD_A_32
  movl -4(B, LEN), WORD_B_32
  bswapq FIRST_A
  bswapq FIRST_B
  bswapl WORD_A_32
  bswapl WORD_B_32
  orq WORD_A, FIRST_A
  orq WORD_B, FIRST_B
  jmp .Lorder

.Lbelow_4:
  testq LEN, LEN
  jz .Lempty
  movq LEN, STRIDE
  shrq $1, STRIDE
  movzbl (A), FIRST_A_32
  movzbl (B), FIRST_B_32
  shll $16, FIRST_A_32
  shll $16, FIRST_B_32
  movzbl (A, STRIDE), WORD_A_32
  movzbl (B, STRIDE), WORD_B_32
  shll $8, WORD_A_32
  shll $8, WORD_B_32
  orl WORD_A_32, FIRST_A_32
  orl WORD_B_32, FIRST_B_32
  movzbl -1(A, LEN), WORD_A_32
  movzbl -1(B, LEN), WORD_B_32
  orl WORD_A_32, FIRST_A_32
  orl WORD_B_32, FIRST_B_32
  jmp .Lorder

.Lempty:
  xorl RESULT, RESULT
  ret

.Labove_32:
  /* LEN: the offset of the block. It ends at 0 or less, and the block at 0 follows in any case. */
  subq $32, LEN
.p2align 6
.Lloop:
  TAKE_IF_DIFFERENT 24, LEN
  TAKE_IF_DIFFERENT 16, LEN
  TAKE_IF_DIFFERENT 8, LEN
  TAKE_IF_DIFFERENT 0, LEN
  subq $32, LEN
  ja .Lloop
  TAKE_IF_DIFFERENT 24
  TAKE_IF_DIFFERENT 16
  TAKE_IF_DIFFERENT 8
  TAKE_IF_DIFFERENT 0
  jmp .Lmemory_order
FC_END(fc_timingsafe_memcmp_gpr)

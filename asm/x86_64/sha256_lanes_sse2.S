/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over four messages at once, one 32-bit lane of an xmm register each.
 *
 * Contract: kernels.h, op sha256_lanes, 4 lanes
 * Needs: SSE2
 * Arguments: state (rdi), array of four data pointers (rsi), number of blocks (rdx)
 * Registers: used rax, rcx, rdx, r8, r9, xmm0-xmm15, 264 bytes of stack; all vector registers
 *   and the stack are cleared. The general registers hold pointers and counts.
 *
 * Secret: the states, the data and the message schedules (xmm0-xmm15, the stack).
 * Public registers: rdi rsi rdx rcx rax r8 r9 rsp
 *
 * Loop: one block of each message a turn, so four in flight, as sha256_lanes_avx2.S with half the
 * lanes and two-operand instructions. Without pshufb the bytes of a word change places by shifts and
 * shuffles of 16-bit halves, and without a broadcasting load the constants are pshufd copies. The
 * shifts of a rotation go on from each other, which saves the copies that a shift of its own would need.
 *
 * Measured on Zen 3, cycles a block and message in calls of 64 blocks: 268.2, or 1,073 for all four;
 * sha256_lanes_avx2.S takes 126.4, one stream 494 in portable C. So the row needs three messages.
 */
#include "fc_asm.h"

#define STATE %rdi
#define DATA %rsi
#define NBLOCKS %rdx
#define K %rcx
#define TURNS %eax
#define OFFSET %r8
#define LANE %r9
#define SCHEDULE %rsp

#define A %xmm0
#define B %xmm1
#define C %xmm2
#define D %xmm3
#define E %xmm4
#define F %xmm5
#define G %xmm6
#define H %xmm7
#define T0 %xmm8
#define T1 %xmm9
#define T2 %xmm10
#define T3 %xmm11
#define AB %xmm12 /* a ^ b of this round and of the one before: b ^ c of this one */
#define BC %xmm13
#define WORD %xmm14
#define T4 %xmm15

/* sum = rotr(x, r0) ^ rotr(x, r1) ^ rotr(x, r2); shift: the last is a shift. r0 < r1 < r2. Uses T2,
 * which goes right from one count to the next, and T4, which goes left, the other way round. */
.macro SIGMA x, sum, r0, r1, r2, shift
  movdqa \x, T2
  psrld $\r0, T2
  movdqa T2, \sum
  psrld $\r1-\r0, T2
  pxor T2, \sum
  psrld $\r2-\r1, T2
  pxor T2, \sum
  movdqa \x, T4
  .if \shift
  pslld $32-\r1, T4
  .else
  pslld $32-\r2, T4
  pxor T4, \sum
  pslld $\r2-\r1, T4
  .endif
  pxor T4, \sum
  pslld $\r1-\r0, T4
  pxor T4, \sum
.endm

/* sigma0 and sigma1, whose shift is by less or more than the rotations. */
.macro SIGMA0 x, sum
  movdqa \x, T2
  psrld $3, T2
  movdqa T2, \sum
  psrld $4, T2
  pxor T2, \sum
  psrld $11, T2
  pxor T2, \sum
  movdqa \x, T4
  pslld $14, T4
  pxor T4, \sum
  pslld $11, T4
  pxor T4, \sum
.endm

.macro SIGMA1 x, sum
  movdqa \x, T2
  psrld $10, T2
  movdqa T2, \sum
  psrld $7, T2
  pxor T2, \sum
  psrld $2, T2
  pxor T2, \sum
  movdqa \x, T4
  pslld $13, T4
  pxor T4, \sum
  pslld $2, T4
  pxor T4, \sum
.endm

/* WORD = W[t+16] = W[t] + sigma0(W[t+1]) + W[t+9] + sigma1(W[t+14]), to the place of W[t]. */
.macro NEXT_WORD t
  movdqa 16*((\t+1)%16)(SCHEDULE), T3
  movdqa 16*((\t+14)%16)(SCHEDULE), T1
  SIGMA0 T3, T0
  SIGMA1 T1, WORD
  paddd 16*((\t)%16)(SCHEDULE), T0
  paddd 16*((\t+9)%16)(SCHEDULE), WORD
  paddd T0, WORD
  movdqa WORD, 16*((\t)%16)(SCHEDULE)
.endm

/*
 * One round with the word in WORD; the constant is that of K[t]. ch = ((f ^ g) & e) ^ g, and
 * maj = ((a ^ b) & (b ^ c)) ^ b, whose a ^ b is the next round's b ^ c.
 */
.macro ROUND t, a, b, c, d, e, f, g, h, ab, bc
  movd 4*(\t)(K), T3
  pshufd $0, T3, T3
  paddd WORD, \h
  paddd T3, \h
  movdqa \f, T3
  pxor \g, T3
  pand \e, T3
  pxor \g, T3
  SIGMA \e, T0, 6, 11, 25, 0
  paddd T3, \h
  paddd T0, \h
  paddd \h, \d
  movdqa \a, \ab
  pxor \b, \ab
  pand \ab, \bc
  pxor \b, \bc
  SIGMA \a, T1, 2, 13, 22, 0
  paddd \bc, \h
  paddd T1, \h
.endm

.macro STEP scheduled, t, a, b, c, d, e, f, g, h, ab, bc
  .if \scheduled
  NEXT_WORD \t
  .else
  movdqa 16*(\t)(SCHEDULE), WORD
  .endif
  ROUND \t, \a, \b, \c, \d, \e, \f, \g, \h, \ab, \bc
.endm

/* Eight rounds bring the eight registers back to their places. */
.macro ROUNDS8 scheduled, t
  STEP \scheduled, \t, A, B, C, D, E, F, G, H, AB, BC
  STEP \scheduled, \t+1, H, A, B, C, D, E, F, G, BC, AB
  STEP \scheduled, \t+2, G, H, A, B, C, D, E, F, AB, BC
  STEP \scheduled, \t+3, F, G, H, A, B, C, D, E, BC, AB
  STEP \scheduled, \t+4, E, F, G, H, A, B, C, D, AB, BC
  STEP \scheduled, \t+5, D, E, F, G, H, A, B, C, BC, AB
  STEP \scheduled, \t+6, C, D, E, F, G, H, A, B, AB, BC
  STEP \scheduled, \t+7, B, C, D, E, F, G, H, A, BC, AB
.endm

/* 16 bytes of lane j, from big endian: the bytes of each 16-bit half, then the halves. Uses xmm12. */
.macro LOAD_LANE j, offset, words
  movq 8*\j(DATA), LANE
  movdqu \offset(LANE, OFFSET), %xmm\words
  movdqa %xmm\words, %xmm12
  psrlw $8, %xmm12
  psllw $8, %xmm\words
  por %xmm12, %xmm\words
  pshuflw $0xb1, %xmm\words, %xmm\words
  pshufhw $0xb1, %xmm\words, %xmm\words
.endm

/*
 * Words 4*i to 4*i+3 of all lanes. Low to high, rows by lane:
 *   8: a0 a1 a2 a3    9: b0 b1 b2 b3   10: c0 c1 c2 c3   11: d0 d1 d2 d3
 *   8: a0 b0 a1 b1   12: a2 b2 a3 b3   10: c0 d0 c1 d1   13: c2 d2 c3 d3
 *   8: a0 b0 c0 d0    9: a1 b1 c1 d1   and so on
 */
.macro LOAD_WORDS i
  LOAD_LANE 0, 16*\i, 8
  LOAD_LANE 1, 16*\i, 9
  LOAD_LANE 2, 16*\i, 10
  LOAD_LANE 3, 16*\i, 11
  movdqa %xmm8, %xmm12
  punpckldq %xmm9, %xmm8
  punpckhdq %xmm9, %xmm12
  movdqa %xmm10, %xmm13
  punpckldq %xmm11, %xmm10
  punpckhdq %xmm11, %xmm13
  movdqa %xmm8, %xmm9
  punpcklqdq %xmm10, %xmm8
  punpckhqdq %xmm10, %xmm9
  movdqa %xmm12, %xmm11
  punpcklqdq %xmm13, %xmm12
  punpckhqdq %xmm13, %xmm11
  movdqa %xmm8, 64*\i(SCHEDULE)
  movdqa %xmm9, 64*\i+16(SCHEDULE)
  movdqa %xmm12, 64*\i+32(SCHEDULE)
  movdqa %xmm11, 64*\i+48(SCHEDULE)
.endm

.macro ADD_OLD i, x
  movdqu 16*\i(STATE), T0
  paddd T0, \x
  movdqu \x, 16*\i(STATE)
.endm

FC_FUNC(fc_sha256_lanes_sse2)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  subq $264, %rsp
  .cfi_adjust_cfa_offset 264
  xorl %r8d, %r8d
  movdqu (STATE), A
  movdqu 16(STATE), B
  movdqu 32(STATE), C
  movdqu 48(STATE), D
  movdqu 64(STATE), E
  movdqu 80(STATE), F
  movdqu 96(STATE), G
  movdqu 112(STATE), H

.p2align 6
.Lblock:
  LOAD_WORDS 0
  LOAD_WORDS 1
  LOAD_WORDS 2
  LOAD_WORDS 3
  leaq .Lround_constants(%rip), K
  movdqa B, BC
  pxor C, BC
  ROUNDS8 0, 0
  ROUNDS8 0, 8
  movl $3, TURNS
.p2align 6
.Lrounds16:
  addq $64, K
  ROUNDS8 1, 0
  ROUNDS8 1, 8
  subl $1, TURNS
  jnz .Lrounds16
  ADD_OLD 0, A
  ADD_OLD 1, B
  ADD_OLD 2, C
  ADD_OLD 3, D
  ADD_OLD 4, E
  ADD_OLD 5, F
  ADD_OLD 6, G
  ADD_OLD 7, H
  addq $64, OFFSET
  subq $1, NBLOCKS
  jnz .Lblock

  FC_CLEAR_XMM 0, 15
  .irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movdqa A, 16*\i(SCHEDULE)
  .endr
  addq $264, %rsp
  .cfi_adjust_cfa_offset -264
.Ldone:
  ret
FC_END(fc_sha256_lanes_sse2)

FC_RODATA
.p2align 6
/* FIPS 180-4 section 4.2.2. */
.Lround_constants:
#include "sha256_constants.inc"

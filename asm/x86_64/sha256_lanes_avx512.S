/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over 16 messages at once, one 32-bit lane of a zmm register each.
 *
 * Contract: kernels.h, op sha256_lanes, 16 lanes
 * Needs: AVX512F (vprord, vpternlogd, zmm registers), AVX512BW (vpshufb on zmm), AVX512VL (vpxorq on
 *   xmm16-xmm31), AVX, SSE2
 * Arguments: state (rdi), array of 16 data pointers (rsi), number of blocks (rdx)
 * Registers: used rax, rcx, rdx, r8-r12 of which r12 is saved, zmm0-zmm31; all vector registers are
 *   cleared. The general registers hold pointers and counts. No stack beyond the saved register.
 *
 * Secret: the states, the data and the message schedules (zmm0-zmm31).
 * Public registers: rdi rsi rdx rcx rax r8 r9 r10 r11 r12
 *
 * Loop: one block of each message a turn, so 16 in flight: the state is in eight registers, the 16
 * words of the schedule that are alive in 16 others, and the old state stays in memory, where the new
 * one is added to it. A rotation is one instruction and each function of three words another, which
 * makes 17 instructions of a round and 11 of a word: with two ports for zmm about 51 cycles a block and
 * message.
 * Not timed: it has run under an emulator only. The minimum fill of its row is that estimate against
 * the 128 cycles of one SHA-NI stream.
 */
#include "fc_asm.h"

#define STATE %rdi
#define DATA %rsi
#define NBLOCKS %rdx
#define K %rcx
#define TURNS %eax
#define OFFSET %r8
#define LANE_A %r9
#define LANE_B %r10
#define LANE_C %r11
#define LANE_D %r12

#define A %zmm0
#define B %zmm1
#define C %zmm2
#define D %zmm3
#define E %zmm4
#define F %zmm5
#define G %zmm6
#define H %zmm7
#define T0 %zmm8
#define T1 %zmm9
#define T2 %zmm10
#define T3 %zmm11
#define BSWAP %zmm15 /* the words of the schedule are zmm16 to zmm31 */

/* Truth tables of vpternlogd over its operands, the last (destination) first. */
#define XOR3 0x96
#define CHOOSE 0xca   /* of e, f, g: f where e is set, else g */
#define MAJORITY 0xe8 /* of a, b, c */

/* W[t] = W[t] + sigma0(W[t+1]) + W[t+9] + sigma1(W[t+14]); the operands are those registers. */
.macro NEXT_WORD w0, w1, w9, w14
  vprord $7, \w1, T0
  vprord $18, \w1, T1
  vpsrld $3, \w1, T2
  vpternlogd $XOR3, T2, T1, T0
  vprord $17, \w14, T1
  vprord $19, \w14, T2
  vpsrld $10, \w14, T3
  vpternlogd $XOR3, T3, T2, T1
  vpaddd T0, \w0, \w0
  vpaddd \w9, T1, T1
  vpaddd T1, \w0, \w0
.endm

/* One round with the word w; the constant is K[t]. */
.macro ROUND t, w, a, b, c, d, e, f, g, h
  vpaddd 4*(\t)(K){1to16}, \w, T3
  vpaddd T3, \h, \h
  vprord $6, \e, T0
  vprord $11, \e, T1
  vprord $25, \e, T2
  vpternlogd $XOR3, T2, T1, T0
  vmovdqa32 \e, T3
  vpternlogd $CHOOSE, \g, \f, T3
  vpaddd T3, \h, \h
  vpaddd T0, \h, \h
  vpaddd \h, \d, \d
  vprord $2, \a, T0
  vprord $13, \a, T1
  vprord $22, \a, T2
  vpternlogd $XOR3, T2, T1, T0
  vmovdqa32 \a, T3
  vpternlogd $MAJORITY, \c, \b, T3
  vpaddd T0, \h, \h
  vpaddd T3, \h, \h
.endm

.macro STEP scheduled, t, w0, w1, w9, w14, a, b, c, d, e, f, g, h
  .if \scheduled
  NEXT_WORD \w0, \w1, \w9, \w14
  .endif
  ROUND \t, \w0, \a, \b, \c, \d, \e, \f, \g, \h
.endm

.macro ROUNDS16 scheduled
  STEP \scheduled, 0, %zmm16, %zmm17, %zmm25, %zmm30, A, B, C, D, E, F, G, H
  STEP \scheduled, 1, %zmm17, %zmm18, %zmm26, %zmm31, H, A, B, C, D, E, F, G
  STEP \scheduled, 2, %zmm18, %zmm19, %zmm27, %zmm16, G, H, A, B, C, D, E, F
  STEP \scheduled, 3, %zmm19, %zmm20, %zmm28, %zmm17, F, G, H, A, B, C, D, E
  STEP \scheduled, 4, %zmm20, %zmm21, %zmm29, %zmm18, E, F, G, H, A, B, C, D
  STEP \scheduled, 5, %zmm21, %zmm22, %zmm30, %zmm19, D, E, F, G, H, A, B, C
  STEP \scheduled, 6, %zmm22, %zmm23, %zmm31, %zmm20, C, D, E, F, G, H, A, B
  STEP \scheduled, 7, %zmm23, %zmm24, %zmm16, %zmm21, B, C, D, E, F, G, H, A
  STEP \scheduled, 8, %zmm24, %zmm25, %zmm17, %zmm22, A, B, C, D, E, F, G, H
  STEP \scheduled, 9, %zmm25, %zmm26, %zmm18, %zmm23, H, A, B, C, D, E, F, G
  STEP \scheduled, 10, %zmm26, %zmm27, %zmm19, %zmm24, G, H, A, B, C, D, E, F
  STEP \scheduled, 11, %zmm27, %zmm28, %zmm20, %zmm25, F, G, H, A, B, C, D, E
  STEP \scheduled, 12, %zmm28, %zmm29, %zmm21, %zmm26, E, F, G, H, A, B, C, D
  STEP \scheduled, 13, %zmm29, %zmm30, %zmm22, %zmm27, D, E, F, G, H, A, B, C
  STEP \scheduled, 14, %zmm30, %zmm31, %zmm23, %zmm28, C, D, E, F, G, H, A, B
  STEP \scheduled, 15, %zmm31, %zmm16, %zmm24, %zmm29, B, C, D, E, F, G, H, A
.endm

/* 16 bytes each of lanes j, j+4, j+8 and j+12, from low to high, from big endian. */
.macro LOAD_FOUR j, offset, words
  movq 8*\j(DATA), LANE_A
  movq 8*(\j+4)(DATA), LANE_B
  movq 8*(\j+8)(DATA), LANE_C
  movq 8*(\j+12)(DATA), LANE_D
  vmovdqu \offset(LANE_A, OFFSET), %xmm\words
  vinserti32x4 $1, \offset(LANE_B, OFFSET), %zmm\words, %zmm\words
  vinserti32x4 $2, \offset(LANE_C, OFFSET), %zmm\words, %zmm\words
  vinserti32x4 $3, \offset(LANE_D, OFFSET), %zmm\words, %zmm\words
  vpshufb BSWAP, %zmm\words, %zmm\words
.endm

/*
 * Words 4*i to 4*i+3 of all lanes, to registers w0 to w3. In each quarter, low to high, rows by lane:
 *   8:  a0 a1 a2 a3   9:  b0 b1 b2 b3   10: c0 c1 c2 c3   11: d0 d1 d2 d3
 *   12: a0 b0 a1 b1   13: a2 b2 a3 b3    8: c0 d0 c1 d1    9: c2 d2 c3 d3
 *   w0: a0 b0 c0 d0   w1: a1 b1 c1 d1   and so on
 */
.macro LOAD_WORDS i, w0, w1, w2, w3
  LOAD_FOUR 0, 16*\i, 8
  LOAD_FOUR 1, 16*\i, 9
  LOAD_FOUR 2, 16*\i, 10
  LOAD_FOUR 3, 16*\i, 11
  vpunpckldq %zmm9, %zmm8, %zmm12
  vpunpckhdq %zmm9, %zmm8, %zmm13
  vpunpckldq %zmm11, %zmm10, %zmm8
  vpunpckhdq %zmm11, %zmm10, %zmm9
  vpunpcklqdq %zmm8, %zmm12, \w0
  vpunpckhqdq %zmm8, %zmm12, \w1
  vpunpcklqdq %zmm9, %zmm13, \w2
  vpunpckhqdq %zmm9, %zmm13, \w3
.endm

.macro ADD_OLD i, x
  vpaddd 64*\i(STATE), \x, \x
  vmovdqu32 \x, 64*\i(STATE)
.endm

FC_FUNC(fc_sha256_lanes_avx512)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  FC_PUSH(%r12)
  vbroadcasti32x4 .Lbyte_swap(%rip), BSWAP
  xorl %r8d, %r8d
  vmovdqu32 (STATE), A
  vmovdqu32 64(STATE), B
  vmovdqu32 128(STATE), C
  vmovdqu32 192(STATE), D
  vmovdqu32 256(STATE), E
  vmovdqu32 320(STATE), F
  vmovdqu32 384(STATE), G
  vmovdqu32 448(STATE), H

.p2align 6
.Lblock:
  LOAD_WORDS 0, %zmm16, %zmm17, %zmm18, %zmm19
  LOAD_WORDS 1, %zmm20, %zmm21, %zmm22, %zmm23
  LOAD_WORDS 2, %zmm24, %zmm25, %zmm26, %zmm27
  LOAD_WORDS 3, %zmm28, %zmm29, %zmm30, %zmm31
  leaq .Lround_constants(%rip), K
  ROUNDS16 0
  movl $3, TURNS
.p2align 6
.Lrounds16:
  addq $64, K
  ROUNDS16 1
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

  FC_CLEAR_ZMM_HIGH
  FC_CLEAR_YMM
  FC_POP(%r12)
.Ldone:
  ret
FC_END(fc_sha256_lanes_avx512)

FC_RODATA
.p2align 6
/* FIPS 180-4 section 4.2.2. */
.Lround_constants:
#include "sha256_constants.inc"
/* Reverses the bytes of each 32-bit lane. */
.Lbyte_swap:
  .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

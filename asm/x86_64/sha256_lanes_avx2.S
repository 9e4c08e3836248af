/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over eight messages at once, one 32-bit lane of a ymm register each.
 *
 * Contract: kernels.h, op sha256_lanes, 8 lanes
 * Needs: AVX2 (256-bit integer operations), AVX (vinserti128 is AVX2, the loads are AVX)
 * Arguments: state (rdi), array of eight data pointers (rsi), number of blocks (rdx)
 * Registers: used rax, rcx, rdx, r8-r10, rbp (saved), ymm0-ymm15, 512 bytes of stack; all
 *   vector registers and the stack are cleared. The general registers hold pointers and counts.
 *
 * Secret: the states, the data and the message schedules (ymm0-ymm14, the stack).
 * Public registers: rdi rsi rdx rcx rax r8 r9 r10 rbp rsp
 *
 * Loop: one block of each message a turn, so eight in flight. The 16 words of the schedule that are
 * alive wait on the stack, and the state is in eight registers; the old state stays in memory, where
 * the new one is added to it. The words of eight blocks become eight lanes of 16 registers by
 * loads of 16 bytes from lanes j and j+4 into one register and a transposition inside its halves.
 * A rotation is two shifts and a xor, which makes 35 instructions of a round and 21 of a word.
 *
 * Measured on Zen 3, cycles a block and message in calls of 64 blocks: 126.4, or 1,010 for all eight.
 * One stream takes 494 in portable C: from three messages on the lanes take less. Below the row of
 * SHA-NI, whose two lanes take 65.4.
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
#define SCHEDULE %rsp

#define A %ymm0
#define B %ymm1
#define C %ymm2
#define D %ymm3
#define E %ymm4
#define F %ymm5
#define G %ymm6
#define H %ymm7
#define T0 %ymm8
#define T1 %ymm9
#define T2 %ymm10
#define T3 %ymm11
#define AB %ymm12 /* a ^ b of this round and of the one before: b ^ c of this one */
#define BC %ymm13
#define WORD %ymm14
#define BSWAP %ymm15

/* sum = rotr(x, r0) ^ rotr(x, r1) ^ rotr(x, r2); shift: the last is a shift. Uses T2. */
.macro SIGMA x, sum, r0, r1, r2, shift
  vpsrld $\r0, \x, \sum
  vpslld $32-\r0, \x, T2
  vpxor T2, \sum, \sum
  vpsrld $\r1, \x, T2
  vpxor T2, \sum, \sum
  vpslld $32-\r1, \x, T2
  vpxor T2, \sum, \sum
  vpsrld $\r2, \x, T2
  vpxor T2, \sum, \sum
  .if !\shift
  vpslld $32-\r2, \x, T2
  vpxor T2, \sum, \sum
  .endif
.endm

/* WORD = W[t+16] = W[t] + sigma0(W[t+1]) + W[t+9] + sigma1(W[t+14]), to the place of W[t]. */
.macro NEXT_WORD t
  vmovdqa 32*((\t+1)%16)(SCHEDULE), T3
  vmovdqa 32*((\t+14)%16)(SCHEDULE), WORD
  SIGMA T3, T0, 7, 18, 3, 1
  SIGMA WORD, T1, 17, 19, 10, 1
  vpaddd 32*((\t)%16)(SCHEDULE), T0, T0
  vpaddd 32*((\t+9)%16)(SCHEDULE), T1, T1
  vpaddd T0, T1, WORD
  vmovdqa WORD, 32*((\t)%16)(SCHEDULE)
.endm

/*
 * One round with the word in WORD; the constant is that of K[t]. ch = ((f ^ g) & e) ^ g, and
 * maj = ((a ^ b) & (b ^ c)) ^ b, whose a ^ b is the next round's b ^ c.
 */
.macro ROUND t, a, b, c, d, e, f, g, h, ab, bc
  vpbroadcastd 4*(\t)(K), T3
  vpaddd WORD, \h, \h
  vpaddd T3, \h, \h
  vpxor \f, \g, T3
  vpand \e, T3, T3
  vpxor \g, T3, T3
  SIGMA \e, T0, 6, 11, 25, 0
  vpaddd T3, \h, \h
  vpaddd T0, \h, \h
  vpaddd \h, \d, \d
  vpxor \a, \b, \ab
  vpand \ab, \bc, \bc
  vpxor \b, \bc, \bc
  SIGMA \a, T1, 2, 13, 22, 0
  vpaddd \bc, \h, \h
  vpaddd T1, \h, \h
.endm

.macro STEP scheduled, t, a, b, c, d, e, f, g, h, ab, bc
  .if \scheduled
  NEXT_WORD \t
  .else
  vmovdqa 32*(\t)(SCHEDULE), WORD
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

/* 16 bytes of lane j in the low half and of lane j+4 in the high half, from big endian. */
.macro LOAD_PAIR j, offset, words
  movq 8*\j(DATA), LANE_A
  movq 8*(\j+4)(DATA), LANE_B
  vmovdqu \offset(LANE_A, OFFSET), %xmm\words
  vinserti128 $1, \offset(LANE_B, OFFSET), %ymm\words, %ymm\words
  vpshufb BSWAP, %ymm\words, %ymm\words
.endm

/*
 * Words 4*i to 4*i+3 of all lanes. In each half, low to high, rows by lane:
 *   8: a0 a1 a2 a3   9: b0 b1 b2 b3   10: c0 c1 c2 c3   11: d0 d1 d2 d3
 *   12: a0 b0 a1 b1  13: a2 b2 a3 b3   8: c0 d0 c1 d1    9: c2 d2 c3 d3
 *   10: a0 b0 c0 d0  11: a1 b1 c1 d1  and so on
 */
.macro LOAD_WORDS i
  LOAD_PAIR 0, 16*\i, 8
  LOAD_PAIR 1, 16*\i, 9
  LOAD_PAIR 2, 16*\i, 10
  LOAD_PAIR 3, 16*\i, 11
  vpunpckldq %ymm9, %ymm8, %ymm12
  vpunpckhdq %ymm9, %ymm8, %ymm13
  vpunpckldq %ymm11, %ymm10, %ymm8
  vpunpckhdq %ymm11, %ymm10, %ymm9
  vpunpcklqdq %ymm8, %ymm12, %ymm10
  vpunpckhqdq %ymm8, %ymm12, %ymm11
  vpunpcklqdq %ymm9, %ymm13, %ymm12
  vpunpckhqdq %ymm9, %ymm13, %ymm13
  vmovdqa %ymm10, 128*\i(SCHEDULE)
  vmovdqa %ymm11, 128*\i+32(SCHEDULE)
  vmovdqa %ymm12, 128*\i+64(SCHEDULE)
  vmovdqa %ymm13, 128*\i+96(SCHEDULE)
.endm

.macro ADD_OLD i, x
  vpaddd 32*\i(STATE), \x, \x
  vmovdqu \x, 32*\i(STATE)
.endm

FC_FUNC(fc_sha256_lanes_avx2)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  FC_PUSH(%rbp)
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $512, %rsp
  andq $-32, %rsp
  vbroadcasti128 .Lbyte_swap(%rip), BSWAP
  xorl %r8d, %r8d
  vmovdqu (STATE), A
  vmovdqu 32(STATE), B
  vmovdqu 64(STATE), C
  vmovdqu 96(STATE), D
  vmovdqu 128(STATE), E
  vmovdqu 160(STATE), F
  vmovdqu 192(STATE), G
  vmovdqu 224(STATE), H

.p2align 6
.Lblock:
  LOAD_WORDS 0
  LOAD_WORDS 1
  LOAD_WORDS 2
  LOAD_WORDS 3
  leaq .Lround_constants(%rip), K
  vpxor B, C, BC
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

  vpxor A, A, A
  .irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  vmovdqa A, 32*\i(SCHEDULE)
  .endr
  FC_CLEAR_YMM
  movq %rbp, %rsp
  .cfi_def_cfa_register %rsp
  FC_POP(%rbp)
.Ldone:
  ret
FC_END(fc_sha256_lanes_avx2)

FC_RODATA
.p2align 6
/* FIPS 180-4 section 4.2.2. */
.Lround_constants:
#include "sha256_constants.inc"
/* Reverses the bytes of each 32-bit lane. */
.Lbyte_swap:
  .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

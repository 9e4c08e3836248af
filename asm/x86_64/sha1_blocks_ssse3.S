/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-1 compression function over a run of blocks, its schedule with SSSE3.
 *
 * Contract: kernels.h, op sha1_blocks
 * Needs: SSSE3 (pshufb, palignr); the rest is SSE2
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rbx, rcx, rdx, rbp, rsi, r8-r12, xmm0-xmm10; cleared xmm0-xmm15, rcx, r8-r11, and
 *   W + K on the stack (320 bytes). rbx, rbp and r12 are the caller's again; rax is a pointer.
 *
 * Secret: the state, the data and the message schedule.
 * Public registers: rdi rsi rdx rbx rax
 *
 * Loop: one block a turn, its schedule four words at a time between the rounds, 16 rounds ahead; W + K go through
 * the stack. All 80 rounds are written out: four words of the schedule, five of the state and 20 rounds of a
 * function come together again after 80.
 *
 * Measured on Zen 3, cycles a block in calls of 1, 4 and 256 blocks on one state: 248, 226, 215; the portable
 * kernel in the same process 288, 306, 277, OpenSSL 3.0 with SSSE3 and nothing newer 243, 222, 207.
 */
#include "fc_asm.h"

#define LANES 1
#define X0 %xmm0
#define X1 %xmm1
#define X2 %xmm2
#define X3 %xmm3
#define X4 %xmm4
#define X5 %xmm5
#define X6 %xmm6
#define X7 %xmm7
#define V0 %xmm8
#define V1 %xmm9
#define BSWAP %xmm10
#define ZERO X0

#include "sha1_blocks.inc"

/*
 * For t = 16 to 28: x = (W[t-16..] ^ W[t-14..] ^ W[t-8..] ^ W[t-3..]) rotated left by one, where W[t], which
 * the highest lane needs, is not known yet. It is the lowest lane of x before the rotation, rotated by one;
 * rotated by two, it is what the highest lane lacks. m4 = W[t-16..t-13] to m1 = W[t-4..t-1].
 */
.macro SCHEDULE_1 piece, t, x, m4, m3, m2, m1
  .if \piece == 0
  movdqa \m3, \x
  movdqa \m1, V0
  palignr $8, \m4, \x /* W[t-14..t-11] */
  psrldq $4, V0 /* 0, W[t-1], W[t-2], W[t-3] */
  .elseif \piece == 1
  pxor \m4, \x
  pxor \m2, V0
  pxor V0, \x
  movdqa \x, V0
  movdqa \x, V1
  .elseif \piece == 2
  pslldq $12, V0 /* from high to low: x3 x2 x1 x0  ->  x0 0 0 0 */
  paddd \x, \x
  psrld $31, V1
  por V1, \x
  movdqa V0, V1
  .else
  psrld $30, V0
  pslld $2, V1
  pxor V0, \x
  pxor V1, \x
  STORE_WK \t, \x
  .endif
.endm

/*
 * For t = 32 on: x, which holds W[t-32..], = (x ^ W[t-28..] ^ W[t-16..] ^ W[t-6..]) rotated left by two. That
 * is the recurrence of the standard put into itself. m7 = W[t-28..t-25], and so on.
 */
.macro SCHEDULE_2 piece, t, x, m7, m4, m2, m1
  .if \piece == 0
  movdqa \m1, V0
  palignr $8, \m2, V0 /* W[t-6..t-3] */
  pxor \m7, \x
  .elseif \piece == 1
  pxor \m4, \x
  pxor V0, \x
  movdqa \x, V1
  .elseif \piece == 2
  pslld $2, \x
  psrld $30, V1
  por V1, \x
  .else
  STORE_WK \t, \x
  .endif
.endm

.macro STORE_WK t, x
  movdqa 16*((\t)/20)+.Lround_constants(%rip), V0
  paddd \x, V0
  movdqa V0, 4*(\t)(WK)
.endm

.macro LOAD_CONSTANTS
  movdqa .Lbyte_swap(%rip), BSWAP
.endm

.macro LOAD_BLOCKS
  .irp n, 0,1,2,3
  movdqu 16*\n(DATA), %xmm\n
  pshufb BSWAP, %xmm\n
  STORE_WK 4*\n, %xmm\n
  .endr
.endm

FC_FUNC(fc_sha1_blocks_ssse3)
  BLOCKS
FC_END(fc_sha1_blocks_ssse3)

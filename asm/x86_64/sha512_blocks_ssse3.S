/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-512 compression function over a run of blocks, its schedule with SSSE3.
 *
 * Contract: kernels.h, op sha512_blocks
 * Needs: SSSE3 (pshufb, palignr); the rest is SSE2
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rbx, rcx, rdx, rbp, rsi, rdi, r8-r15, xmm0-xmm13; cleared xmm0-xmm15, rax, rcx,
 *   r8-r11, and W + K on the stack (640 bytes). rbx, rbp and r12-r15 are the caller's again.
 *
 * Secret: the state, the data and the message schedule.
 * Public registers: rdi rsi rdx
 *
 * Loop: one block a turn, its schedule two words at a time between the rounds, 16 rounds ahead; W + K go through
 * the stack. 16 rounds are written out twice, with the schedule and without.
 *
 * Measured on Zen 3, cycles a block in calls of 1, 4 and 256 blocks on one state: 640, 613, 605; the portable
 * kernel, all of it in general registers, in the same process 746, 741, 739.
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
#define V2 %xmm10
#define BSWAP %xmm12
#define ROTATE8 %xmm13
#define ZERO X0

#include "sha512_blocks.inc"

/*
 * A piece of the next two words, W[t] and W[t+1] in place of W[t-16] and W[t-15] in x0; \pair is t/2
 * modulo 8. One shift may follow another, which saves a copy: x >> 6 >> 13 is x >> 19.
 */
.macro SCHEDULE piece, pair, x0, x1, x4, x5, x7
  .if \piece == 0
  movdqa \x1, V0
  movdqa \x5, V1
  palignr $8, \x0, V0 /* W[t-15], W[t-14] */
  palignr $8, \x4, V1 /* W[t-7], W[t-6] */
  paddq V1, \x0
  movdqa V0, V1
  movdqa V0, V2
  psrlq $1, V1
  .elseif \piece == 1
  pshufb ROTATE8, V2
  psllq $63, V0
  pxor V1, V0
  psrlq $6, V1
  pxor V2, V0
  movdqa \x7, V2
  pxor V1, V0
  movdqa \x7, V1
  .elseif \piece == 2
  paddq V0, \x0
  psrlq $6, V2
  psllq $3, V1
  movdqa V2, V0
  psrlq $13, V2
  pxor V1, V0
  psllq $42, V1
  pxor V2, V0
  .else
  psrlq $42, V2
  pxor V1, V0
  pxor V2, V0
  paddq V0, \x0
  STORE_WK WK16_BYTES+16*(\pair), \x0
  .endif
.endm

.macro STORE_WK at, x
  movdqa \at(K), V2
  paddq \x, V2
  movdqa V2, \at(WK)
.endm

.macro LOAD_CONSTANTS
  movdqa .Lbyte_swap(%rip), BSWAP
  movdqa .Lrotate8(%rip), ROTATE8
.endm

.macro LOAD_BLOCKS
  SET_WK
  .irp n, 0,1,2,3,4,5,6,7
  movdqu 16*\n(DATA), %xmm\n
  pshufb BSWAP, %xmm\n
  STORE_WK 16*\n, %xmm\n
  .endr
.endm

FC_FUNC(fc_sha512_blocks_ssse3)
  BLOCKS
FC_END(fc_sha512_blocks_ssse3)

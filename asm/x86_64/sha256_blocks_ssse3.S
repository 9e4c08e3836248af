/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over a run of blocks, its schedule with SSSE3.
 *
 * Contract: kernels.h, op sha256_blocks
 * Needs: SSSE3 (pshufb, palignr); the rest is SSE2
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rbx, rcx, rdx, rbp, rsi, rdi, r8-r15, xmm0-xmm10; cleared xmm0-xmm15, rax, rcx,
 *   r8-r11, and W + K on the stack (256 bytes). rbx, rbp and r12-r15 are the caller's again.
 *
 * Secret: the state, the data and the message schedule.
 * Public registers: rdi rsi rdx
 *
 * Loop: one block a turn. Its schedule is made four words at a time between the rounds, 16 rounds ahead; W + K
 * go through the stack. 16 rounds are written out twice, with the schedule and without.
 *
 * Measured on Zen 3, cycles a block in calls of 1, 4 and 256 blocks on one state: 464, 442, 433; the portable
 * kernel in the same process 599, 592, 589, OpenSSL 3.0 with SSSE3 and nothing newer 487, 473, 476.
 * The schedule hides behind the rounds: these alone are what sha256_blocks_avx2.S says of them.
 */
#include "fc_asm.h"

#define LANES 1
#define X0 %xmm0
#define X1 %xmm1
#define X2 %xmm2
#define X3 %xmm3
#define V0 %xmm4
#define V1 %xmm5
#define V2 %xmm6
#define BSWAP %xmm8
#define TO_LOW %xmm9
#define TO_HIGH %xmm10
#define ZERO X0

#include "sha256_blocks.inc"

/*
 * A piece of the next four words, W[t..t+3] in place of W[t-16..t-13] in x0; \group is t/4 modulo 4. sigma1
 * of the second two words needs the first two, so it is computed twice, on two words in 64-bit lanes: with
 * a word in both halves of a lane, a rotation is a shift of the lane. One shift may follow another, which
 * saves a copy: x >> 7 >> 11 is x >> 18.
 */
.macro SCHEDULE piece, group, x0, x1, x2, x3
  .if \piece == 0
  movdqa \x1, V0
  movdqa \x3, V1
  palignr $4, \x0, V0 /* W[t-15..t-12] */
  palignr $4, \x2, V1 /* W[t-7..t-4] */
  paddd V1, \x0
  .elseif \piece == 1
  movdqa V0, V1
  movdqa V0, V2
  psrld $3, V0
  psrld $7, V1
  pslld $14, V2
  .elseif \piece == 2
  pxor V1, V0
  psrld $11, V1
  pxor V2, V0
  pslld $11, V2
  .elseif \piece == 3
  pxor V1, V0
  pxor V2, V0
  paddd V0, \x0
  pshufd $0xfa, \x3, V0 /* from high to low: w3 w2 w1 w0  ->  w3 w3 w2 w2 */
  .elseif \piece == 4
  SIGMA1
  .elseif \piece == 5
  pshufb TO_LOW, V0
  paddd V0, \x0
  pshufd $0x50, \x0, V0 /* w3 w2 w1 w0  ->  w1 w1 w0 w0 */
  .elseif \piece == 6
  SIGMA1
  .else
  pshufb TO_HIGH, V0
  paddd V0, \x0
  STORE_WK WK16_BYTES+16*(\group), \x0
  .endif
.endm

.macro SIGMA1
  movdqa V0, V1
  psrld $10, V0
  psrlq $17, V1
  pxor V1, V0
  psrlq $2, V1
  pxor V1, V0
.endm

.macro STORE_WK at, x
  movdqa \at(K), V2
  paddd \x, V2
  movdqa V2, \at(WK)
.endm

.macro LOAD_CONSTANTS
  movdqa .Lbyte_swap(%rip), BSWAP
  movdqa .Lto_low(%rip), TO_LOW
  movdqa .Lto_high(%rip), TO_HIGH
.endm

.macro LOAD_BLOCKS
  SET_WK
  .irp n, 0,1,2,3
  movdqu 16*\n(DATA), %xmm\n
  pshufb BSWAP, %xmm\n
  STORE_WK 16*\n, %xmm\n
  .endr
.endm

FC_FUNC(fc_sha256_blocks_ssse3)
  BLOCKS
FC_END(fc_sha256_blocks_ssse3)

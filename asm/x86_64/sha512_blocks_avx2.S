/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-512 compression function over a run of blocks, its schedule with AVX2, its rounds with BMI.
 *
 * Contract: kernels.h, op sha512_blocks
 * Needs: AVX2 (vpaddq, vpshufb, vpalignr on ymm), BMI1 (andn), BMI2 (rorx)
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rbx, rcx, rdx, rbp, rsi, rdi, r8-r15, ymm0-ymm13; cleared ymm0-ymm15, rax, rcx,
 *   r8-r11, and W + K on the stack (1280 bytes). rbx, rbp and r12-r15 are the caller's again.
 *
 * Secret: the state, the data and the message schedule.
 * Public registers: rdi rsi rdx
 *
 * Loop: two blocks a turn, as in sha256_blocks_avx2.S, whose head says why. With two words of 64 bits in half a
 * register, sigma1 of a pair needs the pair before it and no part of its own: it is computed once.
 *
 * A round is 22 operations of an ALU: 440 cycles a block at least on a core with four. Measured on Zen 3,
 * cycles a block in calls of 1, 4 and 256 blocks on one state: 601, 560, 525; the portable kernel in the same
 * process 746, 741, 739, OpenSSL 3.0 with AVX2 567, 543, 535. A call of one block makes a schedule for two, and
 * clears W + K of two.
 */
#include "fc_asm.h"

#define LANES 2
#define X0 %ymm0
#define X1 %ymm1
#define X2 %ymm2
#define X3 %ymm3
#define X4 %ymm4
#define X5 %ymm5
#define X6 %ymm6
#define X7 %ymm7
#define V0 %ymm8
#define V1 %ymm9
#define V2 %ymm10
#define V3 %ymm11
#define BSWAP %ymm12
#define ROTATE8 %ymm13
#define ZERO X0

#include "sha512_blocks.inc"

/*
 * A piece of the next two words of both blocks, W[t] and W[t+1] in place of W[t-16] and W[t-15] in x0;
 * \pair is t/2 modulo 8.
 */
.macro SCHEDULE piece, pair, x0, x1, x4, x5, x7
  .if \piece == 0
  vpalignr $8, \x0, \x1, V0 /* W[t-15], W[t-14] */
  vpalignr $8, \x4, \x5, V1 /* W[t-7], W[t-6] */
  vpsrlq $1, V0, V2
  vpsllq $63, V0, V3
  vpaddq V1, \x0, \x0
  vpshufb ROTATE8, V0, V1
  .elseif \piece == 1
  vpsrlq $7, V0, V0
  vpxor V3, V2, V2
  vpxor V1, V0, V0
  vpsrlq $19, \x7, V3
  vpsllq $45, \x7, V1
  vpxor V0, V2, V2
  .elseif \piece == 2
  vpaddq V2, \x0, \x0
  vpxor V1, V3, V3
  vpsrlq $61, \x7, V0
  vpsllq $3, \x7, V1
  vpsrlq $6, \x7, V2
  vpxor V0, V3, V3
  .else
  vpxor V1, V2, V2
  vpxor V2, V3, V3
  vpaddq V3, \x0, \x0
  STORE_WK WK16_BYTES+32*(\pair), \x0
  .endif
.endm

.macro STORE_WK at, x
  vpaddq \at(K), \x, V0
  vmovdqa V0, \at(WK)
.endm

.macro LOAD_CONSTANTS
  vmovdqa .Lbyte_swap(%rip), BSWAP
  vmovdqa .Lrotate8(%rip), ROTATE8
.endm

.macro LOAD_BLOCKS
  .irp n, 0,1,2,3,4,5,6,7
  vmovdqu 16*\n(DATA), %xmm\n
  vinserti128 $1, 16*\n(SECOND), %ymm\n, %ymm\n
  vpshufb BSWAP, %ymm\n, %ymm\n
  .endr
  SET_WK
  .irp n, 0,1,2,3,4,5,6,7
  STORE_WK 32*\n, %ymm\n
  .endr
.endm

FC_FUNC(fc_sha512_blocks_avx2)
  BLOCKS
FC_END(fc_sha512_blocks_avx2)

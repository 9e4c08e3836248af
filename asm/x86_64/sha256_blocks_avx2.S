/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over a run of blocks, its schedule with AVX2, its rounds with BMI.
 *
 * Contract: kernels.h, op sha256_blocks
 * Needs: AVX2 (vpaddd, vpshufb, vpalignr on ymm), BMI1 (andn), BMI2 (rorx)
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rbx, rcx, rdx, rbp, rsi, rdi, r8-r15, ymm0-ymm10; cleared ymm0-ymm15, rax, rcx,
 *   r8-r11, and W + K on the stack (512 bytes). rbx, rbp and r12-r15 are the caller's again.
 *
 * Secret: the state, the data and the message schedule.
 * Public registers: rdi rsi rdx
 *
 * Loop: two blocks a turn. Their schedules are made together, a block in each half of a ymm register, while
 * the rounds of the first run in general registers; W + K of both go through the stack. Then the rounds of the
 * second. One block in flight in the rounds, since each waits for the one before it; a third lane would have
 * nothing to do. 16 rounds are written out twice, with the schedule and without: 4 KiB of code.
 *
 * A round is 22 operations of an ALU, of which six are rotations, and Zen 3 rotates in two of its four ALUs:
 * 352 cycles a block at least. Measured on Zen 3, cycles a block in calls of 1, 4 and 256 blocks on one state:
 * 450, 418, 414; OpenSSL 3.0 with the SHA extensions masked, in the same process: 448, 430, 426. Without the
 * schedule, and so with a wrong result, the rounds take no less. Tried, and not used:
 *   - the rounds in the order of the standard's formulas, Ch after Sigma1: 457, 441, 431
 *   - the new e by d + T1 alone, and the new a from it by subtracting d: a chain of four operations from e to
 *     e in place of five, and 23 in all: 460, 433, 427, and 8% slower while another thread shares the core
 *   - Ch as g ^ (e & (f ^ g)): 470, 443, 437
 *   - Sigma0 by rotations of xors of rotations: 495, 478, 474
 *   - lea for additions, which leaves the flags alone: 501, 474, 468
 */
#include "fc_asm.h"

#define LANES 2
#define X0 %ymm0
#define X1 %ymm1
#define X2 %ymm2
#define X3 %ymm3
#define V0 %ymm4
#define V1 %ymm5
#define V2 %ymm6
#define V3 %ymm7
#define BSWAP %ymm8
#define TO_LOW %ymm9
#define TO_HIGH %ymm10
#define ZERO X0

#include "sha256_blocks.inc"

/*
 * A piece of the next four words of both blocks, W[t..t+3] in place of W[t-16..t-13] in x0; \group is t/4
 * modulo 4. sigma1 of the second two words needs the first two, so it is computed twice, on two words in
 * 64-bit lanes: with a word in both halves of a lane, a rotation is a shift of the lane.
 */
.macro SCHEDULE piece, group, x0, x1, x2, x3
  .if \piece == 0
  vpalignr $4, \x0, \x1, V0 /* W[t-15..t-12] */
  vpalignr $4, \x2, \x3, V1 /* W[t-7..t-4] */
  vpsrld $7, V0, V2
  vpslld $25, V0, V3
  .elseif \piece == 1
  vpaddd V1, \x0, \x0
  vpxor V2, V3, V2
  vpsrld $18, V0, V3
  vpslld $14, V0, V1
  .elseif \piece == 2
  vpsrld $3, V0, V0
  vpxor V3, V2, V2
  vpxor V1, V0, V0
  vpshufd $0xfa, \x3, V1 /* from high to low: w3 w2 w1 w0  ->  w3 w3 w2 w2 */
  .elseif \piece == 3
  vpxor V0, V2, V2
  vpsrld $10, V1, V3
  vpsrlq $17, V1, V0
  vpsrlq $19, V1, V1
  .elseif \piece == 4
  vpaddd V2, \x0, \x0
  vpxor V0, V3, V3
  vpxor V1, V3, V3
  vpshufb TO_LOW, V3, V3
  .elseif \piece == 5
  vpaddd V3, \x0, \x0
  vpshufd $0x50, \x0, V1 /* w3 w2 w1 w0  ->  w1 w1 w0 w0 */
  vpsrld $10, V1, V3
  .elseif \piece == 6
  vpsrlq $17, V1, V0
  vpsrlq $19, V1, V1
  vpxor V0, V3, V3
  vpxor V1, V3, V3
  .else
  vpshufb TO_HIGH, V3, V3
  vpaddd V3, \x0, \x0
  STORE_WK WK16_BYTES+32*(\group), \x0
  .endif
.endm

.macro STORE_WK at, x
  vpaddd \at(K), \x, V0
  vmovdqa V0, \at(WK)
.endm

.macro LOAD_CONSTANTS
  vmovdqa .Lbyte_swap(%rip), BSWAP
  vmovdqa .Lto_low(%rip), TO_LOW
  vmovdqa .Lto_high(%rip), TO_HIGH
.endm

.macro LOAD_BLOCKS
  .irp n, 0,1,2,3
  vmovdqu 16*\n(DATA), %xmm\n
  vinserti128 $1, 16*\n(SECOND), %ymm\n, %ymm\n
  vpshufb BSWAP, %ymm\n, %ymm\n
  .endr
  SET_WK
  .irp n, 0,1,2,3
  STORE_WK 32*\n, %ymm\n
  .endr
.endm

FC_FUNC(fc_sha256_blocks_avx2)
  BLOCKS
FC_END(fc_sha256_blocks_avx2)

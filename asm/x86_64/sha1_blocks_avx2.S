/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-1 compression function over a run of blocks, its schedule with AVX2, its rounds with BMI.
 *
 * Contract: kernels.h, op sha1_blocks
 * Needs: AVX2 (vpaddd, vpshufb, vpalignr on ymm), BMI1 (andn), BMI2 (rorx)
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rbx, rcx, rdx, rbp, rsi, r8-r12, ymm0-ymm10; cleared ymm0-ymm15, rcx, r8-r11, and
 *   W + K on the stack (640 bytes). rbx, rbp and r12 are the caller's again; rax is a pointer.
 *
 * Secret: the state, the data and the message schedule.
 * Public registers: rdi rsi rdx rbx rax
 *
 * Loop: two blocks a turn. Their schedules are made together, a block in each half of a ymm register, while
 * the rounds of the first run in general registers; W + K of both go through the stack. Then the rounds of the
 * second. One block in flight in the rounds, since each waits for the one before it. All 80 rounds are written
 * out, once with the schedule and once without: four words of the schedule, five of the state and 20 rounds of
 * a function come together again after 80.
 *
 * A round is a chain of a rotation and an addition: 160 cycles a block at least. Measured on Zen 3, cycles a
 * block in calls of 1, 4 and 256 blocks on one state: 250, 214, 210; the SSSE3 kernel in the same process 248,
 * 226, 215, the portable one 288, 306, 277, OpenSSL 3.0 with AVX2 (of another run) 347, 295, 219.
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
#define BSWAP %ymm10
#define ZERO X0

#include "sha1_blocks.inc"

.macro SCHEDULE_1 piece, t, x, m4, m3, m2, m1
  .if \piece == 0
  vpalignr $8, \m4, \m3, \x /* W[t-14..t-11] */
  vpsrldq $4, \m1, V0 /* 0, W[t-1], W[t-2], W[t-3] */
  vpxor \m4, \x, \x
  .elseif \piece == 1
  vpxor \m2, V0, V0
  vpxor V0, \x, \x
  vpslldq $12, \x, V0 /* from high to low: x3 x2 x1 x0  ->  x0 0 0 0 */
  vpsrld $31, \x, V1
  .elseif \piece == 2
  vpaddd \x, \x, \x
  vpor V1, \x, \x
  vpsrld $30, V0, V1
  vpslld $2, V0, V0
  .else
  vpxor V1, \x, \x
  vpxor V0, \x, \x
  STORE_WK \t, \x
  .endif
.endm

.macro SCHEDULE_2 piece, t, x, m7, m4, m2, m1
  .if \piece == 0
  vpalignr $8, \m2, \m1, V0 /* W[t-6..t-3] */
  vpxor \m7, \x, \x
  .elseif \piece == 1
  vpxor \m4, \x, \x
  vpxor V0, \x, \x
  .elseif \piece == 2
  vpslld $2, \x, V0
  vpsrld $30, \x, \x
  vpor V0, \x, \x
  .else
  STORE_WK \t, \x
  .endif
.endm

.macro STORE_WK t, x
  vpaddd 32*((\t)/20)+.Lround_constants(%rip), \x, V0
  vmovdqa V0, 8*(\t)(WK)
.endm

.macro LOAD_CONSTANTS
  vmovdqa .Lbyte_swap(%rip), BSWAP
.endm

.macro LOAD_BLOCKS
  .irp n, 0,1,2,3
  vmovdqu 16*\n(DATA), %xmm\n
  vinserti128 $1, 16*\n(SECOND), %ymm\n, %ymm\n
  vpshufb BSWAP, %ymm\n, %ymm\n
  STORE_WK 4*\n, %ymm\n
  .endr
.endm

FC_FUNC(fc_sha1_blocks_avx2)
  BLOCKS
FC_END(fc_sha1_blocks_avx2)

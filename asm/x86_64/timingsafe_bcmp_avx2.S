/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two strings of bytes differ, in ymm registers.
 *
 * Contract: kernels.h, op timingsafe_bcmp
 * Needs: AVX2 (vpxor and vpor on ymm), AVX (vptest, vzeroupper), SSE2 (up to 128 bytes)
 * Arguments: the strings (rdi, rsi), their length (rdx)
 * Registers: rax rcx rdx rsi rdi r8 r9 r10 xmm3 ymm0-ymm2 used; r8 r9 r10 xmm3 ymm0-ymm2 held data
 *   and are cleared, rax is the result
 * Secret: the bytes of both strings and the result
 * Public registers: rdi rsi rdx rcx
 *
 * Up to 128 bytes: timingsafe_bcmp_short.h, in SSE2, whose head says why.
 *
 * Above: 128 bytes per iteration, then the last 128, some of them a second time. 128 bytes are 8
 * loads, 4 cycles of the two that Zen 3 and Intel since Haswell do; two accumulators keep the chain
 * of vpors at 2.
 *
 * Rejected (Zen 3): vzeroall to clear, 6.8 instead of 5.5 ns at 255 bytes. Aligning A to 32 after
 * the first 128 bytes: 14.9 instead of 18.1 ns at 1 KiB and 1.43 instead of 1.49 us at 64 KiB,
 * which does not pay for a second way into the loop at the lengths that are compared in practice.
 */
#include "fc_asm.h"
#include "timingsafe_bcmp_short.h"

#define DIFF_EVEN %ymm0
#define DIFF_ODD %ymm1
#define DIFF_HERE %ymm2
#define DIFF_EVEN_XMM %xmm0
#define DIFF_ODD_XMM %xmm1
#define DIFF_HERE_XMM %xmm2

/* diff |= the 32 bytes at offset of A ^ those of B. */
.macro DIFFERENCE_32 diff, offset
  vmovdqu \offset(A), DIFF_HERE
  vpxor \offset(B), DIFF_HERE, DIFF_HERE
  vpor DIFF_HERE, \diff, \diff
.endm

.macro DIFFERENCE_128
  DIFFERENCE_32 DIFF_EVEN, 0
  DIFFERENCE_32 DIFF_ODD, 32
  DIFFERENCE_32 DIFF_EVEN, 64
  DIFFERENCE_32 DIFF_ODD, 96
.endm

FC_FUNC(fc_timingsafe_bcmp_avx2)
  SHORT_LENGTHS .Llong

.Llong:
  vpxor DIFF_EVEN_XMM, DIFF_EVEN_XMM, DIFF_EVEN_XMM
  vpxor DIFF_ODD_XMM, DIFF_ODD_XMM, DIFF_ODD_XMM
.p2align 6
.Lloop:
  DIFFERENCE_128
  subq $-128, A
  subq $-128, B
  addq $-128, LEN
  cmpq $128, LEN
  ja .Lloop

  /* The last 128 bytes, some of them a second time. */
  leaq -128(A, LEN), A
  leaq -128(B, LEN), B
  DIFFERENCE_128
  xorl RESULT, RESULT
  vpor DIFF_ODD, DIFF_EVEN, DIFF_EVEN
  vptest DIFF_EVEN, DIFF_EVEN
  setne RESULT_BYTE
  vpxor DIFF_EVEN_XMM, DIFF_EVEN_XMM, DIFF_EVEN_XMM
  vpxor DIFF_ODD_XMM, DIFF_ODD_XMM, DIFF_ODD_XMM
  vpxor DIFF_HERE_XMM, DIFF_HERE_XMM, DIFF_HERE_XMM
  vzeroupper
  ret
FC_END(fc_timingsafe_bcmp_avx2)

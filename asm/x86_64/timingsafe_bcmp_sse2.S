/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two strings of bytes differ, in xmm registers.
 *
 * Contract: kernels.h, op timingsafe_bcmp
 * Needs: SSE2 (movdqu, pcmpeqb, pand, pmovmskb)
 * Arguments: the strings (rdi, rsi), their length (rdx)
 * Registers: rax rcx rdx rsi rdi r8 r9 r10 xmm0-xmm3 used; r8 r9 r10 xmm0-xmm3 held data
 *   and are cleared, rax is the result
 * Secret: the bytes of both strings and the result
 * Public registers: rdi rsi rdx rcx
 *
 * Up to 128 bytes: timingsafe_bcmp_short.h, which says why its ladder is as it is.
 *
 * Above: 64 bytes per iteration, then the last 64, some of them a second time. 64 bytes are 8
 * loads, 4 cycles of the two vector loads per cycle that Zen 3 and Intel since Haswell do; the
 * chain of pands through EQUAL takes 4 as well, and that through EQUAL_BEFORE one.
 *
 * Rejected: pxor and por, which need a comparison with zero at the end. ptest, which is not SSE2.
 */
#include "fc_asm.h"
#include "timingsafe_bcmp_short.h"

FC_FUNC(fc_timingsafe_bcmp_sse2)
  SHORT_LENGTHS .Llong

.Llong:
  pcmpeqd EQUAL_BEFORE, EQUAL_BEFORE
.p2align 6
.Lloop:
  COMPARE_64
  pand EQUAL, EQUAL_BEFORE
  addq $64, A
  addq $64, B
  subq $64, LEN
  cmpq $64, LEN
  ja .Lloop

  /* The last 64 bytes, some of them a second time. */
  leaq -64(A, LEN), A
  leaq -64(B, LEN), B
  COMPARE_64
  pand EQUAL_BEFORE, EQUAL
  RETURN_EQUAL
FC_END(fc_timingsafe_bcmp_sse2)

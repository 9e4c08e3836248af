/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two strings of bytes differ, in zmm registers.
 *
 * Contract: kernels.h, op timingsafe_bcmp
 * Needs: AVX512F (vpternlogq, vptestmq, kortestw), AVX (vzeroupper), SSE2 (up to 128 bytes)
 * Arguments: the strings (rdi, rsi), their length (rdx)
 * Registers: rax rcx rdx rsi rdi r8 r9 r10 xmm3 zmm0-zmm2 k1 used; r8 r9 r10 xmm3 zmm0-zmm2 k1 held
 *   data and are cleared, rax is the result
 * Secret: the bytes of both strings and the result
 * Public registers: rdi rsi rdx rcx
 *
 * Up to 128 bytes: timingsafe_bcmp_short.h, in SSE2, whose head says why.
 *
 * Above: 128 bytes per iteration, then the last 128, some of them a second time. vpternlogq folds
 * diff | (a ^ b) of 64 bytes with b from memory, so 128 bytes are 4 loads and 2 instructions; two
 * accumulators, one per half. The last block is loaded unmasked: a masked tail would need BMI2 or a
 * table for its mask, and a second copy of the reduction.
 *
 * Not measured: no machine with AVX-512 has run it yet.
 */
#include "fc_asm.h"
#include "timingsafe_bcmp_short.h"

#define DIFF_LOW %zmm0
#define DIFF_HIGH %zmm1
#define WORDS %zmm2
#define DIFF_LOW_XMM %xmm0
#define DIFF_HIGH_XMM %xmm1
#define WORDS_XMM %xmm2
#define LANES_THAT_DIFFER %k1

/*
 * diff |= the 64 bytes at offset of A ^ those of B. The immediate is the truth table of
 * diff | (words ^ b): bit 4 diff + 2 words + b.
 */
.macro DIFFERENCE_64 diff, offset
  vmovdqu64 \offset(A), WORDS
  vpternlogq $0xf6, \offset(B), WORDS, \diff
.endm

.macro DIFFERENCE_128
  DIFFERENCE_64 DIFF_LOW, 0
  DIFFERENCE_64 DIFF_HIGH, 64
.endm

FC_FUNC(fc_timingsafe_bcmp_avx512)
  SHORT_LENGTHS .Llong

.Llong:
  vpxor DIFF_LOW_XMM, DIFF_LOW_XMM, DIFF_LOW_XMM
  vpxor DIFF_HIGH_XMM, DIFF_HIGH_XMM, DIFF_HIGH_XMM
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
  vporq DIFF_HIGH, DIFF_LOW, DIFF_LOW
  vptestmq DIFF_LOW, DIFF_LOW, LANES_THAT_DIFFER
  kortestw LANES_THAT_DIFFER, LANES_THAT_DIFFER
  setne RESULT_BYTE
  kxorw LANES_THAT_DIFFER, LANES_THAT_DIFFER, LANES_THAT_DIFFER
  vpxor DIFF_LOW_XMM, DIFF_LOW_XMM, DIFF_LOW_XMM
  vpxor DIFF_HIGH_XMM, DIFF_HIGH_XMM, DIFF_HIGH_XMM
  vpxor WORDS_XMM, WORDS_XMM, WORDS_XMM
  vzeroupper
  ret
FC_END(fc_timingsafe_bcmp_avx512)

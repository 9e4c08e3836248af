/* SPDX-License-Identifier: Apache-2.0 */
#include "fc_asm.h"

#define STATE %rdi
#define DATA %rsi
#define NBLOCKS %rdx
#define NEXT %rax
#define K %rcx

#define WK %xmm0 /* W + K of two rounds in the low half: sha256rnds2 reads it implicitly */
#define ABEF %xmm1
#define CDGH %xmm2
#define MSG0 %xmm3
#define MSG1 %xmm4
#define MSG2 %xmm5
#define MSG3 %xmm6
#define TMP %xmm7
#define ABEF_SAVED %xmm8
#define CDGH_SAVED %xmm9
#define BSWAP %xmm10

.macro LOAD offset, ptr, msg
  movdqu \offset(\ptr), \msg
  pshufb BSWAP, \msg
.endm

.macro ADD_K i, msg
  movdqa \msg, WK
  paddd 16*\i(K), WK
.endm

.macro QUAD i, m0, m1, m2, m3
  .if \i > 0
  ADD_K \i, \m0
  .endif
  sha256rnds2 ABEF, CDGH
  pshufd $0x0e, WK, WK
  .if \i >= 3 && \i <= 14
  movdqa \m0, TMP
  palignr $4, \m3, TMP
  paddd TMP, \m1
  sha256msg2 \m0, \m1
  .endif
  .if \i >= 1 && \i <= 12
  sha256msg1 \m0, \m3
  .endif
  .if \i >= 12
  LOAD 16*(\i-12), NEXT, \m0
  .endif
  sha256rnds2 CDGH, ABEF
.endm

FC_FUNC(fc_sha256_blocks_shani)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  leaq .Lround_constants(%rip), K
  movdqa .Lbyte_swap(%rip), BSWAP
  LOAD 0, DATA, MSG0
  LOAD 16, DATA, MSG1
  LOAD 32, DATA, MSG2
  LOAD 48, DATA, MSG3
  movups (STATE), CDGH_SAVED
  movups 16(STATE), CDGH
  movaps CDGH, ABEF
  shufps $0x11, CDGH_SAVED, ABEF
  shufps $0xbb, CDGH_SAVED, CDGH
  ADD_K 0, MSG0

.p2align 6
.Lblock:
  leaq 64(DATA), NEXT
  subq $1, NBLOCKS
  cmovzq DATA, NEXT
  movdqa ABEF, ABEF_SAVED
  movdqa CDGH, CDGH_SAVED

  QUAD 0, MSG0, MSG1, MSG2, MSG3
  QUAD 1, MSG1, MSG2, MSG3, MSG0
  QUAD 2, MSG2, MSG3, MSG0, MSG1
  QUAD 3, MSG3, MSG0, MSG1, MSG2
  QUAD 4, MSG0, MSG1, MSG2, MSG3
  QUAD 5, MSG1, MSG2, MSG3, MSG0
  QUAD 6, MSG2, MSG3, MSG0, MSG1
  QUAD 7, MSG3, MSG0, MSG1, MSG2
  QUAD 8, MSG0, MSG1, MSG2, MSG3
  QUAD 9, MSG1, MSG2, MSG3, MSG0
  QUAD 10, MSG2, MSG3, MSG0, MSG1
  QUAD 11, MSG3, MSG0, MSG1, MSG2
  QUAD 12, MSG0, MSG1, MSG2, MSG3
  QUAD 13, MSG1, MSG2, MSG3, MSG0
  QUAD 14, MSG2, MSG3, MSG0, MSG1
  QUAD 15, MSG3, MSG0, MSG1, MSG2

  ADD_K 0, MSG0
  paddd CDGH_SAVED, CDGH
  paddd ABEF_SAVED, ABEF
  movq NEXT, DATA
  jnz .Lblock

  movaps ABEF, TMP
  shufps $0xbb, CDGH, TMP
  shufps $0x11, CDGH, ABEF
  movups TMP, (STATE)
  movups ABEF, 16(STATE)
  FC_CLEAR_XMM 0, 9
.Ldone:
  ret
FC_END(fc_sha256_blocks_shani)

FC_RODATA
.p2align 6
.Lround_constants:
  .long 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
  .long 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
  .long 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
  .long 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
  .long 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
  .long 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
  .long 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
  .long 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
.Lbyte_swap:
  .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

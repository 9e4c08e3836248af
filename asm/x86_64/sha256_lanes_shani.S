/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over two messages at once, with the SHA extensions.
 *
 * Contract: kernels.h, op sha256_lanes, 2 lanes
 * Needs: SHA_NI (sha256rnds2, sha256msg1, sha256msg2), SSSE3 (pshufb, palignr); the rest is SSE2
 * Arguments: state (rdi), array of two data pointers (rsi), number of blocks (rdx)
 * Registers: used rax, rcx, rdx, r8, r9, xmm0-xmm14, 64 bytes of stack; cleared xmm0-xmm13 and the
 *   stack. xmm14 is the byte-swap mask; the general registers hold pointers and the count.
 *
 * Secret: the states, the data and the message schedules (xmm0-xmm13, the stack).
 * Public registers: rdi rsi rdx rcx rax r8 r9 rsp
 *
 * Loop: one block of each message a turn, the rounds of sha256_blocks_shani.S for the one and then
 * for the other, group by group of four rounds. One message is a chain of 32 sha256rnds2 of latency
 * 4, while the unit takes a new one every second cycle (Zen 3) or every third (Ice Lake): two chains
 * fill it, a third would find no registers. The old states wait on the stack.
 *
 * Measured on Zen 3, cycles a block and message in calls of 64 blocks: 65.4, which is the unit's limit
 * of 64 and two more; one stream of sha256_blocks_shani.S takes 129.8. So two messages are enough for
 * it, and eight of sha256_lanes_avx2.S take twice as long (126.4).
 */
#include "fc_asm.h"

#define STATE %rdi
#define DATA %rsi
#define DATA0 %rax
#define DATA1 %r9
#define NBLOCKS %rdx
#define OFFSET %r8
#define K %rcx

#define WK %xmm0 /* W + K; sha256rnds2 takes two words of it from the low half of xmm0 */
#define ABEF0 %xmm1
#define CDGH0 %xmm2
#define ABEF1 %xmm3
#define CDGH1 %xmm4
#define MSG00 %xmm5 /* the last 16 words of each schedule, four to a register */
#define MSG01 %xmm6
#define MSG02 %xmm7
#define MSG03 %xmm8
#define MSG10 %xmm9
#define MSG11 %xmm10
#define MSG12 %xmm11
#define MSG13 %xmm12
#define TMP %xmm13
#define BSWAP %xmm14

/*
 * Rounds 4*group to 4*group+3 of one message. With t = 4*group, m0 becomes or holds W[t..t+3] and m3
 * holds W[t-4..t-1]; m1 and m2 hold what sha256msg1 made of W[t-12..t-9] and W[t-8..t-5]:
 *   groups 0-3    load and swap the words of the block
 *   groups 3-14:  m1 becomes W[t+4..t+7]: add W[t-3..t], which is m0:m3 moved down by a word, then
 *                 sha256msg2 adds sigma1
 *   groups 1-12:  sha256msg1 on m3, since the word after its last, W[t], is known
 */
.macro ROUNDS4 group, data, abef, cdgh, m0, m1, m2, m3
  .if \group < 4
  movdqu 16*(\group)(\data, OFFSET), \m0
  pshufb BSWAP, \m0
  .endif
  movdqa \m0, WK
  paddd 16*(\group)(K), WK
  sha256rnds2 \abef, \cdgh
  .if \group >= 3 && \group <= 14
  movdqa \m0, TMP
  palignr $4, \m3, TMP
  paddd TMP, \m1
  sha256msg2 \m0, \m1
  .endif
  /* WK, lanes from high to low: w3 w2 w1 w0  ->  w0 w0 w3 w2 */
  pshufd $0x0e, WK, WK
  sha256rnds2 \cdgh, \abef
  .if \group >= 1 && \group <= 12
  sha256msg1 \m0, \m3
  .endif
.endm

.macro BOTH group, a0, a1, a2, a3, b0, b1, b2, b3
  ROUNDS4 \group, DATA0, ABEF0, CDGH0, \a0, \a1, \a2, \a3
  ROUNDS4 \group, DATA1, ABEF1, CDGH1, \b0, \b1, \b2, \b3
.endm

.macro ROUNDS16 group
  BOTH \group, MSG00, MSG01, MSG02, MSG03, MSG10, MSG11, MSG12, MSG13
  BOTH \group+1, MSG01, MSG02, MSG03, MSG00, MSG11, MSG12, MSG13, MSG10
  BOTH \group+2, MSG02, MSG03, MSG00, MSG01, MSG12, MSG13, MSG10, MSG11
  BOTH \group+3, MSG03, MSG00, MSG01, MSG02, MSG13, MSG10, MSG11, MSG12
.endm

FC_FUNC(fc_sha256_lanes_shani)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  subq $72, %rsp
  .cfi_adjust_cfa_offset 72
  movq (DATA), DATA0
  movq 8(DATA), DATA1
  xorl %r8d, %r8d
  leaq .Lround_constants(%rip), K
  movdqa .Lbyte_swap(%rip), BSWAP

  /* From high to low, lane numbers behind the letters:
   *   ABEF0: f1 f0 e1 e0, TMP: b1 b0 a1 a0  ->  ABEF0: a0 b0 e0 f0, ABEF1: a1 b1 e1 f1
   *   CDGH0: h1 h0 g1 g0, TMP: d1 d0 c1 c0  ->  CDGH0: c0 d0 g0 h0, CDGH1: c1 d1 g1 h1 */
  movups (STATE), TMP
  movups 32(STATE), ABEF0
  movaps ABEF0, ABEF1
  shufps $0x22, TMP, ABEF0
  shufps $0x77, TMP, ABEF1
  movups 16(STATE), TMP
  movups 48(STATE), CDGH0
  movaps CDGH0, CDGH1
  shufps $0x22, TMP, CDGH0
  shufps $0x77, TMP, CDGH1

.p2align 6
.Lblock:
  movdqu ABEF0, (%rsp)
  movdqu CDGH0, 16(%rsp)
  movdqu ABEF1, 32(%rsp)
  movdqu CDGH1, 48(%rsp)

  ROUNDS16 0
  ROUNDS16 4
  ROUNDS16 8
  ROUNDS16 12

  movdqu (%rsp), MSG00
  movdqu 16(%rsp), MSG01
  movdqu 32(%rsp), MSG02
  movdqu 48(%rsp), MSG03
  paddd MSG00, ABEF0
  paddd MSG01, CDGH0
  paddd MSG02, ABEF1
  paddd MSG03, CDGH1
  addq $64, OFFSET
  subq $1, NBLOCKS
  jnz .Lblock

  /* And back: by words, then the halves change places.
   *   ABEF0: a0 b0 e0 f0, ABEF1: a1 b1 e1 f1  ->  b1 b0 a1 a0 and f1 f0 e1 e0 */
  movdqa ABEF0, TMP
  punpckhdq ABEF1, TMP
  punpckldq ABEF1, ABEF0
  pshufd $0x4e, TMP, TMP
  pshufd $0x4e, ABEF0, ABEF0
  movdqu TMP, (STATE)
  movdqu ABEF0, 32(STATE)
  movdqa CDGH0, TMP
  punpckhdq CDGH1, TMP
  punpckldq CDGH1, CDGH0
  pshufd $0x4e, TMP, TMP
  pshufd $0x4e, CDGH0, CDGH0
  movdqu TMP, 16(STATE)
  movdqu CDGH0, 48(STATE)

  FC_CLEAR_XMM 0, 13
  movdqu WK, (%rsp)
  movdqu WK, 16(%rsp)
  movdqu WK, 32(%rsp)
  movdqu WK, 48(%rsp)
  addq $72, %rsp
  .cfi_adjust_cfa_offset -72
.Ldone:
  ret
FC_END(fc_sha256_lanes_shani)

FC_RODATA
.p2align 6
/* FIPS 180-4 section 4.2.2. */
.Lround_constants:
#include "sha256_constants.inc"
/* Reverses the bytes of each 32-bit lane. */
.Lbyte_swap:
  .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-1 compression function over a run of blocks, with the SHA extensions.
 *
 * Contract: kernels.h, op sha1_blocks
 * Needs: SHA_NI (sha1rnds4, sha1nexte, sha1msg1, sha1msg2), SSSE3 (pshufb); the rest is SSE2
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rdx, rsi, xmm0-xmm9; cleared xmm0-xmm8. xmm9 is the byte-swap mask; the general
 *   registers hold pointers and the count. No stack.
 *
 * Secret: the state, the data and the message schedule (xmm0-xmm8).
 * Public registers: rdi rsi rdx rax
 *
 * Loop: one block a turn, 80 rounds in 20 groups of four, the state in two registers throughout. One block in
 * flight: within a message each block waits for the one before it. The cost is the chain of 20 dependent
 * sha1rnds4, six cycles each on Zen 3: 120 cycles, and one for adding the old state. All else is placed in its
 * shadow, the words of the next block included, for which the last groups have registers free. After the last
 * block there is no next one: the loop loads the same block again and drops it, rather than read past the data.
 *
 * Measured on Zen 3, cycles a block in calls of 1, 4 and 256 blocks on one state: 131.5, 123.3, 120.7; the
 * code of OpenSSL 3.0 in the same process: 131.7, 123.3, 120.7.
 */
#include "fc_asm.h"

#define STATE %rdi
#define DATA %rsi
#define NBLOCKS %rdx
#define NEXT %rax

#define ABCD %xmm0 /* a in the highest lane */
#define E0 %xmm1   /* e, or e + W, in the highest lane; the two take turns */
#define E1 %xmm2
#define MSG0 %xmm3 /* the last 16 words of the schedule, four to a register, the first in the highest lane */
#define MSG1 %xmm4
#define MSG2 %xmm5
#define MSG3 %xmm6
#define OLD_ABCD %xmm7
#define OLD_E %xmm8
#define BSWAP %xmm9

/* Four words of the block at DATA, from big endian, the first in the highest lane. */
.macro LOAD offset, msg
  movdqu \offset(DATA), \msg
  pshufb BSWAP, \msg
.endm

/*
 * Rounds 4*group to 4*group+3 on W[t..t+3] in m0, t = 4*group. sha1nexte makes e + W from the a of four
 * rounds ago, which is in `e`; ABCD, the next such a, goes into `next_e`. In the shadow of sha1rnds4, the
 * steps towards later words, each as soon as m0 is known:
 *   groups 3-18:  m1 becomes W[t+4..t+7]
 *   groups 1-16:  sha1msg1 on m3, which is W[t-4..t-1] and will be W[t+12..t+15]
 *   groups 2-17:  the xor on m2, which will be W[t+8..t+11]
 *   groups 17-19: m3 is used up, and in the last group m0: in go the words of the next block
 */
.macro ROUNDS4 group, e, next_e, m0, m1, m2, m3
  .if \group == 0
  paddd \m0, \e
  .else
  sha1nexte \m0, \e
  .endif
  movdqa ABCD, \next_e
  .if \group >= 3 && \group <= 18
  sha1msg2 \m0, \m1
  .endif
  sha1rnds4 $(\group)/5, \e, ABCD
  .if \group >= 1 && \group <= 16
  sha1msg1 \m0, \m3
  .endif
  .if \group >= 2 && \group <= 17
  pxor \m0, \m2
  .endif
  .if \group == 17
  LOAD 0, \m3
  .endif
  .if \group == 18
  LOAD 16, \m3
  .endif
  .if \group == 19
  LOAD 32, \m3
  LOAD 48, \m0
  .endif
.endm

.macro ROUNDS16 group
  ROUNDS4 \group, E0, E1, MSG0, MSG1, MSG2, MSG3
  ROUNDS4 \group+1, E1, E0, MSG1, MSG2, MSG3, MSG0
  ROUNDS4 \group+2, E0, E1, MSG2, MSG3, MSG0, MSG1
  ROUNDS4 \group+3, E1, E0, MSG3, MSG0, MSG1, MSG2
.endm

FC_FUNC(fc_sha1_blocks_shani)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  movdqa .Lbyte_reverse(%rip), BSWAP
  LOAD 0, MSG0
  LOAD 16, MSG1
  LOAD 32, MSG2
  LOAD 48, MSG3
  /* From high to low: d c b a  ->  a b c d, and . . . e  ->  e 0 0 0 */
  movdqu (STATE), ABCD
  movd 16(STATE), E0
  pshufd $0x1b, ABCD, ABCD
  pslldq $12, E0

.p2align 6
.Lblock:
  leaq 64(DATA), NEXT
  subq $1, NBLOCKS
  cmovnzq NEXT, DATA
  movdqa ABCD, OLD_ABCD
  movdqa E0, OLD_E

  ROUNDS16 0
  ROUNDS16 4
  ROUNDS16 8
  ROUNDS16 12
  ROUNDS16 16

  sha1nexte OLD_E, E0
  paddd OLD_ABCD, ABCD
  jnz .Lblock /* the flags are those of subq still */

  pshufd $0x1b, ABCD, ABCD
  psrldq $12, E0
  movdqu ABCD, (STATE)
  movd E0, 16(STATE)
  FC_CLEAR_XMM 0, 8
.Ldone:
  ret
FC_END(fc_sha1_blocks_shani)

FC_RODATA
.p2align 6
/* Reverses all bytes: the words, and the bytes of each. */
.Lbyte_reverse:
  .byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function over a run of blocks, with the SHA extensions.
 *
 * Contract: kernels.h, op sha256_blocks
 * Needs: SHA_NI (sha256rnds2, sha256msg1, sha256msg2), SSSE3 (pshufb, palignr); the rest is SSE2
 * Arguments: state (rdi), data (rsi), number of blocks (rdx)
 * Registers: used rax, rcx, rdx, rsi, xmm0-xmm10; cleared xmm0-xmm9. xmm10 is the byte-swap mask;
 *   the general registers hold pointers and the count. No stack.
 *
 * Secret: the state, the data and the message schedule (xmm0-xmm9).
 * Public registers: rdi rsi rdx rcx rax
 *
 * Loop: one block a turn, 64 rounds in 16 groups of four, the state in two registers throughout.
 * One block in flight: within a message each block waits for the one before it. The cost is the
 * chain of 32 dependent sha256rnds2, four cycles each: 128 cycles, and one for adding the old state.
 * All else is placed in its shadow. The schedule is complete before the last three groups, so these
 * load and swap the words of the next block into the registers that have become free, and W + K of
 * its first group is ready before its state is. After the last block there is no next one: the loop
 * loads the same block again and drops it, rather than read past the data.
 *
 * Measured on Zen 3, cycles a block in calls of 1, 4 and 256 blocks on one state:
 * 140.9, 131.9, 129.0 (bench/native/sha256_blocks.c). Tried, and not used:
 *   - state to lanes by pshufd, palignr and pblendw, and back: 142.9, 132.4, 129.0. One shufps makes
 *     each register: two cycles less on the chain through the state, and no SSE4.1
 *   - a copy of the loop body for the last block, without the loads: 140.9, 131.9, 129.0 for twice
 *     the code
 *   - the first sha256msg1 of the next block in the last group too: 140.9, 131.9, 129.0 for one more
 *     register
 *   - loads at the top of the turn: 140.9, 131.9, 129.0. This core looks far enough ahead (256
 *     entries); early loads do not depend on that
 *   - punpckhqdq in place of pshufd to bring down the high half of W + K: 140.9, 131.9, 129.1
 */
#include "fc_asm.h"

#define STATE %rdi
#define DATA %rsi
#define NBLOCKS %rdx
#define NEXT %rax
#define K %rcx

#define WK %xmm0 /* W + K; sha256rnds2 takes two words of it from the low half of xmm0 */
#define ABEF %xmm1
#define CDGH %xmm2
#define MSG0 %xmm3 /* the last 16 words of the schedule, four to a register */
#define MSG1 %xmm4
#define MSG2 %xmm5
#define MSG3 %xmm6
#define TMP %xmm7
#define OLD_ABEF %xmm8
#define OLD_CDGH %xmm9
#define BSWAP %xmm10

/* Four words of the block at DATA, from big endian. */
.macro LOAD offset, msg
  movdqu \offset(DATA), \msg
  pshufb BSWAP, \msg
.endm

.macro ADD_K group, msg
  movdqa \msg, WK
  paddd 16*(\group)(K), WK
.endm

/*
 * Rounds 4*group to 4*group+3. With t = 4*group, m0 holds W[t..t+3] and m3 W[t-4..t-1]; m1 and m2
 * hold what sha256msg1 made of W[t-12..t-9] and W[t-8..t-5], W[i] + sigma0(W[i+1]) for each. Two
 * sha256rnds2 are the rounds. In their shadow:
 *   groups 3-14:  m1 becomes W[t+4..t+7]: add W[t-3..t], which is m0:m3 moved down by a word, then
 *                 sha256msg2 adds sigma1
 *   groups 1-12:  sha256msg1 on m3, since the word after its last, W[t], is known
 *   groups 13-15: m3 is used up, and in the last group m0: in go the words of the next block
 * ADD_K for group 0 is up to whoever loaded the block.
 */
.macro ROUNDS4 group, m0, m1, m2, m3
  .if \group > 0
  ADD_K \group, \m0
  .endif
  sha256rnds2 ABEF, CDGH
  .if \group >= 3 && \group <= 14
  movdqa \m0, TMP
  palignr $4, \m3, TMP
  paddd TMP, \m1
  sha256msg2 \m0, \m1
  .endif
  /* WK, lanes from high to low: w3 w2 w1 w0  ->  w0 w0 w3 w2 */
  pshufd $0x0e, WK, WK
  sha256rnds2 CDGH, ABEF
  .if \group >= 1 && \group <= 12
  sha256msg1 \m0, \m3
  .endif
  .if \group == 13
  LOAD 0, \m3
  .endif
  .if \group == 14
  LOAD 16, \m3
  .endif
  .if \group == 15
  LOAD 32, \m3
  LOAD 48, \m0
  .endif
.endm

.macro ROUNDS16 group
  ROUNDS4 \group, MSG0, MSG1, MSG2, MSG3
  ROUNDS4 \group+1, MSG1, MSG2, MSG3, MSG0
  ROUNDS4 \group+2, MSG2, MSG3, MSG0, MSG1
  ROUNDS4 \group+3, MSG3, MSG0, MSG1, MSG2
.endm

FC_FUNC(fc_sha256_blocks_shani)
  testq NBLOCKS, NBLOCKS
  jz .Ldone
  leaq .Lround_constants(%rip), K
  movdqa .Lbyte_swap(%rip), BSWAP
  LOAD 0, MSG0
  LOAD 16, MSG1
  LOAD 32, MSG2
  LOAD 48, MSG3
  ADD_K 0, MSG0

  /* From high to low again. TMP: d c b a, CDGH: h g f e  ->  ABEF: a b e f, CDGH: c d g h */
  movups (STATE), TMP
  movups 16(STATE), CDGH
  movaps CDGH, ABEF
  shufps $0x11, TMP, ABEF
  shufps $0xbb, TMP, CDGH

.p2align 6
.Lblock:
  leaq 64(DATA), NEXT
  subq $1, NBLOCKS
  cmovnzq NEXT, DATA
  movdqa ABEF, OLD_ABEF
  movdqa CDGH, OLD_CDGH

  ROUNDS16 0
  ROUNDS16 4
  ROUNDS16 8
  ROUNDS16 12

  ADD_K 0, MSG0
  paddd OLD_CDGH, CDGH
  paddd OLD_ABEF, ABEF
  testq NBLOCKS, NBLOCKS
  jnz .Lblock

  /* And back. ABEF: a b e f, CDGH: c d g h  ->  TMP: d c b a, ABEF: h g f e */
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
/* FIPS 180-4 section 4.2.2. */
.Lround_constants:
  .long 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5
  .long 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5
  .long 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3
  .long 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174
  .long 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc
  .long 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
  .long 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7
  .long 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967
  .long 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13
  .long 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85
  .long 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3
  .long 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
  .long 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5
  .long 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3
  .long 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208
  .long 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
/* Reverses the bytes of each 32-bit lane. */
.Lbyte_swap:
  .byte 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12

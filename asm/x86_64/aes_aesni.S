/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES-128/192/256 with AES-NI and GHASH with PCLMULQDQ: key schedule, ECB, CBC, CTR (this file), CBC
 * of many chains (aes_aesni_cbc_many.inc), XTS (aes_aesni_xts.inc) and GCM (aes_aesni_gcm.inc).
 *
 * Contract: kernels.h, the ops of an AES suite; layout fips.
 *
 * Needs: AES (aesenc, aesenclast, aesdec, aesdeclast, aesimc), PCLMULQDQ (pclmulqdq), SSSE3
 *   (pshufb), SSE4.1 (pinsrb, pinsrq, pextrb, pextrd, pextrw to memory). SSE encodings only: the OS
 *   need not save ymm, and a caller that uses AVX pays no transition.
 *
 * Arguments: role (register) in the head of each function. Once they are in place the roles of the
 *   registers are the same in the whole suite, see "Roles".
 *
 * Registers: xmm0-xmm15 and the caller-saved general registers; no stack but for return addresses,
 *   public pointers (CBC of many chains) and tweaks (XTS), which are cleared. Every function clears the vector registers it used, but for xmm15, which holds a counter or a
 *   ciphertext block at the end. General registers never hold a secret.
 *
 * Secret: all that the pointers point to, but for counter, j0, aad, the lengths and rounds.
 * Public registers: rax rcx rdx rsi rdi r8 r9 r10 r11
 *
 * Structure: ECB, CTR, CBC decryption and GCM keep 8 blocks in flight. aesenc has a latency of 4
 *   (or 3) cycles and there are two pipes for it (or one), so 8 fill the pipes and 6 leave a
 *   quarter of them idle. With 8 states there is room for the key of the round, loaded once for
 *   all, the counter, three sums of GHASH and three temporaries: 16 registers, nothing is spilled.
 *   CBC encryption is one chain and runs at the latency of its rounds alone, see there.
 *   AES-256 on Zen 3, cycles for 8 blocks, where the pipes allow 56: ECB 56, CTR 58, CBC decryption
 *   58, GCM 96. CBC encryption: 56 for one block, which is the latency of its rounds.
 *
 * Tried and rejected (for GCM see aes_aesni_gcm.inc):
 *   - Counter-mode caching: the counters of a batch differ in one byte, hence after the first round
 *     in one column, which can be computed for four blocks at once and inserted. Five aesenc of 112
 *     less, but a longer way to the second round: CTR 62 cycles instead of 58.
 *   - Round keys as memory operands of aesenc: no faster, and 1 to 2 % slower where another thread
 *     shares the core.
 */
#include "fc_asm.h"

/* ---- Roles ---------------------------------------------------------------------------------- */

/* The states of 8 blocks. S7 is E(J0) where a message of GCM ends. */
#define S0 %xmm0
#define S1 %xmm1
#define S2 %xmm2
#define S3 %xmm3
#define S4 %xmm4
#define S5 %xmm5
#define S6 %xmm6
#define S7 %xmm7
/* GHASH: low, high and middle products of Karatsuba's method. Between reductions HI holds Y. */
#define LO %xmm8
#define HI %xmm9
#define MID %xmm10
/* A block of data, and temporaries. */
#define BLOCK %xmm11
#define T0 %xmm12
#define T1 %xmm13
/* The key of the current round. */
#define RK %xmm14
/* The counter block of CTR and GCM, or the chaining value of CBC. */
#define CTR %xmm15
#define CHAIN %xmm15

/* The second to the sixth argument; the first is KEY and stays where it is. */
#define ARG2 %rsi
#define ARG3 %rdx
#define ARG4 %rcx
#define ARG5 %r8
#define ARG6 %r9

#define KEY %rdi
#define IN %rsi
#define OUT %rdx
#define LEN %rcx
#define LEN32 %ecx
#define TMP %rax
#define TMP32 %eax

/* struct fc_aes_key */
#define ENC_KEYS 0
#define DEC_KEYS 240
#define ROUNDS 960

/* ---- Constants ------------------------------------------------------------------------------ */

FC_RODATA
.p2align 6
/* Reverses the bytes of a block: between the order of the standard and a number in a register. */
.Lbyte_reverse:
.byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
/* 1 to 8 added to the last byte of a big-endian counter. */
.Lcount:
.irp n, 1, 2, 3, 4, 5, 6, 7, 8
.long 0, 0, 0, \n << 24
.endr
/* At .Lshift_bytes + 16 - n: pshufb moves bytes up by n; at + 16 + n: down by n; zeros come in. */
.Lshift_bytes:
.fill 16, 1, 0x80
.byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
.fill 16, 1, 0x80
/* At .Lfirst_bytes + 16 - n: a mask of the first n bytes. */
.Lfirst_bytes:
.fill 16, 1, 0xff
.fill 16, 1, 0

#define BYTE_REVERSE .Lbyte_reverse(%rip)
/* COUNT(n): the constant n of .Lcount. */
#define COUNT(n) .Lcount + 16 * (n) - 16(%rip)

.text

/* ---- Blocks in flight ----------------------------------------------------------------------- */

.macro ALL8 op, src
  \op \src, S0
  \op \src, S1
  \op \src, S2
  \op \src, S3
  \op \src, S4
  \op \src, S5
  \op \src, S6
  \op \src, S7
.endm

/* Half the work for short data, which takes less time where there is one AES pipe. */
.macro ALL4 op, src
  \op \src, S0
  \op \src, S1
  \op \src, S2
  \op \src, S3
.endm

.macro LOAD8
  movdqu 0x00(IN), S0
  movdqu 0x10(IN), S1
  movdqu 0x20(IN), S2
  movdqu 0x30(IN), S3
  movdqu 0x40(IN), S4
  movdqu 0x50(IN), S5
  movdqu 0x60(IN), S6
  movdqu 0x70(IN), S7
.endm

.macro STORE8
  movdqu S0, 0x00(OUT)
  movdqu S1, 0x10(OUT)
  movdqu S2, 0x20(OUT)
  movdqu S3, 0x30(OUT)
  movdqu S4, 0x40(OUT)
  movdqu S5, 0x50(OUT)
  movdqu S6, 0x60(OUT)
  movdqu S7, 0x70(OUT)
.endm

/* Load LEN blocks, 1 to 7. The other states keep what they hold. */
.macro LOAD_UP_TO_7
  movdqu 0x00(IN), S0
  cmpq $2, LEN
  jb 79f
  movdqu 0x10(IN), S1
  je 79f
  movdqu 0x20(IN), S2
  cmpq $4, LEN
  jb 79f
  movdqu 0x30(IN), S3
  je 79f
  movdqu 0x40(IN), S4
  cmpq $6, LEN
  jb 79f
  movdqu 0x50(IN), S5
  je 79f
  movdqu 0x60(IN), S6
79:
.endm

.macro ADVANCE bytes
  addq $\bytes, IN
  addq $\bytes, OUT
.endm

/* The blocks move down by one, so that a loop over them finds the next in S0. S7 stays. */
.macro NEXT_STATE
  movdqa S1, S0
  movdqa S2, S1
  movdqa S3, S2
  movdqa S4, S3
  movdqa S5, S4
  movdqa S6, S5
  movdqa S7, S6
.endm

/* ---- Rounds --------------------------------------------------------------------------------- */

/*
 * The rounds after the ninth but for the last one, whose key is left in RK: none, two or four, by
 * the public number of rounds. \width is ALL8 or one of its smaller sisters.
 */
.macro LATE_ROUNDS width, op, keys
  movaps \keys + 16 * 10(KEY), RK
  cmpl $12, ROUNDS(KEY)
  jb 78f
  \width \op, RK
  movaps \keys + 16 * 11(KEY), RK
  \width \op, RK
  movaps \keys + 16 * 12(KEY), RK
  je 78f
  \width \op, RK
  movaps \keys + 16 * 13(KEY), RK
  \width \op, RK
  movaps \keys + 16 * 14(KEY), RK
78:
.endm

/* All rounds but the last, whose key is left in RK. */
.macro CIPHER width, op, keys
  movaps \keys(KEY), RK
  \width pxor, RK
  .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9
  movaps \keys + 16 * \n(KEY), RK
  \width \op, RK
  .endr
  LATE_ROUNDS \width, \op, \keys
.endm

/* ---- Arguments ------------------------------------------------------------------------------ */

/* (key, chaining value, in, out, length) into KEY, VALUE, IN, OUT and LEN. */
#define VALUE %r10
.macro FIVE_ARGUMENTS
  movq ARG2, VALUE
  movq ARG3, IN
  movq ARG4, OUT
  movq ARG5, LEN
.endm

/* ---- The last bytes of a message ------------------------------------------------------------ */

/*
 * BLOCK = the LEN bytes, 1 to 15, at IN, and zeros. Two loads that may overlap, one from each end;
 * the second is moved up to where it belongs:
 *
 *   LEN = 11, byte:   0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
 *   from IN           a b c d e f g h . .  .  .  .  .  .  .
 *   from IN + LEN - 8 d e f g h i j k . .  .  .  .  .  .  .   up by LEN - 8 = 3:
 *                     . . . d e f g h i j  k  .  .  .  .  .   or
 *
 * Changes T0, T1, TMP.
 */
FC_LOCAL_FUNC(aesni_load_partial)
  leaq .Lshift_bytes(%rip), TMP
  subq LEN, TMP
  cmpq $4, LEN
  jb 2f
  cmpq $8, LEN
  jb 1f
  movq (IN), BLOCK
  movq -8(IN, LEN), T1
  movdqu 16 + 8(TMP), T0
  jmp 4f
1:
  movd (IN), BLOCK
  movd -4(IN, LEN), T1
  movdqu 16 + 4(TMP), T0
  jmp 4f
2:
  pxor BLOCK, BLOCK
  cmpq $2, LEN
  jb 3f
  pxor T1, T1
  pinsrw $0, (IN), BLOCK
  pinsrw $0, -2(IN, LEN), T1
  movdqu 16 + 2(TMP), T0
  jmp 4f
3:
  pinsrb $0, (IN), BLOCK
  ret
4:
  pshufb T0, T1
  por T1, BLOCK
  ret
FC_END(aesni_load_partial)

/* Store the first LEN bytes, 1 to 15, of BLOCK at OUT: the mirror image. Changes T0, T1, TMP. */
FC_LOCAL_FUNC(aesni_store_partial)
  leaq .Lshift_bytes + 16(%rip), TMP
  movdqa BLOCK, T1
  cmpq $4, LEN
  jb 2f
  cmpq $8, LEN
  jb 1f
  movdqu -8(TMP, LEN), T0
  pshufb T0, T1
  movq BLOCK, (OUT)
  movq T1, -8(OUT, LEN)
  ret
1:
  movdqu -4(TMP, LEN), T0
  pshufb T0, T1
  movd BLOCK, (OUT)
  movd T1, -4(OUT, LEN)
  ret
2:
  pextrb $0, BLOCK, (OUT)
  cmpq $2, LEN
  jb 3f
  movdqu -2(TMP, LEN), T0
  pshufb T0, T1
  pextrw $0, T1, -2(OUT, LEN)
3:
  ret
FC_END(aesni_store_partial)

/* ---- Key schedule --------------------------------------------------------------------------- */

/*
 * void fc_aes_expand_key_aesni(struct fc_aes_key *key, const uint8_t *bytes, size_t key_len)
 * Arguments: KEY (rdi), BYTES (rsi), KEY_LEN (rdx), which becomes a pointer into the round keys.
 *
 * SubWord by aesenclast: a word in all four columns makes ShiftRows do nothing, so that what comes
 * out is SubWord of it, with the round constant added as the round key. pshufb rotates and copies
 * the word in one step. The chain of a round is pshufb, aesenclast, pxor: 6 cycles on Zen 3, as
 * many as with aeskeygenassist, pshufd, pxor; on Intel aeskeygenassist is microcode of 13 steps and
 * loses.
 */
#define BYTES %rsi
#define KEY_LEN %rdx
#define NEXT %rdx
#define RCON %rax
#define LIMIT %rcx
#define WORDS %xmm0    /* four words of the schedule */
#define HIGH_WORDS %xmm1 /* AES-256: the next four; AES-192: the next two */
#define SUB %xmm2
#define SHIFTED %xmm3
#define ROTATE %xmm4
#define ZERO %xmm5

FC_RODATA
.p2align 4
/* RotWord of the last word of four, in all columns; and of the second. */
.Lrotate_word3:
.byte 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12
.Lrotate_word1:
.byte 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4
.Lrcon:
.irp n, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
.long \n, \n, \n, \n
.endr
.text

/*
 * Every word of \words becomes the sum of itself and those before it:
 *   w0 w1 w2 w3 -> w0  w0^w1  w0^w1^w2  w0^w1^w2^w3
 */
.macro SUM_WORDS words
  movdqa \words, SHIFTED
  pslldq $4, SHIFTED
  pxor SHIFTED, \words
  movdqa \words, SHIFTED
  pslldq $8, SHIFTED
  pxor SHIFTED, \words
.endm

/* \words = the next four words, where \from holds the word before them in the place of ROTATE. */
.macro NEXT_WORDS words, from
  movdqa \from, SUB
  pshufb ROTATE, SUB
  aesenclast (RCON), SUB
  SUM_WORDS \words
  pxor SUB, \words
  addq $16, RCON
.endm

FC_FUNC(fc_aes_expand_key_aesni)
  pxor ZERO, ZERO
  movq $0, ROUNDS + 8(KEY)
  movdqu (BYTES), WORDS
  movdqa .Lrotate_word3(%rip), ROTATE
  leaq .Lrcon(%rip), RCON
  movaps WORDS, (KEY)
  cmpq $24, KEY_LEN
  je 4f
  ja 6f

  movq $10, ROUNDS(KEY)
  leaq 16(KEY), NEXT
  leaq 16 * 11(KEY), LIMIT
3: /* AES-128: four words a time */
  NEXT_WORDS WORDS, WORDS
  movaps WORDS, (NEXT)
  addq $16, NEXT
  cmpq LIMIT, NEXT
  jb 3b
  jmp 8f

4: /* AES-192: six words a time, the last time four */
  movdqa .Lrotate_word1(%rip), ROTATE
  movq 16(BYTES), HIGH_WORDS
  movq $12, ROUNDS(KEY)
  movq HIGH_WORDS, 16(KEY)
  leaq 24(KEY), NEXT
  leaq 24 * 8(KEY), LIMIT
5:
  NEXT_WORDS WORDS, HIGH_WORDS
  movdqu WORDS, (NEXT)
  cmpq LIMIT, NEXT
  jae 8f
  /* Words 4 and 5: w4 ^ w3', w4 ^ w5 ^ w3'; the two above them are of no account. */
  movdqa HIGH_WORDS, SHIFTED
  pslldq $4, SHIFTED
  pxor SHIFTED, HIGH_WORDS
  pshufd $0xff, WORDS, SHIFTED
  pxor SHIFTED, HIGH_WORDS
  movq HIGH_WORDS, 16(NEXT)
  addq $24, NEXT
  jmp 5b

6: /* AES-256: four words with RotWord and a round constant, four without */
  movdqu 16(BYTES), HIGH_WORDS
  movq $14, ROUNDS(KEY)
  movaps HIGH_WORDS, 16(KEY)
  leaq 32(KEY), NEXT
  leaq 16 * 14(KEY), LIMIT
7:
  NEXT_WORDS WORDS, HIGH_WORDS
  movaps WORDS, (NEXT)
  cmpq LIMIT, NEXT
  jae 8f
  pshufd $0xff, WORDS, SUB
  aesenclast ZERO, SUB
  SUM_WORDS HIGH_WORDS
  pxor SUB, HIGH_WORDS
  movaps HIGH_WORDS, 16(NEXT)
  addq $32, NEXT
  jmp 7b

8: /* Decryption: the same keys backwards, all but the first and the last through InvMixColumns. */
  movl ROUNDS(KEY), TMP32
  shlq $4, TMP
  leaq DEC_KEYS(KEY, TMP), NEXT
  leaq DEC_KEYS(KEY), LIMIT
  movaps (KEY), WORDS
  movaps (KEY, TMP), HIGH_WORDS
  movaps WORDS, (NEXT)
  movaps HIGH_WORDS, (LIMIT)
  leaq 16(KEY), TMP
  subq $16, NEXT
9:
  movaps (TMP), WORDS
  aesimc WORDS, WORDS
  movaps WORDS, (NEXT)
  addq $16, TMP
  subq $16, NEXT
  cmpq LIMIT, NEXT
  ja 9b

  /* Zeros for the keys that fewer rounds lack, both directions at once, and from there on. */
  jmp 2f
1:
  movaps ZERO, ENC_KEYS(TMP)
  movaps ZERO, DEC_KEYS(TMP)
2:
  addq $16, TMP
  cmpq LIMIT, TMP
  jb 1b
  leaq DEC_KEYS(LIMIT), TMP
  leaq ROUNDS(KEY), LIMIT
3:
  movaps ZERO, 0x00(TMP)
  movaps ZERO, 0x10(TMP)
  addq $32, TMP
  cmpq LIMIT, TMP
  jb 3b

  FC_CLEAR_XMM 0, 5
  ret
FC_END(fc_aes_expand_key_aesni)

/* ---- ECB ------------------------------------------------------------------------------------ */

/* Arguments: KEY (rdi), IN (rsi), OUT (rdx), LEN (rcx), here in blocks. */
.macro ECB op, op_last, keys
  subq $8, LEN
  jb 2f
  .p2align 6
1:
  LOAD8
  CIPHER ALL8, \op, \keys
  ALL8 \op_last, RK
  STORE8
  ADVANCE 128
  subq $8, LEN
  jae 1b
2:
  addq $8, LEN
  jz 6f
  LOAD_UP_TO_7
  cmpq $4, LEN
  ja 3f
  CIPHER ALL4, \op, \keys
  ALL4 \op_last, RK
  jmp 4f
3:
  CIPHER ALL8, \op, \keys
  ALL8 \op_last, RK
4:
  movdqu S0, (OUT)
  NEXT_STATE
  addq $16, OUT
  decq LEN
  jnz 4b
6:
  FC_CLEAR_XMM 0, 7
  pxor RK, RK
  ret
.endm

/* void fc_aes_ecb_encrypt_aesni(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_encrypt_aesni)
  ECB aesenc, aesenclast, ENC_KEYS
FC_END(fc_aes_ecb_encrypt_aesni)

/* void fc_aes_ecb_decrypt_aesni(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_decrypt_aesni)
  ECB aesdec, aesdeclast, DEC_KEYS
FC_END(fc_aes_ecb_decrypt_aesni)

/* ---- CBC ------------------------------------------------------------------------------------ */

/*
 * void fc_aes_cbc_encrypt_aesni(const struct fc_aes_key *key, iv, in, out, size_t nblocks)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8), in blocks.
 *
 * One chain, nothing but rounds on it: the next block's plaintext and first round key are added to
 * the last round key, off the chain, so that aesenclast yields the next state, and the ciphertext
 * is had by taking them away again, also off the chain.
 */
#define CHAIN_STATE S0
#define NEXT_IN S1 /* next plaintext block ^ first round key */
#define FIRST_KEY S2
#define LAST_KEY S3

.macro CHAIN_ROUNDS
  .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9
  aesenc ENC_KEYS + 16 * \n(KEY), CHAIN_STATE
  .endr
  cmpl $12, ROUNDS(KEY)
  jb 78f
  aesenc ENC_KEYS + 16 * 10(KEY), CHAIN_STATE
  aesenc ENC_KEYS + 16 * 11(KEY), CHAIN_STATE
  je 78f
  aesenc ENC_KEYS + 16 * 12(KEY), CHAIN_STATE
  aesenc ENC_KEYS + 16 * 13(KEY), CHAIN_STATE
78:
.endm

FC_FUNC(fc_aes_cbc_encrypt_aesni)
  FIVE_ARGUMENTS
  testq LEN, LEN
  jz 3f
  movl ROUNDS(KEY), TMP32
  shlq $4, TMP
  movaps (KEY), FIRST_KEY
  movaps (KEY, TMP), LAST_KEY
  movdqu (VALUE), CHAIN_STATE
  movdqu (IN), NEXT_IN
  pxor FIRST_KEY, CHAIN_STATE
  pxor NEXT_IN, CHAIN_STATE
  decq LEN
  jz 2f
  .p2align 6
1:
  movdqu 16(IN), NEXT_IN
  pxor FIRST_KEY, NEXT_IN
  movdqa NEXT_IN, BLOCK
  pxor LAST_KEY, BLOCK
  CHAIN_ROUNDS
  aesenclast BLOCK, CHAIN_STATE
  pxor CHAIN_STATE, NEXT_IN
  movdqu NEXT_IN, (OUT)
  ADVANCE 16
  decq LEN
  jnz 1b
2:
  CHAIN_ROUNDS
  aesenclast LAST_KEY, CHAIN_STATE
  movdqu CHAIN_STATE, (OUT)
  movdqu CHAIN_STATE, (VALUE)
  FC_CLEAR_XMM 0, 3
  pxor BLOCK, BLOCK
3:
  ret
FC_END(fc_aes_cbc_encrypt_aesni)

/* \state = decrypted block \n ^ ciphertext block \n - 1, by way of the last round key. */
.macro CBC_LAST n, state
  movdqu 16 * \n - 16(IN), T0
  pxor RK, T0
  aesdeclast T0, \state
.endm

/*
 * void fc_aes_cbc_decrypt_aesni(const struct fc_aes_key *key, iv, in, out, size_t nblocks)
 * Arguments: as fc_aes_cbc_encrypt_aesni. In place: all of a batch is read before any is written.
 */
FC_FUNC(fc_aes_cbc_decrypt_aesni)
  FIVE_ARGUMENTS
  testq LEN, LEN
  jz 7f
  movdqu (VALUE), CHAIN
  subq $8, LEN
  jb 2f
  .p2align 6
1:
  LOAD8
  CIPHER ALL8, aesdec, DEC_KEYS
  pxor RK, CHAIN
  aesdeclast CHAIN, S0
  CBC_LAST 1, S1
  CBC_LAST 2, S2
  CBC_LAST 3, S3
  CBC_LAST 4, S4
  CBC_LAST 5, S5
  CBC_LAST 6, S6
  CBC_LAST 7, S7
  movdqu 16 * 7(IN), CHAIN
  STORE8
  ADVANCE 128
  subq $8, LEN
  jae 1b
2:
  addq $8, LEN
  jz 6f
  LOAD_UP_TO_7
  cmpq $4, LEN
  ja 3f
  CIPHER ALL4, aesdec, DEC_KEYS
  ALL4 aesdeclast, RK
  jmp 4f
3:
  CIPHER ALL8, aesdec, DEC_KEYS
  ALL8 aesdeclast, RK
4:
  movdqu (IN), BLOCK
  pxor CHAIN, S0
  movdqa BLOCK, CHAIN
  movdqu S0, (OUT)
  NEXT_STATE
  ADVANCE 16
  decq LEN
  jnz 4b
6:
  movdqu CHAIN, (VALUE)
  FC_CLEAR_XMM 0, 7
  FC_CLEAR_XMM 11, 15
7:
  ret
FC_END(fc_aes_cbc_decrypt_aesni)

/* ---- CTR ------------------------------------------------------------------------------------ */

/* The counter as a number, and as the next block to use in CTR. */
#define COUNT_LO %r8
#define COUNT_LO8 %r8b
#define COUNT_HI %r9
#define CARRY %r11

/* The next 8 counters, if their last bytes do not overflow (31 times of 32); else to \carry. */
.macro CTR_COUNTERS carry
  cmpb $0x100 - 8, COUNT_LO8
  jae \carry
  movdqa CTR, S0
  movdqa CTR, S1
  movdqa CTR, S2
  movdqa CTR, S3
  movdqa CTR, S4
  movdqa CTR, S5
  movdqa CTR, S6
  movdqa CTR, S7
  paddd COUNT(1), S1
  paddd COUNT(2), S2
  paddd COUNT(3), S3
  paddd COUNT(4), S4
  paddd COUNT(5), S5
  paddd COUNT(6), S6
  paddd COUNT(7), S7
  paddd COUNT(8), CTR
  addq $8, COUNT_LO
.endm

/* \block = COUNT_HI:COUNT_LO, big-endian. */
.macro COUNTER_BLOCK block
  movq COUNT_HI, TMP
  bswapq TMP
  movq TMP, \block
  movq COUNT_LO, TMP
  bswapq TMP
  pinsrq $1, TMP, \block
.endm

.macro NEXT_COUNTER_BLOCK block
  COUNTER_BLOCK \block
  addq $1, COUNT_LO
  adcq $0, COUNT_HI
.endm

/* As CTR_COUNTERS, for any counter. */
FC_LOCAL_FUNC(aesni_ctr_carry)
  NEXT_COUNTER_BLOCK S0
  NEXT_COUNTER_BLOCK S1
  NEXT_COUNTER_BLOCK S2
  NEXT_COUNTER_BLOCK S3
  NEXT_COUNTER_BLOCK S4
  NEXT_COUNTER_BLOCK S5
  NEXT_COUNTER_BLOCK S6
  NEXT_COUNTER_BLOCK S7
  COUNTER_BLOCK CTR
  ret
FC_END(aesni_ctr_carry)

/* \state = last round of \state ^ data block \n, and out with it. */
.macro CRYPT_BLOCK n, state
  movdqu 16 * \n(IN), BLOCK
  pxor RK, BLOCK
  aesenclast BLOCK, \state
  movdqu \state, 16 * \n(OUT)
.endm

.macro CRYPT8
  CRYPT_BLOCK 0, S0
  CRYPT_BLOCK 1, S1
  CRYPT_BLOCK 2, S2
  CRYPT_BLOCK 3, S3
  CRYPT_BLOCK 4, S4
  CRYPT_BLOCK 5, S5
  CRYPT_BLOCK 6, S6
  CRYPT_BLOCK 7, S7
.endm

/*
 * LEN bytes, 0 to 127, ^ the key stream in S0 onwards. Clobbers IN, OUT, LEN, the states but S7.
 */
FC_LOCAL_FUNC(aesni_xor_tail)
  subq $16, LEN
  jb 2f
1:
  movdqu (IN), BLOCK
  pxor S0, BLOCK
  movdqu BLOCK, (OUT)
  NEXT_STATE
  ADVANCE 16
  subq $16, LEN
  jae 1b
2:
  addq $16, LEN
  jz 3f
  call aesni_load_partial
  pxor S0, BLOCK
  call aesni_store_partial
3:
  ret
FC_END(aesni_xor_tail)

/*
 * void fc_aes_ctr_aesni(const struct fc_aes_key *key, counter, in, out, size_t len)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8).
 */
FC_FUNC(fc_aes_ctr_aesni)
  FIVE_ARGUMENTS
  testq LEN, LEN
  jz 9f
  movdqu (VALUE), CTR
  movq (VALUE), COUNT_HI
  movq 8(VALUE), COUNT_LO
  bswapq COUNT_HI
  bswapq COUNT_LO
  cmpq $128, LEN
  jb 4f
  .p2align 6
1:
  CTR_COUNTERS 3f
2:
  CIPHER ALL8, aesenc, ENC_KEYS
  CRYPT8
  ADVANCE 128
  subq $128, LEN
  cmpq $128, LEN
  jae 1b
  jmp 4f
3:
  call aesni_ctr_carry
  jmp 2b

4: /* The counter after the last block, begun or whole. */
  leaq 15(LEN), TMP
  shrq $4, TMP
  movq COUNT_HI, CARRY
  addq COUNT_LO, TMP
  adcq $0, CARRY
  bswapq TMP
  bswapq CARRY
  movq CARRY, (VALUE)
  movq TMP, 8(VALUE)
  testq LEN, LEN
  jz 8f
  CTR_COUNTERS 5f
  jmp 6f
5:
  call aesni_ctr_carry
6:
  cmpq $64, LEN
  ja 7f
  CIPHER ALL4, aesenc, ENC_KEYS
  ALL4 aesenclast, RK
  call aesni_xor_tail
  jmp 8f
7:
  CIPHER ALL8, aesenc, ENC_KEYS
  ALL8 aesenclast, RK
  call aesni_xor_tail
8:
  FC_CLEAR_XMM 0, 7
  FC_CLEAR_XMM 11, 14
9:
  ret
FC_END(fc_aes_ctr_aesni)

#include "aes_aesni_cbc_many.inc"
#include "aes_aesni_xts.inc"
#include "aes_aesni_gcm.inc"

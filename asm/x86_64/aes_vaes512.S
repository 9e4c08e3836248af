/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES-128/192/256 with VAES and GHASH with VPCLMULQDQ on zmm registers: ECB, CBC decryption, CTR,
 * GHASH and GCM, for short messages too, and CBC encryption of many chains. Key schedules, CBC
 * encryption of one chain and XTS are those of the aesni suite.
 *
 * Contract: kernels.h, the ops of an AES suite; layout fips.
 *
 * Needs: VAES (vaesenc, vaesenclast, vaesdec, vaesdeclast on zmm), VPCLMULQDQ (vpclmulqdq on zmm),
 *   AVX512F (vpternlogq, vbroadcasti32x4, valignq, vextracti64x4, the rest on zmm), AVX512BW
 *   (vmovdqu8, vpshufb on zmm, kmovq), AVX512VL (vmovdqu64, vpxorq on xmm), AVX2 (vpxor on ymm,
 *   vextracti128, vinserti128), AVX (vpxor on xmm, vzeroupper), and what aes_aesni.S needs.
 *
 * Arguments: role (register) in the head of each function. General registers have the roles of
 *   aes_aesni.S.
 *
 * Registers: zmm0-zmm31, k1 and the caller-saved general registers; no stack but for return
 *   addresses and in CBC encryption of many chains, which clears it. Every function clears all
 *   vector registers. k1 is a mask of a length. General registers never hold a secret.
 *
 * Secret: all that the pointers point to, but for counter, j0, aad, the lengths and rounds.
 * Public registers: rax rcx rdx rsi rdi r8 r9 r10 r11
 *
 * Structure: 32 blocks in flight, four in each of 8 states, which fills two pipes at a latency of 4
 *   (Zen 5) and more than fills one (Intel; Zen 4, by halves). All round keys stay in registers, in
 *   every lane: 15 broadcasts at the start are the whole set-up, so there is one path for all
 *   lengths. What is left after batches of 512 bytes goes four blocks a time through a loop without
 *   a dependency from turn to turn but for sums, which the processor overlaps by itself; the last 1
 *   to 63 bytes are loaded and stored under a mask, which keeps what lies beside them from being
 *   read or written. GCM hashes four blocks between two rounds and reduces once a batch: in all
 *   lanes, whose sum is Y. A message whose AAD, data and block of lengths are 36 blocks at most has
 *   one reduction.
 *
 *   This file has not been timed: it was written where no processor has AVX-512, and has run under
 *   an emulator (tests/emulated/bochs). What is known is counted. Of two vector ports that Intel's
 *   processors have for zmm, one has AES and the other vpclmulqdq and byte shuffles. In bulk, four
 *   blocks of GCM take 14 instructions on the first with AES-256 (10 with AES-128), 5 on the second
 *   and 5 and a share of the reduction on either: AES is the limit with 256 bits, and both ports
 *   are full, 11 cycles against 10, with 128. Instructions for one message, AES-256, as against
 *   vaes256: 16 bytes 213 (261), 256 bytes 324 (535), 1350 bytes 917 (1748), 16 KiB 7887 (16971);
 *   CTR of 16 KiB 5088 (10994); for the powers of a key 220 (380).
 *
 * struct fc_ghash_key: see aes_aesni_gcm.inc for the form of a power
 *   [  0, 576)  H^36, H^35, ... H^1: the block that is hashed i-th of n uses H^(n-i), so n blocks
 *               start at power n and go upwards in memory, four a time
 *   [576, 1024) zero; 48 bytes of it are read as powers for blocks after the last, which are zero
 *
 * Decided by count, not by measurement:
 *   - Schoolbook multiplication, four vpclmulqdq: Karatsuba's method takes three, but one more on
 *     the same port to swap the halves and another to add them, and another 512 bytes a key.
 *   - 8 states, not 4: with 4, Intel's latency of 3 is covered but Zen 5 is half idle.
 *   - Two reductions, of 16 blocks: 10 instructions more for each.
 */
#include "fc_asm.h"

/* ---- Roles ---------------------------------------------------------------------------------- */

/* The states of 32 blocks: the first four in S0, the lowest one first. */
#define S0 %zmm0
#define S1 %zmm1
#define S2 %zmm2
#define S3 %zmm3
#define S4 %zmm4
#define S5 %zmm5
#define S6 %zmm6
#define S7 %zmm7
/* GCM: E(J0), from the tail of a message on. */
#define EJ0 %zmm7
#define EJ0X %xmm7
/* GHASH: low, high and middle products. Between reductions HI holds Y, in its lowest lane. */
#define LO %zmm8
#define HI %zmm9
#define HIX %xmm9
#define HIY %ymm9
#define MID %zmm10
/* Four blocks of data, and temporaries. */
#define BLOCK %zmm11
#define BLOCKX %xmm11
#define T0 %zmm12
#define T0X %xmm12
#define T0Y %ymm12
#define T1 %zmm13
#define T2 %zmm16
/* Four powers of H. */
#define FACTOR %zmm14
#define FACTORX %xmm14
/* The next four counters, bytes reversed but for the bulk loops; CBC: the ciphertext before. */
#define CTR %zmm15
#define CTRX %xmm15
#define CHAIN %zmm15
/* CBC: the last block of the ciphertext. */
#define NEW_VALUE %xmm16
/* The round keys in all lanes; the last of 11, 13 or 15 in KL. */
#define K0 %zmm17
#define K1 %zmm18
#define K2 %zmm19
#define K3 %zmm20
#define K4 %zmm21
#define K5 %zmm22
#define K6 %zmm23
#define K7 %zmm24
#define K8 %zmm25
#define K9 %zmm26
#define K10 %zmm27
#define K11 %zmm28
#define K12 %zmm29
#define K13 %zmm30
#define KL %zmm31

/* The bytes that there are of 64. */
#define PART %k1

#define ARG2 %rsi
#define ARG3 %rdx
#define ARG4 %rcx
#define ARG5 %r8
#define ARG6 %r9

#define KEY %rdi
#define IN %rsi
#define OUT %rdx
#define LEN %rcx
#define LEN8 %cl /* where a shift wants its count */
#define TMP %rax
#define TMP32 %eax
#define VALUE %r10      /* CBC, CTR: chaining value or counter */
#define MSG %r8         /* gcm_seal, gcm_open: the message */
#define Y_PTR %r8       /* ghash, gcm_encrypt, gcm_decrypt: y */
#define COUNTER %r10    /* gcm_encrypt, gcm_decrypt: counter */
#define POWER %r9       /* the power for the next block to be hashed */
#define NUMBER %r9      /* a counter as a number */
#define NUMBER32 %r9d
#define COUNT %r11      /* the low bits of the lowest counter in CTR */
#define COUNT32 %r11d
#define LAST_BYTE %r11b

/* struct fc_aes_key */
#define ENC_KEYS 0
#define DEC_KEYS 240
#define ROUNDS 960
/* struct fc_gcm_key */
#define POWERS 976
#define END_OF_POWERS (POWERS + 16 * 36)
#define BATCH_POWERS (POWERS + 16 * 4)
/* struct fc_gcm_message */
#define MSG_J0 0
#define MSG_AAD 8
#define MSG_AAD_LEN 16
#define MSG_IN 24
#define MSG_OUT 32
#define MSG_LEN 40
#define MSG_TAG 48

#define BATCH 512

/* ---- Constants ------------------------------------------------------------------------------ */

FC_RODATA
.p2align 6
/* Reverses the bytes of a block: between the order of the standard and a number in a register. */
.Lbyte_reverse:
.rept 4
.byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
.endr
/* 4, 8, 16 and 32, added to counters with bytes reversed, */
.Lsteps_number:
.irp n, 4, 8, 16, 32
.rept 4
.quad \n, 0
.endr
.endr
/* and to the last bytes of counters without. */
.Lsteps:
.irp n, 4, 8, 16, 32
.rept 4
.long 0, 0, 0, \n << 24
.endr
.endr
.Lreduce:
.rept 4
.quad 0xc200000000000000, 0
.endr
/* 0 to 3 for four counters from one; 1 to 4 at .Llanes + 16. */
.Llanes:
.irp n, 0, 1, 2, 3, 4
.quad \n, 0
.endr
/* x^128 mod P, see aes_aesni_gcm.inc */
.Lx128:
.quad 1, 0xc200000000000000

#define BYTE_REVERSE .Lbyte_reverse(%rip)
#define STEP4 .Lsteps_number(%rip)

.text

/* ---- Blocks in flight ----------------------------------------------------------------------- */

/* \op with \src and each state. */
.macro ALL op, src
  \op \src, S0, S0
  \op \src, S1, S1
  \op \src, S2, S2
  \op \src, S3, S3
  \op \src, S4, S4
  \op \src, S5, S5
  \op \src, S6, S6
  \op \src, S7, S7
.endm

/* Half of them, for 16 chains of CBC. */
.macro ALL4 op, src
  \op \src, S0, S0
  \op \src, S1, S1
  \op \src, S2, S2
  \op \src, S3, S3
.endm

/* The data ^ the first round key. */
.macro LOAD
  vpxorq 0x000(IN), K0, S0
  vpxorq 0x040(IN), K0, S1
  vpxorq 0x080(IN), K0, S2
  vpxorq 0x0c0(IN), K0, S3
  vpxorq 0x100(IN), K0, S4
  vpxorq 0x140(IN), K0, S5
  vpxorq 0x180(IN), K0, S6
  vpxorq 0x1c0(IN), K0, S7
.endm

.macro STORE
  vmovdqu64 S0, 0x000(OUT)
  vmovdqu64 S1, 0x040(OUT)
  vmovdqu64 S2, 0x080(OUT)
  vmovdqu64 S3, 0x0c0(OUT)
  vmovdqu64 S4, 0x100(OUT)
  vmovdqu64 S5, 0x140(OUT)
  vmovdqu64 S6, 0x180(OUT)
  vmovdqu64 S7, 0x1c0(OUT)
.endm

.macro ADVANCE bytes
  addq $\bytes, IN
  addq $\bytes, OUT
.endm

/* PART = the first LEN, 1 to 63. */
.macro MASK_PART
  movq $-1, TMP
  shlq LEN8, TMP
  notq TMP
  kmovq TMP, PART
.endm

.macro CLEAR
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  vpxor %xmm\n, %xmm\n, %xmm\n
  .endr
  FC_CLEAR_ZMM_HIGH
  vzeroupper
.endm

/* ---- Rounds --------------------------------------------------------------------------------- */

/* Keys that fewer rounds lack are loaded, as zeros, and not used. */
.macro LOAD_KEYS keys
  movl ROUNDS(KEY), TMP32
  shlq $4, TMP
  vbroadcasti32x4 \keys + 16 * 0(KEY), K0
  vbroadcasti32x4 \keys + 16 * 1(KEY), K1
  vbroadcasti32x4 \keys + 16 * 2(KEY), K2
  vbroadcasti32x4 \keys + 16 * 3(KEY), K3
  vbroadcasti32x4 \keys + 16 * 4(KEY), K4
  vbroadcasti32x4 \keys + 16 * 5(KEY), K5
  vbroadcasti32x4 \keys + 16 * 6(KEY), K6
  vbroadcasti32x4 \keys + 16 * 7(KEY), K7
  vbroadcasti32x4 \keys + 16 * 8(KEY), K8
  vbroadcasti32x4 \keys + 16 * 9(KEY), K9
  vbroadcasti32x4 \keys + 16 * 10(KEY), K10
  vbroadcasti32x4 \keys + 16 * 11(KEY), K11
  vbroadcasti32x4 \keys + 16 * 12(KEY), K12
  vbroadcasti32x4 \keys + 16 * 13(KEY), K13
  vbroadcasti32x4 \keys(KEY, TMP), KL
.endm

/* The rounds after the ninth but for the last one: none, two or four. */
.macro LATE_ROUNDS op, all=ALL
  cmpl $12, ROUNDS(KEY)
  jb 78f
  \all \op, K10
  \all \op, K11
  je 78f
  \all \op, K12
  \all \op, K13
78:
.endm

/* All rounds but the first addition of a key and the last round. */
.macro CIPHER op, all=ALL
  .irp key, K1, K2, K3, K4, K5, K6, K7, K8, K9
  \all \op, \key
  .endr
  LATE_ROUNDS \op, \all
.endm

/* The same for \state alone. */
.macro CIPHER1 op, state
  .irp key, K1, K2, K3, K4, K5, K6, K7, K8, K9
  \op \key, \state, \state
  .endr
  cmpl $12, ROUNDS(KEY)
  jb 78f
  \op K10, \state, \state
  \op K11, \state, \state
  je 78f
  \op K12, \state, \state
  \op K13, \state, \state
78:
.endm

/* ---- Arguments ------------------------------------------------------------------------------ */

/* (key, chaining value, in, out, length) into KEY, VALUE, IN, OUT and LEN. */
.macro FIVE_ARGUMENTS
  movq ARG2, VALUE
  movq ARG3, IN
  movq ARG4, OUT
  movq ARG5, LEN
.endm

/* ---- ECB ------------------------------------------------------------------------------------ */

/* Arguments: KEY (rdi), IN (rsi), OUT (rdx), LEN (rcx), in blocks; here in bytes. */
.macro ECB op, op_last, keys
  shlq $4, LEN
  LOAD_KEYS \keys
  subq $BATCH, LEN
  jb 2f
  .p2align 6
1:
  LOAD
  CIPHER \op
  ALL \op_last, KL
  STORE
  ADVANCE BATCH
  subq $BATCH, LEN
  jae 1b
2:
  addq $BATCH - 64, LEN
  jnc 4f
3:
  vpxorq (IN), K0, S0
  CIPHER1 \op, S0
  \op_last KL, S0, S0
  vmovdqu64 S0, (OUT)
  ADVANCE 64
  subq $64, LEN
  jae 3b
4:
  addq $64, LEN
  jz 5f
  MASK_PART
  vmovdqu8 (IN), S0{PART}{z}
  vpxorq K0, S0, S0
  CIPHER1 \op, S0
  \op_last KL, S0, S0
  vmovdqu8 S0, (OUT){PART}
5:
  CLEAR
  ret
.endm

/* void fc_aes_ecb_encrypt_vaes512(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_encrypt_vaes512)
  ECB vaesenc, vaesenclast, ENC_KEYS
FC_END(fc_aes_ecb_encrypt_vaes512)

/* void fc_aes_ecb_decrypt_vaes512(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_decrypt_vaes512)
  ECB vaesdec, vaesdeclast, DEC_KEYS
FC_END(fc_aes_ecb_decrypt_vaes512)

/* ---- CBC ------------------------------------------------------------------------------------ */

/*
 * T0 = four blocks of ciphertext and CHAIN those before them: T1 = the block before each, and CHAIN
 * = T0.
 *
 *   lane                3    2    1    0
 *   T0                  c3   c2   c1   c0
 *   CHAIN               b3   .    .    .
 *   T1                  c2   c1   c0   b3     both in a row, down by six halves of a lane
 */
.macro CHAIN_BLOCKS
  valignq $6, CHAIN, T0, T1
  vmovdqa64 T0, CHAIN
.endm

/* S0 = the four blocks in T0 decrypted. */
.macro CBC_FOUR
  CHAIN_BLOCKS
  vpxorq K0, T0, S0
  CIPHER1 vaesdec, S0
  vpxorq KL, T1, T1
  vaesdeclast T1, S0, S0
.endm

/* \state = four decrypted blocks ^ the ciphertext at \at, by way of the last round key. */
.macro CBC_LAST at, state
  vpxorq \at(IN), KL, T0
  vaesdeclast T0, \state, \state
.endm

/*
 * void fc_aes_cbc_decrypt_vaes512(const struct fc_aes_key *key, iv, in, out, size_t nblocks)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8), in blocks; here in bytes. In
 * place: all of a batch is read before any is written, and the last block before the first batch.
 */
FC_FUNC(fc_aes_cbc_decrypt_vaes512)
  FIVE_ARGUMENTS
  shlq $4, LEN
  jz 6f
  LOAD_KEYS DEC_KEYS
  vbroadcasti32x4 (VALUE), CHAIN
  vmovdqu64 -16(IN, LEN), NEW_VALUE
  subq $BATCH, LEN
  jb 2f
  .p2align 6
1:
  LOAD
  vmovdqu64 (IN), T0
  CHAIN_BLOCKS
  CIPHER vaesdec
  vpxorq KL, T1, T1
  vaesdeclast T1, S0, S0
  CBC_LAST 0x030, S1
  CBC_LAST 0x070, S2
  CBC_LAST 0x0b0, S3
  CBC_LAST 0x0f0, S4
  CBC_LAST 0x130, S5
  CBC_LAST 0x170, S6
  CBC_LAST 0x1b0, S7
  vmovdqu64 0x1c0(IN), CHAIN
  STORE
  ADVANCE BATCH
  subq $BATCH, LEN
  jae 1b
2:
  addq $BATCH - 64, LEN
  jnc 4f
3:
  vmovdqu64 (IN), T0
  CBC_FOUR
  vmovdqu64 S0, (OUT)
  ADVANCE 64
  subq $64, LEN
  jae 3b
4:
  addq $64, LEN
  jz 5f
  MASK_PART
  vmovdqu8 (IN), T0{PART}{z}
  CBC_FOUR
  vmovdqu8 S0, (OUT){PART}
5:
  vmovdqu64 NEW_VALUE, (VALUE)
  CLEAR
6:
  ret
FC_END(fc_aes_cbc_decrypt_vaes512)

/* ---- Counters ------------------------------------------------------------------------------- */

/* Between bytes reversed and the order of the standard, which the bulk loops use. */
.macro REVERSE_CTR
  vpshufb BYTE_REVERSE, CTR, CTR
.endm

/* The states = the next 32 counters, where CTR has four of them; CTR = the four after those. */
.macro ADD_STEPS add, steps
  vmovdqa64 CTR, S0
  \add \steps + 0x00(%rip), S0, S1
  \add \steps + 0x40(%rip), S0, S2
  \add \steps + 0x40(%rip), S1, S3
  \add \steps + 0x80(%rip), S0, S4
  \add \steps + 0x80(%rip), S1, S5
  \add \steps + 0x80(%rip), S2, S6
  \add \steps + 0x80(%rip), S3, S7
  \add \steps + 0xc0(%rip), CTR, CTR
.endm

/*
 * The states = the next 32 counters, CTR being in the order of the standard. If no last byte
 * overflows (7 times of 8), neither of these nor of the four after them, that is all there is to
 * add to; else to \carry.
 */
.macro COUNTERS carry
  cmpb $0x100 - 32 - 3, LAST_BYTE
  leal 32(COUNT), COUNT32
  jae \carry
  ADD_STEPS vpaddd, .Lsteps
.endm

/* As COUNTERS, with bytes reversed: \add carries through the low 32 or 64 bits. Changes T0. */
.macro COUNTERS_CARRY add
  REVERSE_CTR
  ADD_STEPS \add, .Lsteps_number
  REVERSE_CTR
  vmovdqa64 BYTE_REVERSE, T0
  vpshufb T0, S0, S0
  vpshufb T0, S1, S1
  vpshufb T0, S2, S2
  vpshufb T0, S3, S3
  vpshufb T0, S4, S4
  vpshufb T0, S5, S5
  vpshufb T0, S6, S6
  vpshufb T0, S7, S7
.endm

/* CTR = the block at \at with bytes reversed, plus \first to \first + 3. */
.macro FOUR_COUNTERS at, add, first
  vbroadcasti32x4 (\at), CTR
  vpshufb BYTE_REVERSE, CTR, CTR
  \add .Llanes + 16 * \first(%rip), CTR, CTR
.endm

/* S0 = the next four counters through all rounds but the last; CTR is with bytes reversed. */
.macro CIPHER_FOUR add
  vpshufb BYTE_REVERSE, CTR, S0
  \add STEP4, CTR, CTR
  vpxorq K0, S0, S0
  CIPHER1 vaesenc, S0
.endm

/* \state = last round of \state ^ the data at \at, and out with it. */
.macro CRYPT_BLOCKS at, state
  vpxorq \at(IN), KL, BLOCK
  vaesenclast BLOCK, \state, \state
  vmovdqu64 \state, \at(OUT)
.endm

.macro CRYPT
  CRYPT_BLOCKS 0x000, S0
  CRYPT_BLOCKS 0x040, S1
  CRYPT_BLOCKS 0x080, S2
  CRYPT_BLOCKS 0x0c0, S3
  CRYPT_BLOCKS 0x100, S4
  CRYPT_BLOCKS 0x140, S5
  CRYPT_BLOCKS 0x180, S6
  CRYPT_BLOCKS 0x1c0, S7
.endm

/* ---- CTR ------------------------------------------------------------------------------------ */

FC_LOCAL_FUNC(vaes512_ctr_carry)
  COUNTERS_CARRY vpaddq
  ret
FC_END(vaes512_ctr_carry)

/*
 * void fc_aes_ctr_vaes512(const struct fc_aes_key *key, counter, in, out, size_t len)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8).
 *
 * A call whose counters overflow their low 64 bits, one in 2^64 blocks, is left to the aesni suite.
 */
FC_FUNC(fc_aes_ctr_vaes512)
  testq ARG5, ARG5
  jz 9f
  movq 8(ARG2), NUMBER
  leaq 15(ARG5), TMP
  bswapq NUMBER
  shrq $4, TMP
  addq TMP, NUMBER
  jc FC_SYMBOL(fc_aes_ctr_aesni)
  bswapq NUMBER
  FIVE_ARGUMENTS
  FOUR_COUNTERS VALUE, vpaddq, 0
  movq NUMBER, 8(VALUE)
  LOAD_KEYS ENC_KEYS
  subq $BATCH, LEN
  jb 4f
  vmovd CTRX, COUNT32
  REVERSE_CTR
  .p2align 6
1:
  COUNTERS 3f
2:
  ALL vpxorq, K0
  CIPHER vaesenc
  CRYPT
  ADVANCE BATCH
  subq $BATCH, LEN
  jae 1b
  REVERSE_CTR
4:
  addq $BATCH - 64, LEN
  jnc 6f
5:
  CIPHER_FOUR vpaddq
  CRYPT_BLOCKS 0, S0
  ADVANCE 64
  subq $64, LEN
  jae 5b
6:
  addq $64, LEN
  jz 8f
  MASK_PART
  CIPHER_FOUR vpaddq
  vmovdqu8 (IN), BLOCK{PART}{z}
  vpxorq KL, BLOCK, BLOCK
  vaesenclast BLOCK, S0, S0
  vmovdqu8 S0, (OUT){PART}
8:
  CLEAR
9:
  ret
3:
  call vaes512_ctr_carry
  jmp 2b
FC_END(fc_aes_ctr_vaes512)

/* ---- Multiplication ------------------------------------------------------------------------- */

/* The four products of the halves of BLOCK and FACTOR. */
#define LOW_LOW $0x00
#define HIGH_HIGH $0x11
#define LOW_HIGH $0x01
#define HIGH_LOW $0x10
/* vpternlogq: the sum of three */
#define SUM3 $0x96

/* HI:MID:LO = BLOCK * FACTOR. Changes T0. */
.macro MUL_FIRST
  vpclmulqdq LOW_LOW, FACTOR, BLOCK, LO
  vpclmulqdq HIGH_HIGH, FACTOR, BLOCK, HI
  vpclmulqdq LOW_HIGH, FACTOR, BLOCK, T0
  vpclmulqdq HIGH_LOW, FACTOR, BLOCK, MID
  vpxorq T0, MID, MID
.endm

/* HI:MID:LO += BLOCK * FACTOR. Changes BLOCK, T0, T1, T2. */
.macro MUL_ADD
  vpclmulqdq LOW_LOW, FACTOR, BLOCK, T0
  vpclmulqdq HIGH_HIGH, FACTOR, BLOCK, T1
  vpclmulqdq LOW_HIGH, FACTOR, BLOCK, T2
  vpclmulqdq HIGH_LOW, FACTOR, BLOCK, BLOCK
  vpxorq T0, LO, LO
  vpxorq T1, HI, HI
  vpternlogq SUM3, T2, BLOCK, MID
.endm

/*
 * HI = HI:MID:LO mod P in each lane, as in aes_aesni_gcm.inc, but that MID is the middle product
 * itself. Changes T0.
 */
.macro REDUCE
  vpshufd $0x4e, LO, T0
  vpclmulqdq LOW_LOW, .Lreduce(%rip), LO, LO
  vpternlogq SUM3, T0, LO, MID
  vpshufd $0x4e, MID, T0
  vpclmulqdq LOW_LOW, .Lreduce(%rip), MID, MID
  vpternlogq SUM3, T0, MID, HI
.endm

/* HIX = the sum of the four lanes, reduced; the lanes above are cleared. */
.macro REDUCE_SUM
  REDUCE
  vextracti64x4 $1, HI, T0Y
  vpxor T0Y, HIY, HIY
  vextracti128 $1, HIY, T0X
  vpxor T0X, HIX, HIX
.endm

/* ---- GHASH ---------------------------------------------------------------------------------- */

.macro LOAD_TO_HASH n, base, at
  vmovdqu64 \at + 64 * \n(\base), BLOCK
  vmovdqu64 BATCH_POWERS + 64 * \n(KEY), FACTOR
  vpshufb BYTE_REVERSE, BLOCK, BLOCK
.endm

/*
 * Blocks 4 \n to 4 \n + 3 of 32 at \base + \at, \n even: into the middle products, and with the
 * others in T0 and T1. Y is added to the first.
 */
.macro HASH_EVEN n, base, at
  LOAD_TO_HASH \n, \base, \at
  .if \n == 0
  vpxorq HI, BLOCK, BLOCK
  .endif
  vpclmulqdq LOW_LOW, FACTOR, BLOCK, T0
  vpclmulqdq HIGH_HIGH, FACTOR, BLOCK, T1
  .if \n == 0
  vpclmulqdq LOW_HIGH, FACTOR, BLOCK, MID
  vpclmulqdq HIGH_LOW, FACTOR, BLOCK, BLOCK
  vpxorq BLOCK, MID, MID
  .else
  vpclmulqdq LOW_HIGH, FACTOR, BLOCK, T2
  vpclmulqdq HIGH_LOW, FACTOR, BLOCK, BLOCK
  vpternlogq SUM3, T2, BLOCK, MID
  .endif
.endm

/* \sum += \product and that of \halves; at first it has no sum to add to. */
.macro ADD_TWO n, halves, product, sum
  .if \n == 1
  vpclmulqdq \halves, FACTOR, BLOCK, \sum
  vpxorq \product, \sum, \sum
  .else
  vpclmulqdq \halves, FACTOR, BLOCK, T2
  vpternlogq SUM3, T2, \product, \sum
  .endif
.endm

/* Likewise the four blocks after those: adds them and what T0 and T1 hold. */
.macro HASH_ODD n, base, at
  LOAD_TO_HASH \n, \base, \at
  ADD_TWO \n, LOW_LOW, T0, LO
  ADD_TWO \n, HIGH_HIGH, T1, HI
  vpclmulqdq LOW_HIGH, FACTOR, BLOCK, T2
  vpclmulqdq HIGH_LOW, FACTOR, BLOCK, BLOCK
  vpternlogq SUM3, T2, BLOCK, MID
.endm

/* HIX = Y after the 32 blocks at \base + \at. */
.macro HASH base, at
  HASH_EVEN 0, \base, \at
  HASH_ODD 1, \base, \at
  HASH_EVEN 2, \base, \at
  HASH_ODD 3, \base, \at
  HASH_EVEN 4, \base, \at
  HASH_ODD 5, \base, \at
  HASH_EVEN 6, \base, \at
  HASH_ODD 7, \base, \at
  REDUCE_SUM
.endm

/* TMP = LEN in blocks, rounded up. */
.macro BLOCKS_OF_LEN
  leaq 15(LEN), TMP
  shrq $4, TMP
.endm

/* POWER = the power for the first of TMP blocks, at most 36; TMP is lost. */
.macro FIRST_POWER
  shlq $4, TMP
  leaq END_OF_POWERS(KEY), POWER
  subq TMP, POWER
.endm

/* HI:MID:LO = Y times the power at POWER. */
.macro MUL_Y
  vmovdqa64 HI, BLOCK
  vmovdqu64 (POWER), FACTOR
  MUL_FIRST
.endm

/* HI:MID:LO += \blocks, four, times the powers at POWER. */
.macro HASH_FOUR blocks
  vmovdqu64 (POWER), FACTOR
  vpshufb BYTE_REVERSE, \blocks, BLOCK
  MUL_ADD
.endm

/* Add LEN bytes at IN, at most 36 blocks, times their powers from POWER on. Clobbers IN, LEN. */
FC_LOCAL_FUNC(vaes512_hash_tail)
  subq $64, LEN
  jb 2f
1:
  vmovdqu64 (IN), BLOCK
  HASH_FOUR BLOCK
  addq $64, IN
  addq $64, POWER
  subq $64, LEN
  jae 1b
2:
  addq $64, LEN
  jz 3f
  MASK_PART
  vmovdqu8 (IN), BLOCK{PART}{z}
  HASH_FOUR BLOCK
  BLOCKS_OF_LEN
  shlq $4, TMP
  addq TMP, POWER
3:
  ret
FC_END(vaes512_hash_tail)

/* HIX = Y after LEN bytes at IN, the last block padded with zeros. Clobbers IN, LEN, POWER. */
FC_LOCAL_FUNC(vaes512_hash)
  subq $BATCH, LEN
  jb 2f
  .p2align 6
1:
  HASH IN, 0
  addq $BATCH, IN
  subq $BATCH, LEN
  jae 1b
2:
  addq $BATCH, LEN
  jz 3f
  BLOCKS_OF_LEN
  FIRST_POWER
  MUL_Y
  call vaes512_hash_tail
  REDUCE_SUM
3:
  ret
FC_END(vaes512_hash)

.macro LOAD_Y
  vmovdqu64 (Y_PTR), HIX
  vpshufb BYTE_REVERSE, HIX, HIX
.endm

.macro STORE_Y
  vpshufb BYTE_REVERSE, HIX, HIX
  vmovdqu64 HIX, (Y_PTR)
.endm

/*
 * void fc_aes_ghash_vaes512(const struct fc_ghash_key *ghash, uint8_t y[16], data, size_t len)
 * Arguments: ghash (rdi), Y_PTR (rsi), IN (rdx), LEN (rcx).
 */
FC_FUNC(fc_aes_ghash_vaes512)
  testq LEN, LEN
  jz 1f
  movq ARG2, Y_PTR
  movq ARG3, IN
  subq $POWERS, KEY
  LOAD_Y
  call vaes512_hash
  STORE_Y
  CLEAR
1:
  ret
FC_END(fc_aes_ghash_vaes512)

/* ---- The key of GHASH ----------------------------------------------------------------------- */

#define H1X %xmm5
#define H2_H1Y %ymm4
#define H2_H1 %zmm4
#define H4_TO_H1 S0
#define H8_TO_H5 S1
#define H12_TO_H9 S2
#define H16_TO_H13 S3

/* HI = \powers * FACTOR, each by each. */
.macro TIMES_FACTOR powers
  vmovdqa64 \powers, BLOCK
  MUL_FIRST
  REDUCE
.endm

/* FACTOR = the lowest lane of \powers, which has the highest power, in all lanes. */
.macro USE_FACTOR powers
  vshufi32x4 $0, \powers, \powers, FACTOR
.endm

/* Store \powers, H^\n and the three below it. */
.macro STORE_POWERS n, powers
  vmovdqu64 \powers, END_OF_POWERS - 16 * \n(KEY)
.endm

/*
 * void fc_aes_ghash_key_vaes512(struct fc_ghash_key *ghash, const uint8_t h[16])
 * Arguments: ghash (rdi), h (rsi). H^2; H^4 and H^3; then four a time, where those with the same
 * factor do not wait for one another: six multiplications deep.
 */
FC_FUNC(fc_aes_ghash_key_vaes512)
  vmovdqu64 (ARG2), H1X
  vpshufb BYTE_REVERSE, H1X, H1X
  subq $POWERS, KEY

  /* H * x: up by one bit; if x^127 was set, it has become x^128: add that, reduced. */
  vpshufd $0xff, H1X, BLOCKX
  vpsrlq $63, H1X, T0X
  vpsrad $31, BLOCKX, BLOCKX
  vpaddq H1X, H1X, H1X
  vpslldq $8, T0X, T0X
  vpand .Lx128(%rip), BLOCKX, BLOCKX
  vpor T0X, H1X, H1X
  vpxor BLOCKX, H1X, H1X

  /* The lanes above H stay clear: 0, 0, 0, H^2 and 0, 0, H^4, H^3, the lowest last. */
  vmovdqa H1X, FACTORX
  vmovdqa H1X, BLOCKX
  MUL_FIRST
  REDUCE
  vinserti128 $1, H1X, HIY, H2_H1Y
  USE_FACTOR HI
  TIMES_FACTOR H2_H1
  vinserti64x4 $1, H2_H1Y, HI, H4_TO_H1
  STORE_POWERS 4, H4_TO_H1

  USE_FACTOR H4_TO_H1
  TIMES_FACTOR H4_TO_H1
  vmovdqa64 HI, H8_TO_H5
  STORE_POWERS 8, HI

  USE_FACTOR H8_TO_H5
  TIMES_FACTOR H4_TO_H1
  vmovdqa64 HI, H12_TO_H9
  STORE_POWERS 12, HI
  TIMES_FACTOR H8_TO_H5
  vmovdqa64 HI, H16_TO_H13
  STORE_POWERS 16, HI

  USE_FACTOR H16_TO_H13
  TIMES_FACTOR H4_TO_H1
  STORE_POWERS 20, HI
  TIMES_FACTOR H8_TO_H5
  STORE_POWERS 24, HI
  TIMES_FACTOR H12_TO_H9
  STORE_POWERS 28, HI
  TIMES_FACTOR H16_TO_H13
  STORE_POWERS 32, HI

  USE_FACTOR HI
  TIMES_FACTOR H4_TO_H1
  STORE_POWERS 36, HI

  vpxor HIX, HIX, HIX
  .irp n, 0, 1, 2, 3, 4, 5, 6
  vmovdqu64 HI, END_OF_POWERS + 64 * \n(KEY)
  .endr
  CLEAR
  ret
FC_END(fc_aes_ghash_key_vaes512)

/* ---- GCM: 32 blocks a time ------------------------------------------------------------------- */

FC_LOCAL_FUNC(vaes512_gcm_carry)
  COUNTERS_CARRY vpaddd
  ret
FC_END(vaes512_gcm_carry)

/*
 * The rounds of 32 blocks, and between them the GHASH of the 32 at \base + \at: four blocks a
 * round, and the reduction after the ninth.
 */
.macro CIPHER_HASH base, at
  ALL vpxorq, K0
  ALL vaesenc, K1
  HASH_EVEN 0, \base, \at
  ALL vaesenc, K2
  HASH_ODD 1, \base, \at
  ALL vaesenc, K3
  HASH_EVEN 2, \base, \at
  ALL vaesenc, K4
  HASH_ODD 3, \base, \at
  ALL vaesenc, K5
  HASH_EVEN 4, \base, \at
  ALL vaesenc, K6
  HASH_ODD 5, \base, \at
  ALL vaesenc, K7
  HASH_EVEN 6, \base, \at
  ALL vaesenc, K8
  HASH_ODD 7, \base, \at
  ALL vaesenc, K9
  REDUCE_SUM
  LATE_ROUNDS vaesenc
.endm

/*
 * All whole batches of LEN, at least one: CTR, HIX, IN, OUT and LEN advance. Encryption hashes the
 * batch before, and starts and ends without a partner.
 */
FC_LOCAL_FUNC(vaes512_gcm_encrypt_bulk)
  vmovd CTRX, COUNT32
  REVERSE_CTR
  COUNTERS 4f
1:
  ALL vpxorq, K0
  CIPHER vaesenc
  jmp 3f
  .p2align 6
2:
  COUNTERS 5f
6:
  CIPHER_HASH OUT, -BATCH
3:
  CRYPT
  ADVANCE BATCH
  subq $BATCH, LEN
  cmpq $BATCH, LEN
  jae 2b
  HASH OUT, -BATCH
  REVERSE_CTR
  ret
4:
  call vaes512_gcm_carry
  jmp 1b
5:
  call vaes512_gcm_carry
  jmp 6b
FC_END(vaes512_gcm_encrypt_bulk)

/* Likewise; decryption hashes the batch that it decrypts, all of it before the first store. */
FC_LOCAL_FUNC(vaes512_gcm_decrypt_bulk)
  vmovd CTRX, COUNT32
  REVERSE_CTR
  .p2align 6
1:
  COUNTERS 3f
2:
  CIPHER_HASH IN, 0
  CRYPT
  ADVANCE BATCH
  subq $BATCH, LEN
  cmpq $BATCH, LEN
  jae 1b
  REVERSE_CTR
  ret
3:
  call vaes512_gcm_carry
  jmp 2b
FC_END(vaes512_gcm_decrypt_bulk)

/* ---- GCM: the last blocks ------------------------------------------------------------------- */

/*
 * The last LEN bytes, at most 511: crypt them, and add the ciphertext, which is \hashed, S0 or
 * BLOCK, times the powers from POWER on. EJ0 stays.
 */
.macro GCM_TAIL hashed
  subq $64, LEN
  jb 2f
1:
  CIPHER_FOUR vpaddd
  vmovdqu64 (IN), BLOCK
  vpxorq BLOCK, KL, T0
  vaesenclast T0, S0, S0
  vmovdqu64 S0, (OUT)
  HASH_FOUR \hashed
  ADVANCE 64
  addq $64, POWER
  subq $64, LEN
  jae 1b
2:
  addq $64, LEN
  jz 3f
  MASK_PART
  CIPHER_FOUR vpaddd
  vmovdqu8 (IN), BLOCK{PART}{z}
  vpxorq BLOCK, KL, T0
  vaesenclast T0, S0, S0
  vmovdqu8 S0, (OUT){PART}
  vmovdqu8 S0, S0{PART}{z}
  HASH_FOUR \hashed
3:
.endm

/* ---- GCM: streaming ------------------------------------------------------------------------- */

/* Arguments: KEY (rdi), COUNTER (rsi), Y_PTR (rdx), IN (rcx), OUT (r8), LEN (r9). */
.macro GCM_STREAM bulk, hashed
  testq ARG6, ARG6
  jz 6f
  movq ARG2, COUNTER
  movq ARG3, TMP
  movq ARG4, IN
  movq ARG5, OUT
  movq ARG6, LEN
  movq TMP, Y_PTR
  FOUR_COUNTERS COUNTER, vpaddd, 0
  /* The counter after the last block, begun or whole. */
  movl 12(COUNTER), NUMBER32
  BLOCKS_OF_LEN
  bswapl NUMBER32
  addl TMP32, NUMBER32
  bswapl NUMBER32
  movl NUMBER32, 12(COUNTER)
  LOAD_Y
  LOAD_KEYS ENC_KEYS
  cmpq $BATCH, LEN
  jb 4f
  call \bulk
4:
  testq LEN, LEN
  jz 5f
  BLOCKS_OF_LEN
  FIRST_POWER
  MUL_Y
  GCM_TAIL \hashed
  REDUCE_SUM
5:
  STORE_Y
  CLEAR
6:
  ret
.endm

/* void fc_aes_gcm_encrypt_vaes512(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_encrypt_vaes512)
  GCM_STREAM vaes512_gcm_encrypt_bulk, S0
FC_END(fc_aes_gcm_encrypt_vaes512)

/* void fc_aes_gcm_decrypt_vaes512(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_decrypt_vaes512)
  GCM_STREAM vaes512_gcm_decrypt_bulk, BLOCK
FC_END(fc_aes_gcm_decrypt_vaes512)

/* ---- GCM: whole messages -------------------------------------------------------------------- */

.macro LOAD_DATA
  movq MSG_IN(MSG), IN
  movq MSG_OUT(MSG), OUT
  movq MSG_LEN(MSG), LEN
.endm

/*
 * Arguments: KEY (rdi), MSG (rsi).
 *
 * If AAD, data and the block of lengths are 36 blocks at most, each has its own power and there is
 * one reduction; else AAD and whole batches come first, and Y takes the place of the AAD. What
 * depends on the rounds comes last, so that the processor does all else in their shadow.
 */
.macro GCM_MESSAGE bulk, hashed
  movq ARG2, MSG
  LOAD_KEYS ENC_KEYS
  movq MSG_J0(MSG), TMP
  FOUR_COUNTERS TMP, vpaddd, 1
  movq MSG_AAD_LEN(MSG), LEN
  BLOCKS_OF_LEN
  movq TMP, POWER
  movq MSG_LEN(MSG), LEN
  BLOCKS_OF_LEN
  leaq 1(TMP, POWER), TMP
  movq MSG_AAD(MSG), IN
  movq MSG_AAD_LEN(MSG), LEN
  cmpq $36, TMP
  ja 6f

  FIRST_POWER
  vpxorq LO, LO, LO
  vpxorq HI, HI, HI
  vpxorq MID, MID, MID
  call vaes512_hash_tail
  LOAD_DATA
  jmp 8f

6:
  vpxorq HI, HI, HI
  call vaes512_hash
  LOAD_DATA
  cmpq $BATCH, LEN
  jb 7f
  call \bulk
7:
  BLOCKS_OF_LEN
  incq TMP
  FIRST_POWER
  MUL_Y

8: /* The lengths in bits, and the end of the data. */
  vmovq MSG_LEN(MSG), BLOCKX
  vmovhps MSG_AAD_LEN(MSG), BLOCKX, BLOCKX
  vpsllq $3, BLOCKX, BLOCKX
  vmovdqu64 END_OF_POWERS - 16(KEY), FACTORX
  MUL_ADD
  movq MSG_J0(MSG), TMP
  vbroadcasti32x4 (TMP), EJ0
  vpxorq K0, EJ0, EJ0
  CIPHER1 vaesenc, EJ0
  vaesenclast KL, EJ0, EJ0
  GCM_TAIL \hashed
  REDUCE_SUM
  vpshufb BYTE_REVERSE, HIX, HIX
  movq MSG_TAG(MSG), TMP
  vpxor EJ0X, HIX, HIX
  vmovdqu64 HIX, (TMP)
  CLEAR
  ret
.endm

/* void fc_aes_gcm_seal_vaes512(const struct fc_gcm_key *key, const struct fc_gcm_message *) */
FC_FUNC(fc_aes_gcm_seal_vaes512)
  GCM_MESSAGE vaes512_gcm_encrypt_bulk, S0
FC_END(fc_aes_gcm_seal_vaes512)

/* void fc_aes_gcm_open_vaes512(const struct fc_gcm_key *key, const struct fc_gcm_message *) */
FC_FUNC(fc_aes_gcm_open_vaes512)
  GCM_MESSAGE vaes512_gcm_decrypt_bulk, BLOCK
FC_END(fc_aes_gcm_open_vaes512)

#include "aes_vaes512_cbc_many.inc"

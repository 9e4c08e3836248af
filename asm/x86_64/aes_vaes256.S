/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES-128/192/256 with VAES and GHASH with VPCLMULQDQ on ymm registers: the bulk of ECB, CBC
 * decryption, CTR, GHASH and GCM. Short messages, the last bytes of long ones, key schedules and
 * CBC encryption are those of the aesni suite.
 *
 * Contract: kernels.h, the ops of an AES suite; layout fips.
 *
 * Needs: VAES (vaesenc, vaesenclast, vaesdec, vaesdeclast on ymm), VPCLMULQDQ (vpclmulqdq on ymm),
 *   AVX2 (vpshufb, vpshufd, vpxor, vpaddd, vpaddq, vbroadcasti128, vinserti128, vextracti128 on
 *   ymm), AVX (vmovdqu, vpextrb, vzeroall, vzeroupper, the forms on xmm), and what aes_aesni.S
 *   needs. VEX encodings only: Zen 3 and Alder Lake have VAES but no EVEX.
 *
 * Arguments: role (register) in the head of each function. Roles are those of aes_aesni.S, with a
 *   ymm register where that has xmm, so that its local functions take over in the middle.
 *
 * Registers: ymm0-ymm15 and the caller-saved general registers; no stack but for return addresses.
 *   Every function clears all vector registers, or leaves their low halves to the aesni function
 *   that goes on and clears them. General registers never hold a secret.
 *
 * Secret: all that the pointers point to, but for counter, j0, aad, the lengths and rounds.
 * Public registers: rax rcx rdx rsi rdi r8 r9 r10 r11
 *
 * Structure: 16 blocks in flight, two in each of 8 states. A state of 256 bits takes the pipes as
 *   long as one of 128 on Zen 3 and Alder Lake, so what aes_aesni.S says of 8 states holds: each
 *   round key is loaded once for all of them, into both lanes, and 16 registers are enough. GCM
 *   hashes two blocks between two rounds, and reduces once for 16 blocks: in both lanes, whose sum
 *   is Y. Fewer than 16 blocks go to the aesni suite at once, by a jump.
 *   AES-256 on Zen 3, cycles for 16 blocks, where the pipes allow 56: ECB 58, CTR 60, CBC
 *   decryption 60, GHASH 54, GCM 105. Messages of 16 KiB, as against aesni, in one run: GCM 1.9,
 *   CTR, ECB and CBC decryption 1.8 to 1.95, GHASH 1.9 times as fast; GCM of 256 bytes 1.45, of
 *   1350 bytes 1.75; up to 255 bytes as fast, but for a jump.
 *
 * struct fc_ghash_key: as in aes_aesni_gcm.inc, whose functions go on with it, and in addition
 *   [256, 512)  H^16, H^15, ... H^1: pair n of 8 is for blocks 2n and 2n + 1 of a batch
 *   [512, 768)  for each of them, in both halves: its low half ^ its high half
 *   This takes 22 cycles more per key (176; aesni: 154).
 *
 * Tried and rejected, GCM of 16 KiB with AES-256 on Zen 3, cycles for 16 blocks, this file taking
 * 105:
 *   - The powers of the aesni suite alone, with two reductions for 16 blocks: 117, GHASH 64.
 *   - A higher threshold: there is a gain from the first batch of 16 blocks on.
 */
#include "fc_asm.h"

/* ---- Roles ---------------------------------------------------------------------------------- */

/* The states of 16 blocks: the first two in S0, the lower one first. */
#define S0 %ymm0
#define S1 %ymm1
#define S2 %ymm2
#define S3 %ymm3
#define S4 %ymm4
#define S5 %ymm5
#define S6 %ymm6
#define S7 %ymm7
/* GHASH: low, high and middle products of Karatsuba's method. Between reductions HIX holds Y. */
#define LO %ymm8
#define HI %ymm9
#define HIX %xmm9
#define MID %ymm10
/* Two blocks of data, and temporaries. */
#define BLOCK %ymm11
#define BLOCKX %xmm11
#define T0 %ymm12
#define T0X %xmm12
#define T1 %ymm13
/* The key of the current round, in both lanes. */
#define RK %ymm14
/* The counter block of CTR and GCM in both lanes, or the chaining value of CBC in the low one. */
#define CTR %ymm15
#define CTRX %xmm15
#define CHAIN %ymm15
#define CHAINX %xmm15

#define ARG2 %rsi
#define ARG3 %rdx
#define ARG4 %rcx
#define ARG5 %r8
#define ARG6 %r9

#define KEY %rdi
#define IN %rsi
#define OUT %rdx
#define LEN %rcx
#define TMP %rax
#define VALUE %r10      /* CBC, CTR: chaining value or counter */
#define MSG %r8         /* gcm_seal, gcm_open: the message */
#define Y_PTR %r8       /* ghash, gcm_encrypt, gcm_decrypt: y */
#define COUNTER %r10    /* gcm_encrypt, gcm_decrypt: counter */
#define NUMBER32 %eax   /* its low 32 bits as a number */
#define LAST_BYTE %r11b /* of CTR */
#define LAST_BYTE32 %r11d
#define NUMBER %r9 /* CTR: the low 64 bits of the counter after the last */

/* struct fc_aes_key */
#define ENC_KEYS 0
#define DEC_KEYS 240
#define ROUNDS 960
/* struct fc_gcm_key */
#define POWERS 976
#define HALVES 128 /* from a power to its Karatsuba half */
#define WIDE_POWERS 1232
#define WIDE_HALVES 256 /* likewise among these */
/* struct fc_gcm_message */
#define MSG_J0 0
#define MSG_AAD 8
#define MSG_AAD_LEN 16
#define MSG_IN 24
#define MSG_OUT 32
#define MSG_LEN 40

/* Bytes in a batch: less is left to the aesni suite. */
#define BATCH 256

/* ---- Constants ------------------------------------------------------------------------------ */

FC_RODATA
.p2align 6
/* Reverses the bytes of a block: between the order of the standard and a number in a register. */
.Lbyte_reverse:
.byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
.byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
/* 16, added to a counter with bytes reversed, and to the last byte of one without. */
.Lstep_number:
.quad 16, 0, 16, 0
.Lstep:
.long 0, 0, 0, 16 << 24, 0, 0, 0, 16 << 24
/* The same for 0 to 16. */
.p2align 6
.Lcount_number:
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
.quad \n, 0
.endr
.p2align 6
.Lcount:
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
.long 0, 0, 0, \n << 24
.endr
.p2align 5
.Lreduce:
.quad 0xc200000000000000, 0, 0xc200000000000000, 0

#define BYTE_REVERSE .Lbyte_reverse(%rip)

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

/* The data ^ the first round key. */
.macro LOAD keys
  vbroadcasti128 \keys(KEY), RK
  vpxor 0x00(IN), RK, S0
  vpxor 0x20(IN), RK, S1
  vpxor 0x40(IN), RK, S2
  vpxor 0x60(IN), RK, S3
  vpxor 0x80(IN), RK, S4
  vpxor 0xa0(IN), RK, S5
  vpxor 0xc0(IN), RK, S6
  vpxor 0xe0(IN), RK, S7
.endm

.macro STORE
  vmovdqu S0, 0x00(OUT)
  vmovdqu S1, 0x20(OUT)
  vmovdqu S2, 0x40(OUT)
  vmovdqu S3, 0x60(OUT)
  vmovdqu S4, 0x80(OUT)
  vmovdqu S5, 0xa0(OUT)
  vmovdqu S6, 0xc0(OUT)
  vmovdqu S7, 0xe0(OUT)
.endm

.macro ADVANCE bytes
  addq $\bytes, IN
  addq $\bytes, OUT
.endm

/* ---- Rounds --------------------------------------------------------------------------------- */

.macro ROUND op, keys, n
  vbroadcasti128 \keys + 16 * \n(KEY), RK
  ALL \op, RK
.endm

/* The rounds after the ninth but for the last one, whose key is left in RK. */
.macro LATE_ROUNDS op, keys
  vbroadcasti128 \keys + 16 * 10(KEY), RK
  cmpl $12, ROUNDS(KEY)
  jb 78f
  ALL \op, RK
  ROUND \op, \keys, 11
  vbroadcasti128 \keys + 16 * 12(KEY), RK
  je 78f
  ALL \op, RK
  ROUND \op, \keys, 13
  vbroadcasti128 \keys + 16 * 14(KEY), RK
78:
.endm

/* All rounds but the first addition of a key and the last round, whose key is left in RK. */
.macro CIPHER op, keys
  .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9
  ROUND \op, \keys, \n
  .endr
  LATE_ROUNDS \op, \keys
.endm

.macro ADD_FIRST_KEY
  vbroadcasti128 ENC_KEYS(KEY), RK
  ALL vpxor, RK
.endm

/* ---- Arguments ------------------------------------------------------------------------------ */

/* (key, chaining value, in, out, length) into KEY, VALUE, IN, OUT and LEN, and back. */
.macro FIVE_ARGUMENTS
  movq ARG2, VALUE
  movq ARG3, IN
  movq ARG4, OUT
  movq ARG5, LEN
.endm

.macro FIVE_ARGUMENTS_BACK
  movq LEN, ARG5
  movq OUT, ARG4
  movq IN, ARG3
  movq VALUE, ARG2
.endm

/* ---- ECB ------------------------------------------------------------------------------------ */

/* Arguments: KEY (rdi), IN (rsi), OUT (rdx), LEN (rcx), here in blocks. */
.macro ECB op, op_last, keys, rest
  cmpq $16, LEN
  jb \rest
  .p2align 6
1:
  LOAD \keys
  CIPHER \op, \keys
  ALL \op_last, RK
  STORE
  ADVANCE BATCH
  subq $16, LEN
  cmpq $16, LEN
  jae 1b
  vzeroall
  jmp \rest
.endm

/* void fc_aes_ecb_encrypt_vaes256(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_encrypt_vaes256)
  ECB vaesenc, vaesenclast, ENC_KEYS, FC_SYMBOL(fc_aes_ecb_encrypt_aesni)
FC_END(fc_aes_ecb_encrypt_vaes256)

/* void fc_aes_ecb_decrypt_vaes256(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_decrypt_vaes256)
  ECB vaesdec, vaesdeclast, DEC_KEYS, FC_SYMBOL(fc_aes_ecb_decrypt_aesni)
FC_END(fc_aes_ecb_decrypt_vaes256)

/* ---- CBC ------------------------------------------------------------------------------------ */

/* \state = two decrypted blocks ^ the ciphertext at \at, by way of the last round key. */
.macro CBC_LAST at, state
  vpxor \at(IN), RK, T0
  vaesdeclast T0, \state, \state
.endm

/*
 * void fc_aes_cbc_decrypt_vaes256(const struct fc_aes_key *key, iv, in, out, size_t nblocks)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8), in blocks. In place: all of a
 * batch is read before any is written.
 */
FC_FUNC(fc_aes_cbc_decrypt_vaes256)
  cmpq $16, ARG5
  jb FC_SYMBOL(fc_aes_cbc_decrypt_aesni)
  FIVE_ARGUMENTS
  vmovdqu (VALUE), CHAINX
  .p2align 6
1:
  LOAD DEC_KEYS
  vinserti128 $1, (IN), CHAIN, CHAIN
  CIPHER vaesdec, DEC_KEYS
  vpxor CHAIN, RK, CHAIN
  vaesdeclast CHAIN, S0, S0
  CBC_LAST 0x10, S1
  CBC_LAST 0x30, S2
  CBC_LAST 0x50, S3
  CBC_LAST 0x70, S4
  CBC_LAST 0x90, S5
  CBC_LAST 0xb0, S6
  CBC_LAST 0xd0, S7
  vmovdqu 0xf0(IN), CHAINX
  STORE
  ADVANCE BATCH
  subq $16, LEN
  cmpq $16, LEN
  jae 1b
  vmovdqu CHAINX, (VALUE)
  vzeroall
  FIVE_ARGUMENTS_BACK
  jmp FC_SYMBOL(fc_aes_cbc_decrypt_aesni)
FC_END(fc_aes_cbc_decrypt_vaes256)

/* ---- Counters ------------------------------------------------------------------------------- */

/*
 * The states = CTR + \first and the 15 counters after it; CTR += 16. If the last byte does not
 * overflow (15 times of 16) that is all there is to add to; else to \carry.
 */
.macro COUNTERS first, carry
  addb $16, LAST_BYTE
  jc \carry
  ADD_COUNTS vpaddd, .Lcount, \first
  vpaddd .Lstep(%rip), CTR, CTR
.endm

.macro ADD_COUNTS add, table, first
  \add \table + 16 * (\first + 0)(%rip), CTR, S0
  \add \table + 16 * (\first + 2)(%rip), CTR, S1
  \add \table + 16 * (\first + 4)(%rip), CTR, S2
  \add \table + 16 * (\first + 6)(%rip), CTR, S3
  \add \table + 16 * (\first + 8)(%rip), CTR, S4
  \add \table + 16 * (\first + 10)(%rip), CTR, S5
  \add \table + 16 * (\first + 12)(%rip), CTR, S6
  \add \table + 16 * (\first + 14)(%rip), CTR, S7
.endm

/* As COUNTERS, with bytes reversed: \add carries through the low 32 or 64 bits. Changes T0. */
.macro COUNTERS_CARRY first, add
  vmovdqa BYTE_REVERSE, T0
  vpshufb T0, CTR, CTR
  ADD_COUNTS \add, .Lcount_number, \first
  \add .Lstep_number(%rip), CTR, CTR
  vpshufb T0, S0, S0
  vpshufb T0, S1, S1
  vpshufb T0, S2, S2
  vpshufb T0, S3, S3
  vpshufb T0, S4, S4
  vpshufb T0, S5, S5
  vpshufb T0, S6, S6
  vpshufb T0, S7, S7
  vpshufb T0, CTR, CTR
.endm

/* \state = last round of \state ^ the data at \at, and out with it. */
.macro CRYPT_BLOCKS at, state
  vpxor \at(IN), RK, BLOCK
  vaesenclast BLOCK, \state, \state
  vmovdqu \state, \at(OUT)
.endm

.macro CRYPT
  CRYPT_BLOCKS 0x00, S0
  CRYPT_BLOCKS 0x20, S1
  CRYPT_BLOCKS 0x40, S2
  CRYPT_BLOCKS 0x60, S3
  CRYPT_BLOCKS 0x80, S4
  CRYPT_BLOCKS 0xa0, S5
  CRYPT_BLOCKS 0xc0, S6
  CRYPT_BLOCKS 0xe0, S7
.endm

/* ---- CTR ------------------------------------------------------------------------------------ */

FC_LOCAL_FUNC(vaes256_ctr_carry)
  COUNTERS_CARRY 0, vpaddq
  ret
FC_END(vaes256_ctr_carry)

/*
 * void fc_aes_ctr_vaes256(const struct fc_aes_key *key, counter, in, out, size_t len)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8).
 *
 * CTR is the next counter to use. A call whose counters overflow their low 64 bits, one in 2^64
 * blocks, is left to the aesni suite whole.
 */
FC_FUNC(fc_aes_ctr_vaes256)
  movq 8(ARG2), NUMBER
  leaq 15(ARG5), TMP
  bswapq NUMBER
  shrq $4, TMP
  addq TMP, NUMBER
  jc FC_SYMBOL(fc_aes_ctr_aesni)
  cmpq $BATCH, ARG5
  jb FC_SYMBOL(fc_aes_ctr_aesni)
  FIVE_ARGUMENTS
  movzbl 15(VALUE), LAST_BYTE32
  vbroadcasti128 (VALUE), CTR
  .p2align 6
1:
  COUNTERS 0, 3f
2:
  ADD_FIRST_KEY
  CIPHER vaesenc, ENC_KEYS
  CRYPT
  ADVANCE BATCH
  subq $BATCH, LEN
  cmpq $BATCH, LEN
  jae 1b
  vmovdqu CTRX, (VALUE)
  vzeroall
  FIVE_ARGUMENTS_BACK
  jmp FC_SYMBOL(fc_aes_ctr_aesni)
3:
  call vaes256_ctr_carry
  jmp 2b
FC_END(fc_aes_ctr_vaes256)

/* ---- GHASH ---------------------------------------------------------------------------------- */

/* HI:MID:LO = BLOCK * pair \n of the powers. */
.macro MUL_FIRST n
  vpshufd $0x4e, BLOCK, MID /* the halves swapped */
  vpxor BLOCK, MID, MID
  vpclmulqdq $0x11, WIDE_POWERS + 32 * \n(KEY), BLOCK, HI
  vpclmulqdq $0x00, WIDE_POWERS + 32 * \n(KEY), BLOCK, LO
  vpclmulqdq $0x00, WIDE_POWERS + WIDE_HALVES + 32 * \n(KEY), MID, MID
.endm

/* HI:MID:LO += BLOCK * pair \n of the powers. Changes BLOCK, T0, T1. */
.macro MUL_ADD n
  vpshufd $0x4e, BLOCK, T0
  vpxor BLOCK, T0, T0
  vpclmulqdq $0x11, WIDE_POWERS + 32 * \n(KEY), BLOCK, T1
  vpclmulqdq $0x00, WIDE_POWERS + 32 * \n(KEY), BLOCK, BLOCK
  vpclmulqdq $0x00, WIDE_POWERS + WIDE_HALVES + 32 * \n(KEY), T0, T0
  vpxor T1, HI, HI
  vpxor BLOCK, LO, LO
  vpxor T0, MID, MID
.endm

/* HI = HI:MID:LO mod P in each lane, as in aes_aesni_gcm.inc. Changes T0. */
.macro REDUCE
  vpxor LO, MID, MID
  vpxor HI, MID, MID
  vpshufd $0x4e, LO, T0
  vpclmulqdq $0x00, .Lreduce(%rip), LO, LO
  vpxor T0, MID, MID
  vpxor LO, MID, MID
  vpshufd $0x4e, MID, T0
  vpclmulqdq $0x00, .Lreduce(%rip), MID, MID
  vpxor T0, HI, HI
  vpxor MID, HI, HI
.endm

/* HIX = the sum of both lanes, reduced; the upper lane is cleared. */
.macro REDUCE_SUM
  REDUCE
  vextracti128 $1, HI, T0X
  vpxor T0X, HIX, HIX
.endm

/* Blocks 2 \n and 2 \n + 1 of 16 at \base + \at: into the products. Y is added to the first. */
.macro HASH_BLOCKS n, base, at
  vmovdqu \at + 32 * \n(\base), BLOCK
  vpshufb BYTE_REVERSE, BLOCK, BLOCK
  .if \n == 0
  vpxor HI, BLOCK, BLOCK
  MUL_FIRST 0
  .else
  MUL_ADD \n
  .endif
.endm

/* HIX = Y after the 16 blocks at \base + \at. */
.macro HASH base, at
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  HASH_BLOCKS \n, \base, \at
  .endr
  REDUCE_SUM
.endm

/* HIX = Y after all whole batches of LEN at IN, at least one; IN and LEN advance. */
FC_LOCAL_FUNC(vaes256_hash_bulk)
  .p2align 6
1:
  HASH IN, 0
  addq $BATCH, IN
  subq $BATCH, LEN
  cmpq $BATCH, LEN
  jae 1b
  ret
FC_END(vaes256_hash_bulk)

/*
 * void fc_aes_ghash_vaes256(const struct fc_ghash_key *ghash, uint8_t y[16], data, size_t len)
 * Arguments: ghash (rdi), Y_PTR (rsi), IN (rdx), LEN (rcx).
 */
FC_FUNC(fc_aes_ghash_vaes256)
  cmpq $BATCH, LEN
  jb FC_SYMBOL(fc_aes_ghash_aesni)
  movq ARG2, Y_PTR
  movq ARG3, IN
  subq $POWERS, KEY
  vmovdqu (Y_PTR), HIX
  vpshufb BYTE_REVERSE, HIX, HIX
  call vaes256_hash_bulk
  vpshufb BYTE_REVERSE, HIX, HIX
  vmovdqu HIX, (Y_PTR)
  vzeroall
  addq $POWERS, KEY
  movq IN, ARG3
  movq Y_PTR, ARG2
  jmp FC_SYMBOL(fc_aes_ghash_aesni)
FC_END(fc_aes_ghash_vaes256)

/* ---- GCM: sixteen blocks a time -------------------------------------------------------------- */

/* In GCM, CTR is the counter block used last, so that J0 starts it. */
FC_LOCAL_FUNC(vaes256_gcm_carry)
  COUNTERS_CARRY 1, vpaddd
  ret
FC_END(vaes256_gcm_carry)

/*
 * The rounds of 16 blocks, and between them the GHASH of the 16 at \base + \at: two blocks a round,
 * and the reduction after the ninth. The last round key is left in RK.
 */
.macro CIPHER_HASH base, at
  ADD_FIRST_KEY
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  ROUND vaesenc, ENC_KEYS+16, \n
  HASH_BLOCKS \n, \base, \at
  .endr
  ROUND vaesenc, ENC_KEYS, 9
  REDUCE_SUM
  LATE_ROUNDS vaesenc, ENC_KEYS
.endm

/*
 * All whole batches of LEN, at least one: CTR, HIX, IN, OUT and LEN advance. Encryption hashes the
 * batch before, and starts and ends without a partner.
 */
FC_LOCAL_FUNC(vaes256_gcm_encrypt_bulk)
  COUNTERS 1, 4f
1:
  ADD_FIRST_KEY
  CIPHER vaesenc, ENC_KEYS
  jmp 3f
  .p2align 6
2:
  COUNTERS 1, 5f
6:
  CIPHER_HASH OUT, -256
3:
  CRYPT
  ADVANCE BATCH
  subq $BATCH, LEN
  cmpq $BATCH, LEN
  jae 2b
  HASH OUT, -256
  ret
4:
  call vaes256_gcm_carry
  jmp 1b
5:
  call vaes256_gcm_carry
  jmp 6b
FC_END(vaes256_gcm_encrypt_bulk)

/* Likewise; decryption hashes the batch that it decrypts, all of it before the first store. */
FC_LOCAL_FUNC(vaes256_gcm_decrypt_bulk)
  .p2align 6
1:
  COUNTERS 1, 3f
2:
  CIPHER_HASH IN, 0
  CRYPT
  ADVANCE BATCH
  subq $BATCH, LEN
  cmpq $BATCH, LEN
  jae 1b
  ret
3:
  call vaes256_gcm_carry
  jmp 2b
FC_END(vaes256_gcm_decrypt_bulk)

/* ---- GCM: streaming ------------------------------------------------------------------------- */

/*
 * Arguments: KEY (rdi), COUNTER (rsi), Y_PTR (rdx), IN (rcx), OUT (r8), LEN (r9). counter is the
 * next one to use: CTR is one less in the low 32 bits, and one more when it goes back.
 */
.macro GCM_STREAM bulk, rest
  cmpq $BATCH, ARG6
  jb \rest
  movq ARG2, COUNTER
  movq ARG3, TMP
  movq ARG4, IN
  movq ARG5, OUT
  movq ARG6, LEN
  movq TMP, Y_PTR
  movl 12(COUNTER), NUMBER32
  bswapl NUMBER32
  decl NUMBER32
  movzbl %al, LAST_BYTE32
  bswapl NUMBER32
  vmovdqu (COUNTER), CTRX
  vpinsrd $3, NUMBER32, CTRX, CTRX
  vinserti128 $1, CTRX, CTR, CTR
  vmovdqu (Y_PTR), HIX
  vpshufb BYTE_REVERSE, HIX, HIX
  call \bulk
  vpextrd $3, CTRX, NUMBER32
  bswapl NUMBER32
  incl NUMBER32
  bswapl NUMBER32
  movl NUMBER32, 12(COUNTER)
  vpshufb BYTE_REVERSE, HIX, HIX
  vmovdqu HIX, (Y_PTR)
  vzeroall
  movq Y_PTR, TMP
  movq LEN, ARG6
  movq OUT, ARG5
  movq IN, ARG4
  movq TMP, ARG3
  movq COUNTER, ARG2
  jmp \rest
.endm

/* void fc_aes_gcm_encrypt_vaes256(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_encrypt_vaes256)
  GCM_STREAM vaes256_gcm_encrypt_bulk, FC_SYMBOL(fc_aes_gcm_encrypt_aesni)
FC_END(fc_aes_gcm_encrypt_vaes256)

/* void fc_aes_gcm_decrypt_vaes256(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_decrypt_vaes256)
  GCM_STREAM vaes256_gcm_decrypt_bulk, FC_SYMBOL(fc_aes_gcm_decrypt_aesni)
FC_END(fc_aes_gcm_decrypt_vaes256)

/* ---- GCM: whole messages -------------------------------------------------------------------- */

/*
 * HIX = Y after LEN bytes of AAD at IN; the lanes above are clear. The bytes after whole batches
 * by aes_aesni_gcm.inc.
 */
FC_LOCAL_FUNC(vaes256_hash_aad)
  vpxor HIX, HIX, HIX
  cmpq $BATCH, LEN
  jb 1f
  call vaes256_hash_bulk
  vzeroupper
1:
  jmp FC_SYMBOL(fc_aesni_hash)
FC_END(vaes256_hash_aad)

/* Arguments: KEY (rdi), MSG (rsi). The end of the message is \rest, of aes_aesni_gcm.inc. */
.macro GCM_MESSAGE bulk, short, rest
  cmpq $BATCH, MSG_LEN(ARG2)
  jb \short
  movq ARG2, MSG
  movq MSG_AAD(MSG), IN
  movq MSG_AAD_LEN(MSG), LEN
  call vaes256_hash_aad
  movq MSG_J0(MSG), TMP
  movq MSG_IN(MSG), IN
  movq MSG_OUT(MSG), OUT
  movq MSG_LEN(MSG), LEN
  movzbl 15(TMP), LAST_BYTE32
  vbroadcasti128 (TMP), CTR
  call \bulk
  vzeroupper
  jmp \rest
.endm

/* void fc_aes_gcm_seal_vaes256(const struct fc_gcm_key *key, const struct fc_gcm_message *) */
FC_FUNC(fc_aes_gcm_seal_vaes256)
  GCM_MESSAGE vaes256_gcm_encrypt_bulk, FC_SYMBOL(fc_aes_gcm_seal_aesni), \
    FC_SYMBOL(fc_aesni_seal_rest)
FC_END(fc_aes_gcm_seal_vaes256)

/* void fc_aes_gcm_open_vaes256(const struct fc_gcm_key *key, const struct fc_gcm_message *) */
FC_FUNC(fc_aes_gcm_open_vaes256)
  GCM_MESSAGE vaes256_gcm_decrypt_bulk, FC_SYMBOL(fc_aes_gcm_open_aesni), \
    FC_SYMBOL(fc_aesni_open_rest)
FC_END(fc_aes_gcm_open_vaes256)

/* ---- The key of GHASH ----------------------------------------------------------------------- */

/*
 * void fc_aes_ghash_key_vaes256(struct fc_ghash_key *ghash, const uint8_t h[16])
 * Arguments: ghash (rdi), h (rsi). The aesni suite leaves KEY, all powers up to H^8 in their place,
 * and zeros in that of the others. H^16 to H^9 are those eight times H^8, all side by side.
 */
#define H8 S0
#define H8_HALF S1
#define PAIR S2
#define PAIR_HALF S3

FC_FUNC(fc_aes_ghash_key_vaes256)
  call FC_SYMBOL(fc_aes_ghash_key_aesni)
  vbroadcasti128 POWERS(KEY), H8
  vbroadcasti128 POWERS + HALVES(KEY), H8_HALF
  .irp n, 0, 1, 2, 3
  vmovdqu POWERS + 32 * \n(KEY), PAIR
  vmovdqu POWERS + HALVES + 32 * \n(KEY), PAIR_HALF
  vmovdqu PAIR, WIDE_POWERS + 128 + 32 * \n(KEY)
  vmovdqu PAIR_HALF, WIDE_POWERS + WIDE_HALVES + 128 + 32 * \n(KEY)
  vpclmulqdq $0x11, PAIR, H8, HI
  vpclmulqdq $0x00, PAIR, H8, LO
  vpclmulqdq $0x00, PAIR_HALF, H8_HALF, MID
  REDUCE
  vpshufd $0x4e, HI, T0
  vpxor HI, T0, T0
  vmovdqu HI, WIDE_POWERS + 32 * \n(KEY)
  vmovdqu T0, WIDE_POWERS + WIDE_HALVES + 32 * \n(KEY)
  .endr
  vzeroall
  ret
FC_END(fc_aes_ghash_key_vaes256)

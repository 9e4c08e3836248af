/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES-128/192/256 for processors without AES-NI: one block by vector permutation (this file), where an
 * S-box is arithmetic in GF(2^4) by look-ups in registers; eight blocks at once bit-sliced
 * (aes_vperm_sliced.inc); GCM with a GHASH of another suite (aes_vperm_gcm.inc).
 *
 * Contract: kernels.h, the ops of an AES suite; layout vperm.
 *
 * Needs: SSSE3 (pshufb), SSE2 (all other instructions).
 *
 * Arguments: role (register) in the head of each function. Once they are in place the roles of the
 *   registers are the same in the whole file, see "Roles".
 *
 * Registers: xmm0-xmm15 and the caller-saved general registers; callee-saved ones, restored, for
 *   public arguments of GCM and of many chains. The stack holds what the bit-sliced S-box has no
 *   register for, and is cleared. Every function clears the vector registers that held secrets; those
 *   of tables stay. No general register ever holds a secret, but for one in vperm_xor_partial, which
 *   clears it.
 *
 * Secret: all that the pointers point to, but for counter, the lengths and rounds.
 * Public registers: rax rcx rdx rsi rdi r8 r9 r10 r11
 *
 * Structure: eight blocks in flight where there are four or more that do not wait for each other, since
 *   eight take as long as four one by one; the rest, and CBC encryption, one after the other. A round
 *   of one block is a chain of 13 instructions and takes 15.6 cycles on Zen 3, without a cycle of wait
 *   for a table: all that a round needs is in registers but for 1/k, which is off the chain.
 *   AES-256 on Zen 3, cycles per byte: CBC encryption 13.5; ECB 6.7, CTR 6.8; ECB and CBC decryption
 *   7.8; one block after the other in these modes 13.1, decryption 14.8.
 *
 * Tried and rejected, CBC encryption with AES-256 on Zen 3, cycles per byte:
 *   - MixColumns from look-ups of s, 2s and 3s, 12 instructions to the chain but two more pshufb: 14.6,
 *     where this was 14.2.
 *   - io and jo rotated, not what is looked up: 15.3, where this was 14.2.
 *   - pandn and a shift for the high nibbles, a shift and pand (this): 0.35 cycles less a round.
 *   - Rounds unrolled: no gain. Other orders of the same instructions: within 1 %.
 *   - The last S-box in one basis only, the next block through phi on the chain: 13.9.
 *
 * The method is Mike Hamburg's (Accelerating AES with Vector Permute Instructions, CHES 2009); the
 * tables below follow from these definitions alone, each the least that will do:
 *
 *   GF(16)   polynomials in z modulo z^4 + z + 1; z is 2.
 *   GF(256)  i + k t with t^2 = t + c, c = 8 = z^3: the least c for which that is irreducible. A
 *            byte of the state is i << 4 | k. a = 15 = 1/c.
 *   phi      from the field of FIPS 197: takes {02} to the byte 02, z t, which is the least root of
 *            x^8 + x^4 + x^3 + x + 1.
 *
 * Inversion. With j = i + k, the norm is N = i j + c k^2, and 1 / (i + k t) = (j + k t) / N. Let
 *
 *   io = 1 / (1/i + a/k) + j      jo = 1 / (1/j + a/k) + i
 *
 * then io = a N / (k + a i), jo = a N / (k + a j), whence (j + k t) / N = (t + c) / io +
 * (t + 1 + c) / jo. Whatever is linear in the inverse is therefore one look-up by io ^ one by jo.
 * 1/0 is a byte with bit 7 set: it stays so when another value is added, and pshufb yields zero for
 * it, which is 1/infinity. If both summands are infinite (x = 0) their sum is 0, hence io and jo are
 * infinite, and the inverse is 0, as FIPS 197 wants it.
 *
 * struct fc_aes_key, layout vperm:
 *   [  0, 240)  encryption: round key r with the S-box's constant {63} added (r > 0), through phi and
 *               in the places of drift r (see "Rows"); the last one as it is but for {63}
 *   [240, 480)  decryption, in its order: psi(InvMixColumns(key) ^ {63}) in the places of drift -r; the
 *               first without InvMixColumns, the last, key 0, as it is. psi is phi after the inverse
 *               of the S-box's linear map.
 *   [480, 960)  for eight blocks at once, see aes_vperm_sliced.inc
 */
#include "fc_asm.h"

/* ---- Roles ---------------------------------------------------------------------------------- */

/* The state; during a round its low nibbles k, then j. */
#define S %xmm0
/* Its high nibbles. */
#define I %xmm1
/* a/k */
#define AK %xmm2
#define IO %xmm3
#define JO %xmm4
/* Multiples of what SubBytes yields, and a temporary. */
#define A %xmm5
#define B %xmm6
#define T %xmm7
/* The counter as a number, or the chaining value of CBC. */
#define COUNT %xmm8
#define CHAIN %xmm8
/* Tables. */
#define TWO_JO %xmm9
#define TWO_IO %xmm10
#define ONE_JO %xmm11
#define ONE_IO %xmm12
#define A_OVER .La_over(%rip)
#define INVERSE %xmm14
#define LOW_NIBBLES %xmm15

/* The second to the sixth argument; the first is KEY and stays where it is. */
#define ARG2 %rsi
#define ARG3 %rdx
#define ARG4 %rcx
#define ARG5 %r8

#define KEY %rdi
#define IN %rsi
#define OUT %rdx
#define LEN %rcx
#define LEN32 %ecx
#define VALUE %r10 /* CBC, CTR: chaining value or counter */
#define TMP %rax

/* In a block: the next round key, the last one, and the drift of the round times 64. */
#define ROUND_KEY %r11
#define LAST_KEY %r9
#define LAST_KEY32 %r9d
#define DRIFT %rax
#define DRIFT32 %eax
#define ROW_TABLE %r8

/* struct fc_aes_key */
#define ENC_KEYS 0
#define DEC_KEYS 240
#define FIPS_KEYS 720 /* while the schedule is made */
#define ROUNDS 960

/* ---- Constants ------------------------------------------------------------------------------ */

FC_RODATA
.p2align 6
.Llow_nibbles:
.fill 16, 1, 0x0f
.Linverse: /* 1/n in GF(16); infinity for 0 */
.byte 0x80, 0x01, 0x09, 0x0e, 0x0d, 0x0b, 0x07, 0x06, 0x0f, 0x02, 0x0c, 0x05, 0x0a, 0x04, 0x03, 0x08
.La_over: /* a/n */
.byte 0x80, 0x0f, 0x0e, 0x05, 0x07, 0x03, 0x0b, 0x04, 0x0a, 0x0d, 0x08, 0x06, 0x0c, 0x09, 0x02, 0x01

/*
 * Look-ups of the S-box, the first row by io, the second by jo. Entry n is what the comment says of
 * u = (t + c) / n in the first row, (t + 1 + c) / n in the second; A is the S-box's linear map.
 */
.Lone: /* phi(A u) */
.byte 0x00, 0x7a, 0x49, 0xc1, 0x34, 0xc6, 0x88, 0xf2, 0xbb, 0x8f, 0x4e, 0x07, 0xbc, 0x7d, 0xf5, 0x33
.byte 0x00, 0x0b, 0xc0, 0x2e, 0x68, 0x8d, 0xee, 0xe5, 0x25, 0x4d, 0x63, 0xa3, 0x86, 0xa8, 0x46, 0xcb
.Ltwo: /* phi({02} A u) */
.byte 0x00, 0xd9, 0x89, 0x39, 0xce, 0xa7, 0xb0, 0x69, 0xe0, 0x2e, 0x17, 0x9e, 0x7e, 0x47, 0xf7, 0x50
.byte 0x00, 0xe5, 0x0b, 0x1b, 0xbf, 0x4a, 0x10, 0xf5, 0xfe, 0x41, 0x5a, 0x51, 0xaf, 0xb4, 0xa4, 0xee
.Lsub: /* A u, in the basis of FIPS 197 */
.byte 0x00, 0x64, 0x99, 0x12, 0xe5, 0x0a, 0x8b, 0xef, 0x76, 0x93, 0x81, 0x18, 0x6e, 0x7c, 0xf7, 0xfd
.byte 0x00, 0x7b, 0xb0, 0x3d, 0x67, 0x91, 0x8d, 0xf6, 0x46, 0x21, 0x1c, 0xac, 0xea, 0xd7, 0x5a, 0xcb
.Lnine: /* psi({09} u) */
.byte 0x00, 0xeb, 0x7e, 0x40, 0x60, 0xb5, 0x3e, 0xd5, 0xab, 0xcb, 0x8b, 0xf5, 0x5e, 0x1e, 0x20, 0x95
.byte 0x00, 0xec, 0x28, 0x78, 0x0d, 0xb1, 0x50, 0xbc, 0x94, 0x99, 0xe1, 0xc9, 0x5d, 0x25, 0x75, 0xc4
.Leleven: /* psi({0b} u) */
.byte 0x00, 0xda, 0xee, 0x48, 0x72, 0x0e, 0xa6, 0x7c, 0x92, 0xe0, 0xa8, 0x46, 0xd4, 0x9c, 0x3a, 0x34
.byte 0x00, 0x24, 0xff, 0xba, 0x77, 0x16, 0x45, 0x61, 0x9e, 0xe9, 0x53, 0xac, 0x32, 0x88, 0xcd, 0xdb
.Lthirteen: /* psi({0d} u) */
.byte 0x00, 0xc6, 0x7f, 0xf6, 0x06, 0x49, 0x89, 0x4f, 0x30, 0x36, 0xc0, 0xbf, 0x8f, 0x79, 0xf0, 0xb9
.byte 0x00, 0x48, 0xa6, 0x0e, 0xd4, 0x34, 0xa8, 0xe0, 0x46, 0x92, 0x9c, 0x3a, 0x7c, 0x72, 0xda, 0xee
.Lfourteen: /* psi({0e} u) */
.byte 0x00, 0x48, 0xa6, 0x0e, 0xd4, 0x34, 0xa8, 0xe0, 0x46, 0x92, 0x9c, 0x3a, 0x7c, 0x72, 0xda, 0xee
.byte 0x00, 0xba, 0x45, 0x16, 0x32, 0xdb, 0x53, 0xe9, 0xac, 0x9e, 0x88, 0xcd, 0x61, 0x77, 0x24, 0xff
.Lunsub: /* u, in the basis of FIPS 197 */
.byte 0x00, 0xf2, 0x99, 0x30, 0x9d, 0xc6, 0xa9, 0x5b, 0xc2, 0x5f, 0x6f, 0xf6, 0x34, 0x04, 0xad, 0x6b
.byte 0x00, 0xf3, 0xc8, 0xdc, 0x2c, 0xcb, 0x14, 0xe7, 0x2f, 0x03, 0xdf, 0x17, 0x38, 0xe4, 0xf0, 0x3b

/* Changes of basis, the first row by the low nibble, the second by the high one. */
.Lphi:
.byte 0x00, 0x10, 0x02, 0x12, 0x64, 0x74, 0x66, 0x76, 0xc4, 0xd4, 0xc6, 0xd6, 0xa0, 0xb0, 0xa2, 0xb2
.byte 0x00, 0xc3, 0x5d, 0x9e, 0x43, 0x80, 0x1e, 0xdd, 0x5e, 0x9d, 0x03, 0xc0, 0x1d, 0xde, 0x40, 0x83
.Lpsi:
.byte 0x00, 0x85, 0xf9, 0x7c, 0x89, 0x0c, 0x70, 0xf5, 0x82, 0x07, 0x7b, 0xfe, 0x0b, 0x8e, 0xf2, 0x77
.byte 0x00, 0x67, 0x97, 0xf0, 0x9f, 0xf8, 0x08, 0x6f, 0x29, 0x4e, 0xbe, 0xd9, 0xb6, 0xd1, 0x21, 0x46

/*
 * Rows. ShiftRows is never done: a round works on the state as the rounds before it left it, so after
 * r rounds of encryption the byte of row i and column c is in column c + i r (drift r), and in
 * decryption in column c - i r (drift -r). For each drift d (mod 4) four permutations that say where
 * the byte in row i, column x comes from: the byte one, two and three rows below it in its column,
 * from (i + n, x + n d), and the place of drift d, from (i, x - i d).
 */
.p2align 6
.Lrows:
.byte 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12
.byte 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
.byte 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14
.byte 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
.byte 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0
.byte 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5
.byte 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10
.byte 0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3
.byte 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0, 5, 6, 7, 4
.byte 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13
.byte 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2, 7, 4, 5, 6
.byte 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 5, 14, 7
.byte 13, 14, 15, 12, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8
.byte 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5
.byte 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2
.byte 0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11
/*
 * The same for bytes in the order of rows, 4i + x, which eight blocks have: the byte one and two rows
 * below; from columns to rows with the place of drift d, and back.
 */
.byte 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3
.byte 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7
.byte 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
.byte 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15
.byte 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0
.byte 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5
.byte 0, 4, 8, 12, 13, 1, 5, 9, 10, 14, 2, 6, 7, 11, 15, 3
.byte 0, 5, 10, 15, 1, 6, 11, 12, 2, 7, 8, 13, 3, 4, 9, 14
.byte 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1
.byte 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7
.byte 0, 4, 8, 12, 9, 13, 1, 5, 2, 6, 10, 14, 11, 15, 3, 7
.byte 0, 6, 8, 14, 1, 7, 9, 15, 2, 4, 10, 12, 3, 5, 11, 13
.byte 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14, 3, 0, 1, 2
.byte 10, 11, 8, 9, 14, 15, 12, 13, 2, 3, 0, 1, 6, 7, 4, 5
.byte 0, 4, 8, 12, 5, 9, 13, 1, 10, 14, 2, 6, 15, 3, 7, 11
.byte 0, 7, 10, 13, 1, 4, 11, 14, 2, 5, 8, 15, 3, 6, 9, 12
#define ROW1 0
#define ROW2 16
#define ROW3 32
#define PLACE 48
#define SLICED_ROW1 256
#define SLICED_ROW2 272
#define SLICED_IN 288
#define SLICED_OUT 304

.Lbyte_reverse:
.byte 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
.Lsub_constant:
.fill 16, 1, 0x63
/* What makes a number of 128 or 32 bits of one whose low 64 bits have just overflowed or been added
   to: a carry to the high half, or none from the low 32 bits. */
.Lcarry_64:
.quad 0, 1
.Lno_carry_32:
.quad -1 << 32, 0
.Lcounts:
.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8
.quad \n, 0
.endr
/* XTS: x^128 = x^7 + x^2 + x + 1, and the carry between the halves. */
.Lalpha:
.long 0x87, 0, 1, 0

.text

/* ---- The S-box ------------------------------------------------------------------------------ */

/*
 * \x and \high = the low and the high nibbles of \x. Two nibbles to a byte:
 *   \x  i k | i k | ...      ->      \x  0 k | 0 k | ...      \high  0 i | 0 i | ...
 */
.macro NIBBLES x, high
  movdqa \x, \high
  psrld $4, \high
  pand LOW_NIBBLES, \x
  pand LOW_NIBBLES, \high
.endm

/* \to = the table \table looked up by \index. */
.macro LOOK_UP table, index, to
  movdqa \table, \to
  pshufb \index, \to
.endm

/* \x = \x through the change of basis \table. Changes \high, \tmp. */
.macro CHANGE_BASIS table, x=S, high=I, tmp=T
  NIBBLES \x, \high
  LOOK_UP \table(%rip), \x, \tmp
  movdqa \table + 16(%rip), \x
  pshufb \high, \x
  pxor \tmp, \x
.endm

/* IO and JO of S, and j in S. Changes I, AK, A, B. */
.macro INVERT
  NIBBLES S, I
  LOOK_UP A_OVER, S, AK
  pxor I, S
  LOOK_UP INVERSE, I, A
  LOOK_UP INVERSE, S, B
  pxor AK, A
  pxor AK, B
  LOOK_UP INVERSE, A, IO
  LOOK_UP INVERSE, B, JO
  pxor S, IO
  pxor I, JO
.endm

/* \to = the linear map of the inverse whose tables are \by_io and \by_jo. Changes \tmp. */
.macro OUTPUT by_io, by_jo, to, tmp
  LOOK_UP \by_io, IO, \to
  LOOK_UP \by_jo, JO, \tmp
  pxor \tmp, \to
.endm

.macro TABLES
  movdqa .Llow_nibbles(%rip), LOW_NIBBLES
  movdqa .Linverse(%rip), INVERSE
.endm

.macro ENC_TABLES
  TABLES
  movdqa .Lone(%rip), ONE_IO
  movdqa .Lone + 16(%rip), ONE_JO
  movdqa .Ltwo(%rip), TWO_IO
  movdqa .Ltwo + 16(%rip), TWO_JO
.endm

/* ---- A block -------------------------------------------------------------------------------- */

.macro BLOCK_POINTERS keys
  movl ROUNDS(KEY), LAST_KEY32
  leaq \keys(KEY), ROUND_KEY
  shlq $4, LAST_KEY
  addq ROUND_KEY, LAST_KEY
.endm

/*
 * From S with round key 0 added to IO and JO of the last round, with ENC_TABLES in place. MixColumns
 * of a column a0 a1 a2 a3 is, in row 0, 2 a0 + 3 a1 + a2 + a3 = u0 + u1 + a3, where u = 2 a + the a of
 * the row below.
 */
.macro ENC_ROUNDS
  leaq .Lrows(%rip), ROW_TABLE
  movl $64, DRIFT32
  addq $16, ROUND_KEY
78:
  INVERT
  OUTPUT ONE_IO, ONE_JO, A, T
  OUTPUT TWO_IO, TWO_JO, B, T
  movdqa A, S
  pshufb ROW1(ROW_TABLE, DRIFT), A
  pshufb ROW3(ROW_TABLE, DRIFT), S
  pxor A, B
  pxor (ROUND_KEY), S
  pxor B, S
  pshufb ROW1(ROW_TABLE, DRIFT), B
  addl $64, DRIFT32
  addq $16, ROUND_KEY
  andl $0xc0, DRIFT32
  pxor B, S
  cmpq LAST_KEY, ROUND_KEY
  jne 78b
  INVERT
.endm

/* S = S encrypted, with ENC_TABLES in place. */
FC_LOCAL_FUNC(vperm_encrypt)
  BLOCK_POINTERS ENC_KEYS
  CHANGE_BASIS .Lphi
  pxor (ROUND_KEY), S
  ENC_ROUNDS
  OUTPUT .Lsub(%rip), .Lsub + 16(%rip), S, T
  /* The places of drift -d undo those of drift d; 2 and 0 are their own opposites. */
  pshufb PLACE(ROW_TABLE, DRIFT), S
  pxor (ROUND_KEY), S
  ret
FC_END(vperm_encrypt)

/* S = S decrypted, with TABLES in place: 14 u0 + 11 u1 + 13 u2 + 9 u3 in row 0. */
FC_LOCAL_FUNC(vperm_decrypt)
  BLOCK_POINTERS DEC_KEYS
  CHANGE_BASIS .Lpsi
  leaq .Lrows(%rip), ROW_TABLE
  pxor (ROUND_KEY), S
  movl $0xc0, DRIFT32
  addq $16, ROUND_KEY
1:
  INVERT
  OUTPUT .Leleven(%rip), .Leleven + 16(%rip), A, T
  OUTPUT .Lthirteen(%rip), .Lthirteen + 16(%rip), B, T
  OUTPUT .Lfourteen(%rip), .Lfourteen + 16(%rip), S, T
  OUTPUT .Lnine(%rip), .Lnine + 16(%rip), I, T
  pshufb ROW1(ROW_TABLE, DRIFT), A
  pshufb ROW2(ROW_TABLE, DRIFT), B
  pxor (ROUND_KEY), S
  pshufb ROW3(ROW_TABLE, DRIFT), I
  pxor A, B
  pxor I, S
  subl $64, DRIFT32
  addq $16, ROUND_KEY
  andl $0xc0, DRIFT32
  pxor B, S
  cmpq LAST_KEY, ROUND_KEY
  jne 1b
  INVERT
  OUTPUT .Lunsub(%rip), .Lunsub + 16(%rip), S, T
  pshufb PLACE(ROW_TABLE, DRIFT), S
  pxor (ROUND_KEY), S
  ret
FC_END(vperm_decrypt)

#include "aes_vperm_sliced.inc"

/* ---- Key schedule --------------------------------------------------------------------------- */

/*
 * void fc_aes_expand_key_vperm(struct fc_aes_key *key, const uint8_t *bytes, size_t key_len)
 * Arguments: KEY (rdi), BYTES (rsi), KEY_LEN (rdx), which becomes a pointer into the round keys.
 *
 * First the schedule of FIPS 197, a SubWord at a time; then each round key in the forms that the
 * rounds want.
 */
#define BYTES %rsi
#define KEY_LEN %rdx
#define NEXT %rdx
#define RCON %rax
#define LIMIT %rcx
#define WORDS %xmm8      /* four words of the schedule */
#define HIGH_WORDS %xmm9 /* AES-256: the next four; AES-192: the next two */
#define SHIFTED %xmm10
#define ROTATE %xmm11

FC_RODATA
.p2align 4
/* RotWord of the last word of four, in all columns; and of the second. */
.Lrotate_word3:
.byte 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12
.Lrotate_word1:
.byte 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4
/* The round constants, with the S-box's constant in every byte. */
.Lrcon:
.irp n, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36
.long 0x63636363 ^ \n, 0x63636363 ^ \n, 0x63636363 ^ \n, 0x63636363 ^ \n
.endr
.Lxtime:
.fill 16, 1, 0x1b
.text

/* S = the S-box of S but for its constant. */
FC_LOCAL_FUNC(vperm_sub)
  CHANGE_BASIS .Lphi
  INVERT
  OUTPUT .Lsub(%rip), .Lsub + 16(%rip), S, T
  ret
FC_END(vperm_sub)

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
  movdqa \from, S
  pshufb ROTATE, S
  call vperm_sub
  SUM_WORDS \words
  pxor (RCON), S
  pxor S, \words
  addq $16, RCON
.endm

/* \x = {02} \x in the basis of FIPS 197. Changes \tmp. */
.macro XTIME x, tmp
  pxor \tmp, \tmp
  pcmpgtb \x, \tmp
  paddb \x, \x
  pand .Lxtime(%rip), \tmp
  pxor \tmp, \x
.endm

/*
 * S = InvMixColumns(S) in the basis of FIPS 197, with the rows of drift 0 at ROW_TABLE: MixColumns
 * after adding {04} (a + the a two rows below). Changes A, B, T.
 */
.macro INV_MIX_COLUMNS
  movdqa S, A
  pshufb ROW2(ROW_TABLE), A
  pxor S, A
  XTIME A, T
  XTIME A, T
  pxor A, S
  movdqa S, A
  movdqa S, B
  pshufb ROW1(ROW_TABLE), A
  XTIME B, T
  pshufb ROW3(ROW_TABLE), S
  pxor A, B
  pxor B, S
  pshufb ROW1(ROW_TABLE), B
  pxor B, S
.endm

FC_FUNC(fc_aes_expand_key_vperm)
  TABLES
  movq $0, ROUNDS + 8(KEY)
  pxor T, T
  leaq ROUNDS(KEY), LIMIT
  movq KEY, RCON
1:
  movaps T, 0x00(RCON)
  movaps T, 0x10(RCON)
  addq $32, RCON
  cmpq LIMIT, RCON
  jne 1b

  movdqu (BYTES), WORDS
  movdqa .Lrotate_word3(%rip), ROTATE
  leaq .Lrcon(%rip), RCON
  movaps WORDS, FIPS_KEYS(KEY)
  cmpq $24, KEY_LEN
  je 4f
  ja 6f

  movq $10, ROUNDS(KEY)
  leaq FIPS_KEYS + 16(KEY), NEXT
  leaq FIPS_KEYS + 16 * 11(KEY), LIMIT
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
  movq HIGH_WORDS, FIPS_KEYS + 16(KEY)
  leaq FIPS_KEYS + 24(KEY), NEXT
  leaq FIPS_KEYS + 24 * 8(KEY), LIMIT
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
  movaps HIGH_WORDS, FIPS_KEYS + 16(KEY)
  leaq FIPS_KEYS + 32(KEY), NEXT
  leaq FIPS_KEYS + 16 * 14(KEY), LIMIT
7:
  NEXT_WORDS WORDS, HIGH_WORDS
  movaps WORDS, (NEXT)
  cmpq LIMIT, NEXT
  jae 8f
  pshufd $0xff, WORDS, S
  call vperm_sub
  SUM_WORDS HIGH_WORDS
  pxor .Lsub_constant(%rip), S
  pxor S, HIGH_WORDS
  movaps HIGH_WORDS, 16(NEXT)
  addq $32, NEXT
  jmp 7b

8:
  call vperm_key_forms
  FC_CLEAR_XMM 0, 10
  ret
FC_END(fc_aes_expand_key_vperm)

#define SLICED %r10

/* The sliced form of the round key \key. Changes S, I. */
.macro SLICED_KEY key
  movdqa \key, S
  pshufb SLICED_IN(ROW_TABLE, DRIFT), S
  NIBBLES S, I
  movaps S, (SLICED)
  movaps I, 16(SLICED)
  addq $SLICED_BYTES, SLICED
.endm

/*
 * All forms of the round keys at FIPS_KEYS, from the first to the last; decryption's from its last
 * to its first. The sliced form takes twice the space and catches up with FIPS_KEYS at the last key
 * of AES-256.
 */
#define THIS_KEY %xmm8
#define FIPS_KEY %rcx
#define DEC_KEY %rdx
#define DEC_DRIFT %rsi
#define DEC_DRIFT32 %esi
FC_LOCAL_FUNC(vperm_key_forms)
  BLOCK_POINTERS ENC_KEYS
  imull $-64, ROUNDS(KEY), DEC_DRIFT32
  leaq FIPS_KEYS(KEY), FIPS_KEY
  leaq SLICED_KEYS(KEY), SLICED
  leaq .Lrows(%rip), ROW_TABLE
  leaq DEC_KEYS - ENC_KEYS(LAST_KEY), DEC_KEY
  xorl DRIFT32, DRIFT32

  movdqa (FIPS_KEY), THIS_KEY
  movaps THIS_KEY, (DEC_KEY)
  SLICED_KEY THIS_KEY
  movdqa THIS_KEY, S
  CHANGE_BASIS .Lphi
1:
  movaps S, (ROUND_KEY)
  addl $64, DRIFT32
  addl $64, DEC_DRIFT32
  addq $16, FIPS_KEY
  addq $16, ROUND_KEY
  subq $16, DEC_KEY
  andl $0xc0, DRIFT32
  andl $0xc0, DEC_DRIFT32
  movdqa (FIPS_KEY), THIS_KEY
  pxor .Lsub_constant(%rip), THIS_KEY
  SLICED_KEY THIS_KEY
  movdqa THIS_KEY, S
  cmpq LAST_KEY, ROUND_KEY
  je 2f
  INV_MIX_COLUMNS
  CHANGE_BASIS .Lpsi
  pshufb PLACE(ROW_TABLE, DEC_DRIFT), S
  movaps S, (DEC_KEY)
  movdqa THIS_KEY, S
  CHANGE_BASIS .Lphi
  pshufb PLACE(ROW_TABLE, DRIFT), S
  jmp 1b
2:
  movaps S, (ROUND_KEY)
  CHANGE_BASIS .Lpsi
  movaps S, (DEC_KEY)
  /* Nothing of the keys of FIPS 197 stays, where a shorter key leaves room. */
  pxor T, T
  leaq ROUNDS(KEY), LAST_KEY
  jmp 4f
3:
  movaps T, 0x00(SLICED)
  movaps T, 0x10(SLICED)
  addq $SLICED_BYTES, SLICED
4:
  cmpq LAST_KEY, SLICED
  jne 3b
  ret
FC_END(vperm_key_forms)

/* ---- ECB ------------------------------------------------------------------------------------ */

.macro ADVANCE
  addq $16, IN
  addq $16, OUT
.endm

/* Eight blocks further. */
.macro ADVANCE8
  addq $128, IN
  addq $128, OUT
.endm

/*
 * Arguments: KEY (rdi), IN (rsi), OUT (rdx), LEN (rcx), here in blocks. Eight blocks take as long as
 * four one by one, so four to seven at the end are done like eight.
 */
.macro ECB block, tables, block8
  cmpq $4, LEN
  jb 4f
  FRAME FRAME_BYTES
1:
  cmpq $8, LEN
  jb 2f
  EIGHT_BLOCKS LOAD_BLOCK
  call \block8
  EIGHT_BLOCKS STORE_BLOCK
  ADVANCE8
  subq $8, LEN
  jmp 1b
2:
  cmpq $4, LEN
  jb 3f
  LEN_BLOCKS LOAD_BLOCK
  call \block8
  LEN_BLOCKS STORE_BLOCK
  xorl LEN32, LEN32
3:
  CLEAR_FRAME
  DROP_FRAME FRAME_BYTES
4:
  testq LEN, LEN
  jz 6f
  \tables
5:
  movdqu (IN), S
  call \block
  movdqu S, (OUT)
  ADVANCE
  decq LEN
  jnz 5b
  FC_CLEAR_XMM 0, 7
6:
  ret
.endm

/* void fc_aes_ecb_encrypt_vperm(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_encrypt_vperm)
  ECB vperm_encrypt, ENC_TABLES, vperm_encrypt8
FC_END(fc_aes_ecb_encrypt_vperm)

/* void fc_aes_ecb_decrypt_vperm(const struct fc_aes_key *key, in, out, size_t nblocks) */
FC_FUNC(fc_aes_ecb_decrypt_vperm)
  ECB vperm_decrypt, TABLES, vperm_decrypt8
FC_END(fc_aes_ecb_decrypt_vperm)

/* ---- CBC ------------------------------------------------------------------------------------ */

/* (key, chaining value, in, out, length) into KEY, VALUE, IN, OUT and LEN. */
.macro FIVE_ARGUMENTS
  movq ARG2, VALUE
  movq ARG3, IN
  movq ARG4, OUT
  movq ARG5, LEN
.endm

/*
 * void fc_aes_cbc_encrypt_vperm(const struct fc_aes_key *key, iv, in, out, size_t nblocks)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8), in blocks.
 *
 * One chain, nothing but rounds on it: the last S-box is looked up in both bases, so that the next
 * state is had by adding to it phi(plaintext), phi(key 0) and phi(last key), which are off the chain.
 */
#define CIPHERTEXT B
#define NEXT_IN %xmm8 /* phi(next plaintext) ^ KEYS */
#define KEYS %xmm13   /* phi(key 0 ^ last key) */
FC_FUNC(fc_aes_cbc_encrypt_vperm)
  FIVE_ARGUMENTS
  testq LEN, LEN
  jz 4f
  ENC_TABLES
  BLOCK_POINTERS ENC_KEYS
  movdqa (LAST_KEY), KEYS
  CHANGE_BASIS .Lphi, KEYS
  pxor ENC_KEYS(KEY), KEYS
  movdqu (VALUE), S
  movdqu (IN), T
  pxor T, S
  CHANGE_BASIS .Lphi
  pxor ENC_KEYS(KEY), S
  .p2align 6
1:
  decq LEN
  jz 2f
  movdqu 16(IN), NEXT_IN
  CHANGE_BASIS .Lphi, NEXT_IN
  pxor KEYS, NEXT_IN
2:
  leaq ENC_KEYS(KEY), ROUND_KEY
  ENC_ROUNDS
  OUTPUT ONE_IO, ONE_JO, S, T
  pshufb PLACE(ROW_TABLE, DRIFT), S
  OUTPUT .Lsub(%rip), .Lsub + 16(%rip), CIPHERTEXT, T
  pshufb PLACE(ROW_TABLE, DRIFT), CIPHERTEXT
  pxor NEXT_IN, S
  pxor (ROUND_KEY), CIPHERTEXT
  movdqu CIPHERTEXT, (OUT)
  ADVANCE
  testq LEN, LEN
  jnz 1b
  movdqu CIPHERTEXT, (VALUE)
  FC_CLEAR_XMM 0, 8
  pxor KEYS, KEYS
4:
  ret
FC_END(fc_aes_cbc_encrypt_vperm)

/*
 * void fc_aes_cbc_decrypt_vperm(const struct fc_aes_key *key, iv, in, out, size_t nblocks)
 * Arguments: as fc_aes_cbc_encrypt_vperm.
 */
#define KEPT ONE_IO /* the ciphertext */

/* \o ^= the ciphertext before block \n. */
.macro CHAIN_BLOCK n, q, o
  .if \n == 0
  movdqu (VALUE), \q
  .else
  movdqu 16 * \n - 16(IN), \q
  .endif
  pxor \q, \o
.endm

FC_FUNC(fc_aes_cbc_decrypt_vperm)
  FIVE_ARGUMENTS
  cmpq $4, LEN
  jb 4f
  FRAME FRAME_BYTES
1:
  cmpq $8, LEN
  jb 2f
  EIGHT_BLOCKS LOAD_BLOCK
  call vperm_decrypt8
  EIGHT_BLOCKS CHAIN_BLOCK
  movdqu 16 * 7(IN), Q0
  movdqu Q0, (VALUE)
  EIGHT_BLOCKS STORE_BLOCK
  ADVANCE8
  subq $8, LEN
  jmp 1b
2:
  cmpq $4, LEN
  jb 3f
  LEN_BLOCKS LOAD_BLOCK
  call vperm_decrypt8
  LEN_BLOCKS CHAIN_BLOCK
  movq LEN, TMP
  shlq $4, TMP
  movdqu -16(IN, TMP), Q0
  movdqu Q0, (VALUE)
  LEN_BLOCKS STORE_BLOCK
  xorl LEN32, LEN32
3:
  CLEAR_FRAME
  DROP_FRAME FRAME_BYTES
4:
  testq LEN, LEN
  jz 6f
  TABLES
  movdqu (VALUE), CHAIN
5:
  movdqu (IN), S
  movdqa S, KEPT
  call vperm_decrypt
  pxor CHAIN, S
  movdqa KEPT, CHAIN
  movdqu S, (OUT)
  ADVANCE
  decq LEN
  jnz 5b
  movdqu CHAIN, (VALUE)
  FC_CLEAR_XMM 0, 15
6:
  ret
FC_END(fc_aes_cbc_decrypt_vperm)

/*
 * void fc_aes_cbc_encrypt_many_vperm(const struct fc_aes_key *key, const struct fc_cbc_chain *chains,
 *                                    size_t nchains, size_t nblocks)
 * Arguments: KEY (rdi), CHAINS (rsi), NCHAINS (rdx), NBLOCKS (rcx). Eight chains side by side, or the
 * four to seven at the end; up to three one after the other.
 * Public registers: rax rcx rdx rsi rdi r8 r9 r10 r11 rbx rbp r12 r13
 */
#define CHAINS %rbx
#define NCHAINS %rbp
#define NBLOCKS %r12
#define AT %r13 /* bytes done of each chain */
/* struct fc_cbc_chain */
#define CHAIN_IV 0
#define CHAIN_IN 8
#define CHAIN_OUT 16
#define CHAIN_BYTES 24

/* \q = the next block of chain \n ^ what it is chained to, which is kept where the IV was. */
.macro LOAD_CHAIN n, q, o
  movq CHAIN_BYTES * \n + CHAIN_IV(CHAINS), TMP
  movdqu (TMP), \q
  movq CHAIN_BYTES * \n + CHAIN_IN(CHAINS), TMP
  movdqu (TMP, AT), \o
  pxor \o, \q
.endm

.macro STORE_CHAIN n, q, o
  movq CHAIN_BYTES * \n + CHAIN_IV(CHAINS), TMP
  movdqu \o, (TMP)
  movq CHAIN_BYTES * \n + CHAIN_OUT(CHAINS), TMP
  movdqu \o, (TMP, AT)
.endm

/* All blocks of as many chains as \blocks takes. */
.macro CHAINS_SIDE_BY_SIDE blocks
  xorl %r13d, %r13d
78:
  \blocks LOAD_CHAIN
  call vperm_encrypt8
  \blocks STORE_CHAIN
  addq $16, AT
  cmpq NBLOCKS, AT
  jb 78b
.endm

FC_FUNC(fc_aes_cbc_encrypt_many_vperm)
  testq ARG4, ARG4
  jz 9f
  FC_PUSH(%rbx)
  FC_PUSH(%rbp)
  FC_PUSH(%r12)
  FC_PUSH(%r13)
  FRAME FRAME_BYTES
  movq ARG2, CHAINS
  movq ARG4, NBLOCKS
  shlq $4, NBLOCKS
  movq ARG3, LEN
1:
  cmpq $8, LEN
  jb 2f
  CHAINS_SIDE_BY_SIDE EIGHT_BLOCKS
  addq $8 * CHAIN_BYTES, CHAINS
  subq $8, LEN
  jmp 1b
2:
  cmpq $4, LEN
  jb 3f
  CHAINS_SIDE_BY_SIDE LEN_BLOCKS
  xorl LEN32, LEN32
3:
  movq LEN, NCHAINS
  CLEAR_FRAME
  testq NCHAINS, NCHAINS
  jz 5f
  shrq $4, NBLOCKS
4:
  movq CHAIN_IV(CHAINS), ARG2
  movq CHAIN_IN(CHAINS), ARG3
  movq CHAIN_OUT(CHAINS), ARG4
  movq NBLOCKS, ARG5
  call FC_SYMBOL(fc_aes_cbc_encrypt_vperm)
  addq $CHAIN_BYTES, CHAINS
  decq NCHAINS
  jnz 4b
5:
  DROP_FRAME FRAME_BYTES
  FC_POP(%r13)
  FC_POP(%r12)
  FC_POP(%rbp)
  FC_POP(%rbx)
9:
  ret
FC_END(fc_aes_cbc_encrypt_many_vperm)

/* ---- XTS ------------------------------------------------------------------------------------ */

/* \tweak times alpha: up by one bit, and 0x87 for the one that falls out. Changes \tmp. */
.macro NEXT_TWEAK tweak, tmp
  pshufd $0x13, \tweak, \tmp /* the upper half's sign to the first word, the lower's to the third */
  psrad $31, \tmp
  paddq \tweak, \tweak
  pand .Lalpha(%rip), \tmp
  pxor \tmp, \tweak
.endm

#define XTS_CHAIN O0
#define XTS_TMP O1
/* The tweaks of eight blocks, above the slots. */
#define XTS_FRAME (16*SLOTS+16*8+8)
#define FRAME_TWEAK(n) 16 * (SLOTS + n)(%rsp)

/* The tweak of block \n, which is next in CHAIN, to the frame, and the block ^ it. */
.macro TWEAK_BLOCK n, q, o
  movdqa XTS_CHAIN, FRAME_TWEAK(\n)
  movdqu 16 * \n(IN), \q
  pxor XTS_CHAIN, \q
  NEXT_TWEAK XTS_CHAIN, XTS_TMP
.endm

.macro UNTWEAK_BLOCK n, q, o
  pxor FRAME_TWEAK(\n), \o
  movdqu \o, 16 * \n(OUT)
.endm

/* Arguments: KEY (rdi), VALUE (rsi): the tweak, IN (rdx), OUT (rcx), LEN (r8), in blocks. */
.macro XTS block, tables, block8
  FIVE_ARGUMENTS
  cmpq $4, LEN
  jb 4f
  FRAME XTS_FRAME
1:
  cmpq $8, LEN
  jb 2f
  movdqu (VALUE), XTS_CHAIN
  EIGHT_BLOCKS TWEAK_BLOCK
  movdqu XTS_CHAIN, (VALUE)
  call \block8
  EIGHT_BLOCKS UNTWEAK_BLOCK
  ADVANCE8
  subq $8, LEN
  jmp 1b
2:
  cmpq $4, LEN
  jb 3f
  movdqu (VALUE), XTS_CHAIN
  LEN_BLOCKS TWEAK_BLOCK
  movdqu XTS_CHAIN, (VALUE)
  call \block8
  LEN_BLOCKS UNTWEAK_BLOCK
  xorl LEN32, LEN32
3:
  CLEAR_FRAME
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
  movaps Q0, FRAME_TWEAK(\n)
  .endr
  DROP_FRAME XTS_FRAME
4:
  testq LEN, LEN
  jz 6f
  \tables
  movdqu (VALUE), CHAIN
5:
  movdqu (IN), S
  pxor CHAIN, S
  call \block
  pxor CHAIN, S
  movdqu S, (OUT)
  NEXT_TWEAK CHAIN, T
  ADVANCE
  decq LEN
  jnz 5b
  movdqu CHAIN, (VALUE)
  FC_CLEAR_XMM 0, 8
6:
  ret
.endm

/* void fc_aes_xts_encrypt_vperm(const struct fc_aes_key *key, tweak, in, out, size_t nblocks) */
FC_FUNC(fc_aes_xts_encrypt_vperm)
  XTS vperm_encrypt, ENC_TABLES, vperm_encrypt8
FC_END(fc_aes_xts_encrypt_vperm)

/* void fc_aes_xts_decrypt_vperm(const struct fc_aes_key *key, tweak, in, out, size_t nblocks) */
FC_FUNC(fc_aes_xts_decrypt_vperm)
  XTS vperm_decrypt, TABLES, vperm_decrypt8
FC_END(fc_aes_xts_decrypt_vperm)

/* ---- CTR ------------------------------------------------------------------------------------ */

#define SECRET %rax
#define SECRET32 %eax
#define SECRET16 %ax
#define SECRET8 %al
#define LEN8 %cl

/* Where LEN has the bit \n: as many bytes at IN ^ the key stream in S, which moves down by them. */
.macro XOR_PART n, xor, store, part
  testb $\n, LEN8
  jz 77f
  movq S, SECRET
  \xor (IN), \part
  \store \part, (OUT)
  addq $\n, IN
  addq $\n, OUT
  psrldq $\n, S
77:
.endm

/*
 * The last LEN bytes, 1 to 15, ^ the key stream in S, eight, four, two and one at a time.
 * Public registers: rcx rdx rsi
 */
FC_LOCAL_FUNC(vperm_xor_partial)
  XOR_PART 8, xorq, movq, SECRET
  XOR_PART 4, xorl, movl, SECRET32
  XOR_PART 2, xorw, movw, SECRET16
  XOR_PART 1, xorb, movb, SECRET8
  xorl SECRET32, SECRET32
  ret
FC_END(vperm_xor_partial)

#define FRAME_COUNT 16 * SLOTS(%rsp)
#define LAST_BYTES32 %r8d /* of the text, less than a block */

/* \q = the counter in O0 and \n. O1 reverses bytes. */
.macro COUNT_BLOCK n, q, o
  movdqa O0, \q
  .if \n > 0
  paddq .Lcounts + 16 * \n(%rip), \q
  .endif
  pshufb O1, \q
.endm

/* O = the key stream of the next eight blocks. */
.macro KEY_STREAM8
  movdqa FRAME_COUNT, O0
  movdqa .Lbyte_reverse(%rip), O1
  EIGHT_BLOCKS COUNT_BLOCK
  call vperm_encrypt8
.endm

/*
 * LEN bytes, at least 1, ^ the key stream from COUNT on, which counts in its low 64 bits. COUNT is
 * advanced, IN and OUT are to the end; LEN is lost.
 */
FC_LOCAL_FUNC(vperm_ctr_run)
  cmpq $64, LEN
  jb 5f
  FRAME (16*SLOTS+16)
  movdqa COUNT, FRAME_COUNT
1:
  cmpq $128, LEN
  jb 2f
  KEY_STREAM8
  EIGHT_BLOCKS XOR_BLOCK
  movdqa FRAME_COUNT, Q0
  paddq .Lcounts + 16 * 8(%rip), Q0
  movdqa Q0, FRAME_COUNT
  ADVANCE8
  subq $128, LEN
  jmp 1b
2: /* Whole blocks, four to seven of them. */
  cmpq $64, LEN
  jb 3f
  KEY_STREAM8
  movl LEN32, LAST_BYTES32
  shrl $4, LEN32
  andl $15, LAST_BYTES32
  LEN_BLOCKS XOR_BLOCK
  movq LEN, Q0
  paddq FRAME_COUNT, Q0
  shll $4, LEN32
  movdqa Q0, FRAME_COUNT
  addq LEN, IN
  addq LEN, OUT
  movl LAST_BYTES32, LEN32
3:
  CLEAR_FRAME
  movdqa FRAME_COUNT, COUNT
  DROP_FRAME (16*SLOTS+16)
5:
  testq LEN, LEN
  jz 8f
  ENC_TABLES
6:
  movdqa COUNT, S
  paddq .Lcounts + 16(%rip), COUNT
  pshufb .Lbyte_reverse(%rip), S
  call vperm_encrypt
  subq $16, LEN
  jb 7f
  movdqu (IN), T
  pxor T, S
  movdqu S, (OUT)
  ADVANCE
  testq LEN, LEN
  jnz 6b
  ret
7:
  addq $16, LEN
  jmp vperm_xor_partial
8:
  ret
FC_END(vperm_ctr_run)

/* The arguments of CTR, if there is text; else to \done. COUNT is the counter as a number. */
#define BLOCKS %r9
#define BLOCKS32 %r9d
#define UNTIL %r8 /* blocks until the low part of the counter overflows; 0: 2^64 */
#define UNTIL32 %r8d
#define LOW %r11
#define LOW32 %r11d
#define HIGH %rax
.macro CTR_ARGUMENTS done
  FIVE_ARGUMENTS
  leaq 15(LEN), BLOCKS
  testq LEN, LEN
  jz \done
  shrq $4, BLOCKS
  movdqu (VALUE), COUNT
  pshufb .Lbyte_reverse(%rip), COUNT
.endm

/*
 * One run; or two, if the low part of the counter overflows between blocks, and \carry is added to
 * it there. VALUE is lost.
 */
#define REST %r10
#define REST32 %r10d
.macro CTR_RUNS carry
  xorl REST32, REST32
  decq UNTIL
  decq BLOCKS
  cmpq BLOCKS, UNTIL
  jae 1f
  incq UNTIL
  movq LEN, REST
  shlq $4, UNTIL
  movq UNTIL, LEN
  subq UNTIL, REST
1:
  call vperm_ctr_run
  testq REST, REST
  jz 2f
  movq REST, LEN
  paddq \carry(%rip), COUNT
  xorl REST32, REST32
  jmp 1b
2:
  FC_CLEAR_XMM 0, 7
.endm

/*
 * void fc_aes_ctr_vperm(const struct fc_aes_key *key, counter, in, out, size_t len)
 * Arguments: KEY (rdi), VALUE (rsi), IN (rdx), OUT (rcx), LEN (r8).
 */
FC_FUNC(fc_aes_ctr_vperm)
  CTR_ARGUMENTS 9f
  movq 8(VALUE), LOW
  movq (VALUE), HIGH
  bswapq LOW
  bswapq HIGH
  movq LOW, UNTIL
  negq UNTIL
  addq BLOCKS, LOW
  adcq $0, HIGH
  bswapq LOW
  bswapq HIGH
  movq LOW, 8(VALUE)
  movq HIGH, (VALUE)
  CTR_RUNS .Lcarry_64
9:
  ret
FC_END(fc_aes_ctr_vperm)

/* The same for GCM, whose counter is the low 32 bits alone. */
FC_SHARED_FUNC(fc_vperm_ctr32)
  CTR_ARGUMENTS 9f
  movl 12(VALUE), LOW32
  movl $1, UNTIL32
  bswapl LOW32
  shlq $32, UNTIL
  subq LOW, UNTIL
  addl BLOCKS32, LOW32
  bswapl LOW32
  movl LOW32, 12(VALUE)
  CTR_RUNS .Lno_carry_32
9:
  ret
FC_END(fc_vperm_ctr32)

#include "aes_vperm_gcm.inc"

/* ---- GCM with the GHASH of the portable suite ------------------------------------------------ */

/* void fc_aes_gcm_encrypt_vperm(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_encrypt_vperm)
  GCM_ENCRYPT FC_SYMBOL(fc_aes_ghash_portable)
FC_END(fc_aes_gcm_encrypt_vperm)

/* void fc_aes_gcm_decrypt_vperm(const struct fc_gcm_key *key, counter, y, in, out, size_t len) */
FC_FUNC(fc_aes_gcm_decrypt_vperm)
  GCM_DECRYPT FC_SYMBOL(fc_aes_ghash_portable)
FC_END(fc_aes_gcm_decrypt_vperm)

/* void fc_aes_gcm_seal_vperm(const struct fc_gcm_key *key, const struct fc_gcm_message *message) */
FC_FUNC(fc_aes_gcm_seal_vperm)
  GCM_SEAL FC_SYMBOL(fc_aes_ghash_portable)
FC_END(fc_aes_gcm_seal_vperm)

/* void fc_aes_gcm_open_vperm(const struct fc_gcm_key *key, const struct fc_gcm_message *message) */
FC_FUNC(fc_aes_gcm_open_vperm)
  GCM_OPEN FC_SYMBOL(fc_aes_ghash_portable)
FC_END(fc_aes_gcm_open_vperm)

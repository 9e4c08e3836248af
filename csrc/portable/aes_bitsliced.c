/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES on four blocks at once, bit-sliced: the rounds, and the S-box for the key schedule.
 *
 * Contract: aes_bitsliced.h, which describes the state
 * Secret: the blocks, the state, the round keys
 * Public: pointers, and key->rounds, which alone is branched on. No table: only AND, OR, XOR and
 *   shifts by constants, of words.
 * Loop: one round, four blocks in flight, which is what eight 64-bit words hold. A round is
 *   about 210 operations: S-box 113 (the inverse 120), MixColumns 43 and 40 more, in the mean, for
 *   the columns that wrap, round key 8.
 *
 * Cycles per byte on Zen 3, AES-256-CTR, gcc 12 -O3 (clang 19): 15.9 (16.6), and the same at -O2.
 * Tried and rejected:
 *   two blocks in eight 32-bit words, the same code with halved rotations: 32.4 (32.1)
 *   a round key copied to an array, then added: 19.0 (16.6); gcc copies it through vector registers
 *   leaving it to the compiler what to inline: 18.0 (27.0), and 32 with gcc at -O2
 */
#include "portable/aes_bitsliced.h"

/* The state lives in registers only if all that touches it is inlined, which -O2 does not do. */
#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

/* Unrolled by hand: an array is kept in registers only where every index is constant. */
#define EACH_SLICE(STEP) STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)

/* ---- Words and bytes ------------------------------------------------------------------------- */

/* Exchange the bits of *a at mask << shift with the bits of *b at mask. */
static ALWAYS_INLINE void exchange(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask) {
  uint64_t t = (*a >> shift ^ *b) & mask;
  *b ^= t;
  *a ^= t << shift;
}

/* One step of a transposition: exchange a bit of the position within a word with bit 2 (in the
   other two, bit 1 and 0) of the word's number. */
static ALWAYS_INLINE void exchange_4(uint64_t w[8], unsigned shift, uint64_t mask) {
  exchange(&w[0], &w[4], shift, mask);
  exchange(&w[1], &w[5], shift, mask);
  exchange(&w[2], &w[6], shift, mask);
  exchange(&w[3], &w[7], shift, mask);
}

static ALWAYS_INLINE void exchange_2(uint64_t w[8], unsigned shift, uint64_t mask) {
  exchange(&w[0], &w[2], shift, mask);
  exchange(&w[1], &w[3], shift, mask);
  exchange(&w[4], &w[6], shift, mask);
  exchange(&w[5], &w[7], shift, mask);
}

static ALWAYS_INLINE void exchange_1(uint64_t w[8], unsigned shift, uint64_t mask) {
  exchange(&w[0], &w[1], shift, mask);
  exchange(&w[2], &w[3], shift, mask);
  exchange(&w[4], &w[5], shift, mask);
  exchange(&w[6], &w[7], shift, mask);
}

/*
 * Words 0-3 hold columns 0 and 1 of blocks 0-3, words 4-7 columns 2 and 3, as loaded. Writing the
 * place of a bit as (bits of the word's number | bits of the position within the word), the first
 * three steps go from (c1 b1 b0 | c0 r1 r0 i2 i1 i0) to (c0 b1 b0 | r1 r0 c1 i2 i1 i0), and the
 * others exchange c0 b1 b0 with i2 i1 i0. Each step is its own inverse.
 */
static ALWAYS_INLINE void transpose(uint64_t w[8]) {
  exchange_4(w, 8, 0x00ff00ff00ff00ff);
  exchange_4(w, 16, 0x0000ffff0000ffff);
  exchange_4(w, 32, 0x00000000ffffffff);
  exchange_4(w, 4, 0x0f0f0f0f0f0f0f0f);
  exchange_2(w, 2, 0x3333333333333333);
  exchange_1(w, 1, 0x5555555555555555);
}

static ALWAYS_INLINE void transpose_back(uint64_t w[8]) {
  exchange_1(w, 1, 0x5555555555555555);
  exchange_2(w, 2, 0x3333333333333333);
  exchange_4(w, 4, 0x0f0f0f0f0f0f0f0f);
  exchange_4(w, 32, 0x00000000ffffffff);
  exchange_4(w, 16, 0x0000ffff0000ffff);
  exchange_4(w, 8, 0x00ff00ff00ff00ff);
}

static ALWAYS_INLINE void pack(const uint8_t blocks[FC_AES_BATCH], uint64_t state[8]) {
#define STEP(i) state[i] = fc_load_le64(blocks + 16 * (i % 4) + 8 * (i / 4));
  EACH_SLICE(STEP)
#undef STEP
  transpose(state);
}

static ALWAYS_INLINE void unpack(uint64_t state[8], uint8_t blocks[FC_AES_BATCH]) {
  transpose_back(state);
#define STEP(i) fc_store_le64(blocks + 16 * (i % 4) + 8 * (i / 4), state[i]);
  EACH_SLICE(STEP)
#undef STEP
}

/* ---- SubBytes -------------------------------------------------------------------------------- */

/*
 * The S-box is an inversion in GF(2^8) between two linear maps. The circuit is the one of Boyar and
 * Peralta with the improved output layer by Calik, 113 gates: a linear layer from the input to the
 * 22 forms y, the nonlinear middle, and a linear layer from its 18 products z to the output. Their
 * x0 and s0 are the most significant bits. The inverse S-box shares the middle; its linear layers
 * (23 and 35 gates) were found by a greedy search for common terms.
 *
 * The additive constant 0x63 is left to the round keys (see the header).
 */
/* clang-format off */
static ALWAYS_INLINE void sub_middle(const uint64_t y[22], uint64_t z[18]) {
  uint64_t t2 = y[12] & y[15], t7 = y[13] & y[16], t12 = y[9] & y[11];
  uint64_t t4 = t2 ^ (y[3] & y[6]), t6 = t2 ^ (y[4] & y[0]);
  uint64_t t9 = t7 ^ (y[5] & y[1]), t11 = t7 ^ (y[2] & y[7]);
  uint64_t t14 = t12 ^ (y[14] & y[17]), t16 = t12 ^ (y[8] & y[10]);
  uint64_t t21 = t4 ^ t14 ^ y[20], t22 = t6 ^ t16 ^ y[19];
  uint64_t t23 = t9 ^ t14 ^ y[21], t24 = t11 ^ t16 ^ y[18];

  /* Inversion in GF(2^4). */
  uint64_t t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22;
  uint64_t t30 = t23 ^ t24, t31 = t22 ^ t26, t33 = (t31 & t30) ^ t24;
  uint64_t t34 = t23 ^ t33, t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34;
  uint64_t t38 = t27 ^ t36, t40 = t25 ^ (t29 & t38);
  uint64_t t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37, t45 = t42 ^ t41;

  z[0] = t44 & y[15];  z[1] = t37 & y[6];   z[2] = t33 & y[0];
  z[3] = t43 & y[16];  z[4] = t40 & y[1];   z[5] = t29 & y[7];
  z[6] = t42 & y[11];  z[7] = t45 & y[17];  z[8] = t41 & y[10];
  z[9] = t44 & y[12];  z[10] = t37 & y[3];  z[11] = t33 & y[4];
  z[12] = t43 & y[13]; z[13] = t40 & y[5];  z[14] = t29 & y[2];
  z[15] = t42 & y[9];  z[16] = t45 & y[14]; z[17] = t41 & y[8];
}

static ALWAYS_INLINE void sub_bytes(uint64_t q[8]) {
  uint64_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];
  uint64_t y[22], z[18];
  uint64_t t0 = x1 ^ x2;
  y[0] = x7;            y[14] = x3 ^ x5;      y[13] = x0 ^ x6;      y[9] = x0 ^ x3;
  y[8] = x0 ^ x5;       y[1] = t0 ^ x7;       y[4] = y[1] ^ x3;     y[12] = y[13] ^ y[14];
  y[2] = y[1] ^ x0;     y[5] = y[1] ^ x6;     y[3] = y[5] ^ y[8];
  uint64_t t1 = x4 ^ y[12];
  y[15] = t1 ^ x5;      y[20] = t1 ^ x1;      y[6] = y[15] ^ x7;    y[10] = y[15] ^ t0;
  y[11] = y[20] ^ y[9]; y[7] = x7 ^ y[11];    y[17] = y[10] ^ y[11]; y[19] = y[10] ^ y[8];
  y[16] = t0 ^ y[11];   y[21] = y[13] ^ y[16]; y[18] = x0 ^ y[16];

  sub_middle(y, z);

  uint64_t c1 = z[15] ^ z[16], c2 = z[10] ^ c1, c3 = z[9] ^ c2, c4 = z[0] ^ z[2];
  uint64_t c6 = z[3] ^ z[4], c8 = z[7] ^ c6, c10 = c8 ^ z[8] ^ z[12] ^ c4;
  uint64_t c11 = c6 ^ z[1] ^ z[0], c14 = c4 ^ z[3] ^ z[5], c16 = z[6] ^ c8;
  uint64_t c17 = z[14] ^ c10, c18 = z[13] ^ c1 ^ c14, c21 = c2 ^ z[11];
  uint64_t s3 = c3 ^ c11;
  q[7] = c3 ^ c16;                        /* s0 */
  q[6] = s3 ^ c16;                        /* s1 */
  q[5] = c17 ^ z[15] ^ c16 ^ z[17];       /* s2 */
  q[4] = s3;
  q[3] = c14 ^ s3;                        /* s4 */
  q[2] = c21 ^ c17;                       /* s5 */
  q[1] = c10 ^ c18;                       /* s6 */
  q[0] = z[12] ^ c18;                     /* s7 */
}

static ALWAYS_INLINE void inv_sub_bytes(uint64_t q[8]) {
  uint64_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];
  uint64_t y[22], z[18];
  uint64_t t0 = x0 ^ x5;
  y[0] = x2 ^ t0;       y[3] = x0 ^ x3;       y[5] = x1 ^ x3;       y[6] = x0 ^ y[5];
  y[8] = x0 ^ x1;       y[9] = x3 ^ x4;       y[1] = x7 ^ y[9];     y[10] = y[6] ^ y[1];
  y[13] = x6 ^ y[1];    y[2] = y[5] ^ y[13];  y[4] = y[9] ^ y[2];   y[7] = x2 ^ y[4];
  y[12] = y[3] ^ y[4];  y[14] = x4 ^ y[6];    y[16] = y[1] ^ y[7];  y[18] = x2 ^ y[9];
  y[19] = x3 ^ y[1];    y[21] = x6 ^ y[7];    y[11] = y[4] ^ t0;    y[17] = y[10] ^ y[11];
  y[15] = y[16] ^ y[17]; y[20] = y[9] ^ y[11];

  sub_middle(y, z);

  uint64_t c0 = z[6] ^ z[15], c1 = z[12] ^ c0, c2 = z[16] ^ c1, c3 = z[8] ^ z[13];
  uint64_t c4 = z[1] ^ z[4], c5 = z[2] ^ z[10], c6 = c2 ^ c3, c7 = c6 ^ z[0];
  uint64_t c8 = z[7] ^ z[4] ^ z[13], c9 = c4 ^ c5 ^ z[3] ^ z[14], c10 = z[9] ^ z[17];
  q[2] = c7 ^ z[5] ^ c4;                                          /* s5 */
  q[4] = z[2] ^ c7;                                               /* s3 */
  q[3] = z[17] ^ z[0] ^ c1 ^ z[5] ^ c5 ^ z[11] ^ c8;              /* s4 */
  q[5] = c9 ^ z[11] ^ z[8] ^ c2;                                  /* s2 */
  q[7] = c6 ^ z[3] ^ z[5];                                        /* s0 */
  q[1] = c2 ^ z[3] ^ c8;                                          /* s6 */
  q[6] = c0 ^ c3 ^ c10 ^ c9;                                      /* s1 */
  q[0] = c10 ^ z[11] ^ z[15];                                    /* s7 */
}
/* clang-format on */

void fc_bitsliced_sub_bytes(uint64_t state[8]) { sub_bytes(state); }

/* ---- ShiftRows ------------------------------------------------------------------------------- */

/* Two ShiftRows in one: rows 1 and 3 by two columns. Its own inverse. */
static ALWAYS_INLINE uint64_t shift_rows_twice(uint64_t x) {
  uint64_t t = (x ^ x >> 8) & 0x00ff000000ff0000;
  return x ^ t ^ t << 8;
}

/* The inverse of ShiftRows, row r up by r columns: rows 1 and 3 by one, rows 2 and 3 by two. */
static ALWAYS_INLINE uint64_t unshift_rows(uint64_t x) {
  uint64_t odd_rows = (x & 0x0fff00000fff0000) << 4 | (x >> 12 & 0x000f0000000f0000);
  x = (x & 0x0000ffff0000ffff) | odd_rows;
  uint64_t t = (x ^ x >> 8) & 0x00ff00ff00000000;
  return x ^ t ^ t << 8;
}

/* Rounds come in groups of four, after which nothing is left to do; 10 and 14 leave two over. */
static ALWAYS_INLINE void settle_rows(uint64_t q[8], uint64_t rounds) {
  if (rounds % 4 == 0) return;
#define STEP(i) q[i] = shift_rows_twice(q[i]);
  EACH_SLICE(STEP)
#undef STEP
}

void fc_bitsliced_pack_round_keys(const uint8_t keys[FC_AES_BATCH], uint64_t state[8]) {
  pack(keys, state);
  for (unsigned i = 0; i < 8; i++) {
    uint64_t x = state[i];
    x ^= (x ^ unshift_rows(x)) & 0xaaaaaaaaaaaaaaaa;     /* blocks 1 and 3 */
    x ^= (x ^ shift_rows_twice(x)) & 0xcccccccccccccccc; /* blocks 2 and 3 */
    state[i] = x;
  }
}

/* ---- MixColumns ------------------------------------------------------------------------------ */

static ALWAYS_INLINE uint64_t rotr(uint64_t x, unsigned n) { return x >> n | x << (64 - n); }

/* Bring to each byte the one that is `rows` (1 to 3) rows and `columns` columns after it. */
static ALWAYS_INLINE uint64_t neighbour(uint64_t x, unsigned rows, unsigned columns) {
  if (columns % 4 == 0) return rotr(x, 16 * rows);
  uint64_t inside = 0x0001000100010001 * (0xffffu >> 4 * columns); /* columns that do not wrap */
  uint64_t straight = rotr(x, 16 * rows + 4 * columns);
  uint64_t wrapped = rotr(x, 16 * rows + 4 * columns - 16);
  return (straight & inside) | (wrapped & ~inside);
}

/*
 * With a1, a2, a3 the bytes one, two and three rows below a, MixColumns is
 * 2a + 3a1 + a2 + a3 = 2t + a1 + t2, where t = a + a1 and t2 = a2 + a3. `shift` is the number of
 * the round (mod 4).
 */
static ALWAYS_INLINE void mix_columns(uint64_t q[8], unsigned shift) {
  uint64_t t[8], u[8];
#define STEP(i)                     \
  u[i] = neighbour(q[i], 1, shift); \
  t[i] = q[i] ^ u[i];               \
  u[i] ^= neighbour(t[i], 2, 2 * shift % 4);
  EACH_SLICE(STEP)
#undef STEP
  q[0] = u[0] ^ t[7];
  q[1] = u[1] ^ t[0] ^ t[7];
  q[2] = u[2] ^ t[1];
  q[3] = u[3] ^ t[2] ^ t[7];
  q[4] = u[4] ^ t[3] ^ t[7];
  q[5] = u[5] ^ t[4];
  q[6] = u[6] ^ t[5];
  q[7] = u[7] ^ t[6];
}

/* InvMixColumns is MixColumns after adding 4(a + a2). */
static ALWAYS_INLINE void inv_mix_columns(uint64_t q[8], unsigned shift) {
  uint64_t t[8];
#define STEP(i) t[i] = q[i] ^ neighbour(q[i], 2, 2 * shift % 4);
  EACH_SLICE(STEP)
#undef STEP
  uint64_t t67 = t[6] ^ t[7];
  q[0] ^= t[6];
  q[1] ^= t67;
  q[2] ^= t[0] ^ t[7];
  q[3] ^= t[1] ^ t[6];
  q[4] ^= t[2] ^ t67;
  q[5] ^= t[3] ^ t[7];
  q[6] ^= t[4];
  q[7] ^= t[5];
  mix_columns(q, shift);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static ALWAYS_INLINE void add_round_key(uint64_t q[8], const struct fc_aes_key *key,
                                        uint64_t round) {
  const uint8_t *words = key->schedule + 64 * round;
  uint64_t word;
#define STEP(i)                              \
  memcpy(&word, words + 8 * i, sizeof word); \
  q[i] ^= word;
  EACH_SLICE(STEP)
#undef STEP
}

void fc_bitsliced_encrypt(const struct fc_aes_key *key, const uint8_t in[FC_AES_BATCH],
                          uint8_t out[FC_AES_BATCH]) {
  uint64_t q[8];
  pack(in, q);
  add_round_key(q, key, 0);
  for (uint64_t round = 1;; round++) {
    sub_bytes(q);
    if (round == key->rounds) break;
    switch (round % 4) {
      case 0: mix_columns(q, 0); break;
      case 1: mix_columns(q, 1); break;
      case 2: mix_columns(q, 2); break;
      default: mix_columns(q, 3); break;
    }
    add_round_key(q, key, round);
  }
  add_round_key(q, key, key->rounds);
  settle_rows(q, key->rounds);
  unpack(q, out);
}

void fc_bitsliced_decrypt(const struct fc_aes_key *key, const uint8_t in[FC_AES_BATCH],
                          uint8_t out[FC_AES_BATCH]) {
  uint64_t q[8];
  pack(in, q);
  settle_rows(q, key->rounds);
  add_round_key(q, key, key->rounds);
  for (uint64_t round = key->rounds - 1;; round--) {
    inv_sub_bytes(q);
    add_round_key(q, key, round);
    if (round == 0) break;
    switch (round % 4) {
      case 0: inv_mix_columns(q, 0); break;
      case 1: inv_mix_columns(q, 1); break;
      case 2: inv_mix_columns(q, 2); break;
      default: inv_mix_columns(q, 3); break;
    }
  }
  unpack(q, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-512 compression function in C, for every CPU. Contract: kernels.h, op sha512_blocks.
 *
 * Constant-time: additions, logic and rotations by constants; branches and addresses depend on the
 * number of blocks only.
 *
 * As sha256.c, whose head says why each of its devices is there: a schedule in a ring of 16 words,
 * 16 rounds written out and run five times, variables that change roles.
 */
#include "portable/portable.h"

/* FIPS 180-4 section 4.2.3. */
static const uint64_t round_constants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

/*
 * Makes the compiler read x from memory when it next needs it. Left alone, compilers hold words of
 * the schedule in registers from one use to the next, and spill what every round needs.
 */
#if defined(__GNUC__) || defined(__clang__)
#define KEEP_IN_MEMORY(x) __asm__("" : "+m"(x))
#else
#define KEEP_IN_MEMORY(x) ((void)0)
#endif

static inline uint64_t rotr(uint64_t x, unsigned n) { return x >> n | x << (64 - n); }

/* FIPS 180-4 (4.10) to (4.13), with nested rotations: 5 + 6 + 28 = 39, 6 + 28 = 34. */
static inline uint64_t big_sigma0(uint64_t x) { return rotr(rotr(rotr(x, 5) ^ x, 6) ^ x, 28); }
static inline uint64_t big_sigma1(uint64_t x) { return rotr(rotr(x, 4) ^ x, 14) ^ rotr(x, 41); }
static inline uint64_t small_sigma0(uint64_t x) { return rotr(rotr(x, 7) ^ x, 1) ^ x >> 7; }
static inline uint64_t small_sigma1(uint64_t x) { return rotr(rotr(x, 42) ^ x, 19) ^ x >> 6; }

/* h += x, now: compilers may neither regroup the additions of a round nor put them off. */
#define ADD(h, x)        \
  do {                   \
    h += (x);            \
    FC_VALUE_BARRIER(h); \
  } while (0)

/*
 * One round. The new e is left in d, the new a in h. The terms are added in the order in which they
 * can be ready. Ch(e, f, g) is g ^ (e & (f ^ g)). Maj(a, b, c) is b ^ ((a ^ b) & (b ^ c)), and the
 * a ^ b of this round is the b ^ c of the next.
 */
#define ROUND(a, b, c, d, e, f, g, h, i) \
  do {                                   \
    ADD(h, k[i]);                        \
    ADD(h, w[i]);                        \
    ADD(h, g ^ (e & (f ^ g)));           \
    ADD(h, big_sigma1(e));               \
    d += h;                              \
    uint64_t a_xor_b = a ^ b;            \
    ADD(h, b ^ (a_xor_b & b_xor_c));     \
    ADD(h, big_sigma0(a));               \
    b_xor_c = a_xor_b;                   \
    KEEP_IN_MEMORY(w[i]);                \
  } while (0)

/* The next word of the schedule: from the block, or in place of the word 16 rounds back. */
#define LOAD(i) (w[i] = fc_load_be64(data + 8 * (i)))
#define EXPAND(i) \
  (w[i] += small_sigma0(w[((i) + 1) & 15]) + w[((i) + 9) & 15] + small_sigma1(w[((i) + 14) & 15]))

#define ROUNDS_8(NEXT_WORD, i)            \
  NEXT_WORD(i);                           \
  ROUND(a, b, c, d, e, f, g, h, i);       \
  NEXT_WORD((i) + 1);                     \
  ROUND(h, a, b, c, d, e, f, g, (i) + 1); \
  NEXT_WORD((i) + 2);                     \
  ROUND(g, h, a, b, c, d, e, f, (i) + 2); \
  NEXT_WORD((i) + 3);                     \
  ROUND(f, g, h, a, b, c, d, e, (i) + 3); \
  NEXT_WORD((i) + 4);                     \
  ROUND(e, f, g, h, a, b, c, d, (i) + 4); \
  NEXT_WORD((i) + 5);                     \
  ROUND(d, e, f, g, h, a, b, c, (i) + 5); \
  NEXT_WORD((i) + 6);                     \
  ROUND(c, d, e, f, g, h, a, b, (i) + 6); \
  NEXT_WORD((i) + 7);                     \
  ROUND(b, c, d, e, f, g, h, a, (i) + 7)

FC_HIDDEN fc_sha512_blocks_fn FC_C_KERNEL(fc_sha512_blocks_portable);

void FC_C_KERNEL(fc_sha512_blocks_portable)(uint64_t state[8], const uint8_t *data,
                                            size_t nblocks) {
  for (; nblocks != 0; nblocks--, data += 128) {
    uint64_t w[16];
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint64_t e = state[4], f = state[5], g = state[6], h = state[7];
    uint64_t b_xor_c = b ^ c;
    const uint64_t *k = round_constants;

    ROUNDS_8(LOAD, 0);
    ROUNDS_8(LOAD, 8);
    for (k += 16; k != round_constants + 80; k += 16) {
      ROUNDS_8(EXPAND, 0);
      ROUNDS_8(EXPAND, 8);
    }

    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

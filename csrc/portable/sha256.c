/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-256 compression function in C, for every CPU. Contract: kernels.h, op sha256_blocks.
 *
 * Constant-time: additions, logic and rotations by constants; branches and addresses depend on the
 * number of blocks only.
 *
 * The schedule is a ring of 16 words. 16 rounds are written out and run four times; the eight
 * variables change roles instead of moving. A round takes 24 operations of an ALU and an expanded
 * word 13 more: at least 528 cycles a block on a core with four ALUs. Zen 3 takes 585 to 605.
 *
 * Build with gcc -O2 -fno-gcse or clang -O2. Neither vectorises it.
 *
 * Measured on Zen 3: instructions a block (valgrind --tool=lackey), and speed in calls of 1, 4 and
 * 256 blocks relative to OpenSSL 3.0's integer x86-64 assembly (2798 instructions; SHA, AVX2, AVX
 * and SSSE3 masked), medians of adjacent pairs; in parentheses, in runs some 40% slower for both,
 * as if another thread had shared the core:
 *   - gcc 12 -O2 -fno-gcse: 2830, 1.04 1.02 1.03 (1.02 0.98 0.99)
 *   - clang 19 -O2: 2843, 1.05 1.03 1.03 (1.02 1.00 1.01)
 *
 * Tried, and not used:
 *   - gcc -O2 or -O3 with gcse, which parts loads from the additions they could be one with: 3005,
 *     1.03 0.98 1.00 (1.02 0.96 0.97)
 *   - gcc -Os, which leaves the small functions as calls: 0.55 0.53 0.53
 *   - no KEEP_IN_MEMORY: clang 3046, 0.99 0.94 0.95; gcc 2834, 1.02 0.99 1.00
 *   - no barrier in ADD: clang 2860, 1.01 0.99 1.00; gcc 2724, 1.04 1.01 1.01
 *   - big_sigma1 nested like big_sigma0: gcc 2766, 1.02 1.00 1.00; clang 2781, 1.03 1.01 1.01
 *   - no nested rotation at all: gcc 3103, 1.07 1.06 1.06 (0.98 0.96 0.97); clang 3095, 1.07 0.95
 *     0.98 (1.00 0.92 0.92)
 *   - 64 rounds written out, 9 KiB of code: gcc 0.97 0.95 0.94, clang 0.89 0.86 0.89
 *   - Ch(e, f, g) as (e & f) + (~e & g): gcc 2887, 0.99 0.96 0.96
 */
#include "portable/portable.h"

/* FIPS 180-4 section 4.2.2. */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
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

static inline uint32_t rotr(uint32_t x, unsigned n) {
  return x >> n | x << (32 - n);
}

/*
 * FIPS 180-4 (4.4) to (4.7). Where the standard xors three rotations of x, rotating a xor of
 * rotations needs fewer copies of x: 9 + 11 + 2 = 22, 11 + 2 = 13. It takes longer, so big_sigma1,
 * which every round waits for, does so once only.
 */
static inline uint32_t big_sigma0(uint32_t x) {
  return rotr(rotr(rotr(x, 9) ^ x, 11) ^ x, 2);
}
static inline uint32_t big_sigma1(uint32_t x) {
  return rotr(rotr(x, 5) ^ x, 6) ^ rotr(x, 25);
}
static inline uint32_t small_sigma0(uint32_t x) {
  return rotr(rotr(x, 11) ^ x, 7) ^ x >> 3;
}
static inline uint32_t small_sigma1(uint32_t x) {
  return rotr(rotr(x, 2) ^ x, 17) ^ x >> 10;
}

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
    uint32_t a_xor_b = a ^ b;            \
    ADD(h, b ^ (a_xor_b & b_xor_c));     \
    ADD(h, big_sigma0(a));               \
    b_xor_c = a_xor_b;                   \
    KEEP_IN_MEMORY(w[i]);                \
  } while (0)

/* The next word of the schedule: from the block, or in place of the word 16 rounds back. */
#define LOAD(i) (w[i] = fc_load_be32(data + 4 * (i)))
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

FC_HIDDEN fc_sha256_blocks_fn FC_C_KERNEL(fc_sha256_blocks_portable);

void FC_C_KERNEL(fc_sha256_blocks_portable)(uint32_t state[8], const uint8_t *data,
                                            size_t nblocks) {
  for (; nblocks != 0; nblocks--, data += 64) {
    uint32_t w[16];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    uint32_t b_xor_c = b ^ c;
    const uint32_t *k = round_constants;

    ROUNDS_8(LOAD, 0);
    ROUNDS_8(LOAD, 8);
    for (k += 16; k != round_constants + 64; k += 16) {
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

/* One lane is one stream. */
FC_HIDDEN fc_sha256_lanes_fn FC_C_KERNEL(fc_sha256_lanes_portable);

void FC_C_KERNEL(fc_sha256_lanes_portable)(void *state, const uint8_t *const *data,
                                           size_t nblocks) {
  FC_C_KERNEL(fc_sha256_blocks_portable)(state, data[0], nblocks);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA-1 compression function in C, for every CPU. Contract: kernels.h, op sha1_blocks.
 *
 * Constant-time: additions, logic and rotations by constants; branches and addresses depend on the
 * number of blocks only.
 *
 * The schedule is a ring of 16 words, as in sha256.c. All 80 rounds are written out: five variables
 * that change roles and a ring of 16 words come together again after 80.
 */
#include "portable/portable.h"

/*
 * Makes the compiler read x from memory when it next needs it. Left alone, compilers hold words of
 * the schedule in registers from one use to the next, and spill what every round needs.
 */
#if defined(__GNUC__) || defined(__clang__)
#define KEEP_IN_MEMORY(x) __asm__("" : "+m"(x))
#else
#define KEEP_IN_MEMORY(x) ((void)0)
#endif

static inline uint32_t rotl(uint32_t x, unsigned n) { return x << n | x >> (32 - n); }

/* FIPS 180-4 section 4.1.1. */
static inline uint32_t choose(uint32_t x, uint32_t y, uint32_t z) { return z ^ (x & (y ^ z)); }
static inline uint32_t parity(uint32_t x, uint32_t y, uint32_t z) { return x ^ y ^ z; }
/* The two terms share no bit: a sum of them can be added in the order in which they are ready. */
static inline uint32_t majority(uint32_t x, uint32_t y, uint32_t z) {
  return (y & z) + (x & (y ^ z));
}

/* FIPS 180-4 section 4.2.1. */
enum { K_CHOOSE = 0x5a827999, K_PARITY_1 = 0x6ed9eba1 };
static const uint32_t K_MAJORITY = 0x8f1bbcdc, K_PARITY_2 = 0xca62c1d6; /* beyond int */

/* e += x, now: compilers may neither regroup the additions of a round nor put them off. */
#define ADD(e, x)        \
  do {                   \
    e += (x);            \
    FC_VALUE_BARRIER(e); \
  } while (0)

/* The next word of the schedule: from the block, or in place of the word 16 rounds back. */
#define LOAD(i) (w[i] = fc_load_be32(data + 4 * (i)))
#define EXPAND(i) \
  (w[(i) & 15] = rotl(w[((i) + 13) & 15] ^ w[((i) + 8) & 15] ^ w[((i) + 2) & 15] ^ w[(i) & 15], 1))

/* One round. The new a is left in e; the new c is b, turned. */
#define ROUND(a, b, c, d, e, F, K, NEXT_WORD, i) \
  do {                                           \
    ADD(e, K + NEXT_WORD(i));                    \
    ADD(e, F(b, c, d));                          \
    ADD(e, rotl(a, 5));                          \
    b = rotl(b, 30);                             \
    KEEP_IN_MEMORY(w[(i) & 15]);                 \
  } while (0)

#define ROUNDS_5(F, K, NEXT_WORD, i)              \
  ROUND(a, b, c, d, e, F, K, NEXT_WORD, i);       \
  ROUND(e, a, b, c, d, F, K, NEXT_WORD, (i) + 1); \
  ROUND(d, e, a, b, c, F, K, NEXT_WORD, (i) + 2); \
  ROUND(c, d, e, a, b, F, K, NEXT_WORD, (i) + 3); \
  ROUND(b, c, d, e, a, F, K, NEXT_WORD, (i) + 4)

#define ROUNDS_20(F, K, i)          \
  ROUNDS_5(F, K, EXPAND, i);        \
  ROUNDS_5(F, K, EXPAND, (i) + 5);  \
  ROUNDS_5(F, K, EXPAND, (i) + 10); \
  ROUNDS_5(F, K, EXPAND, (i) + 15)

FC_HIDDEN fc_sha1_blocks_fn FC_C_KERNEL(fc_sha1_blocks_portable);

void FC_C_KERNEL(fc_sha1_blocks_portable)(uint32_t state[5], const uint8_t *data, size_t nblocks) {
  for (; nblocks != 0; nblocks--, data += 64) {
    uint32_t w[16];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

    ROUNDS_5(choose, K_CHOOSE, LOAD, 0);
    ROUNDS_5(choose, K_CHOOSE, LOAD, 5);
    ROUNDS_5(choose, K_CHOOSE, LOAD, 10);
    ROUND(a, b, c, d, e, choose, K_CHOOSE, LOAD, 15);
    ROUND(e, a, b, c, d, choose, K_CHOOSE, EXPAND, 16);
    ROUND(d, e, a, b, c, choose, K_CHOOSE, EXPAND, 17);
    ROUND(c, d, e, a, b, choose, K_CHOOSE, EXPAND, 18);
    ROUND(b, c, d, e, a, choose, K_CHOOSE, EXPAND, 19);
    ROUNDS_20(parity, K_PARITY_1, 20);
    ROUNDS_20(majority, K_MAJORITY, 40);
    ROUNDS_20(parity, K_PARITY_2, 60);

    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
  }
}

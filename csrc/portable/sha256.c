/* SPDX-License-Identifier: Apache-2.0 */
#include "portable/portable.h"

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

static inline uint32_t rotr(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

/* SIGMA0 and SIGMA1 of FIPS 180-4 (4.4), (4.5), with nested rotations: fewer copies of x. */
static inline uint32_t big_sigma0(uint32_t x) {
  return rotr(rotr(rotr(x, 9) ^ x, 11) ^ x, 2);
}
static inline uint32_t big_sigma1(uint32_t x) {
  return rotr(rotr(rotr(x, 14) ^ x, 5) ^ x, 6);
}
static inline uint32_t small_sigma0(uint32_t x) { return rotr(x, 7) ^ rotr(x, 18) ^ x >> 3; }
static inline uint32_t small_sigma1(uint32_t x) { return rotr(x, 17) ^ rotr(x, 19) ^ x >> 10; }

#define ROUND(a, b, c, d, e, f, g, h, i)             \
  do {                                               \
    h += w[i] + k[i] + big_sigma1(e) + (g ^ (e & (f ^ g))); \
    d += h;                                          \
    uint32_t a_xor_b = a ^ b;                        \
    h += big_sigma0(a) + (b ^ (a_xor_b & b_xor_c));  \
    b_xor_c = a_xor_b;                               \
  } while (0)

#define LOAD(i) (w[i] = fc_load_be32(data + 4 * (i)))
#define EXPAND(i)                                                                  \
  (w[i] += small_sigma0(w[((i) + 1) & 15]) + w[((i) + 9) & 15] + small_sigma1(w[((i) + 14) & 15]))

#define ROUNDS_8(STEP, i)                                               \
  STEP(i + 0); ROUND(a, b, c, d, e, f, g, h, i + 0);                    \
  STEP(i + 1); ROUND(h, a, b, c, d, e, f, g, i + 1);                    \
  STEP(i + 2); ROUND(g, h, a, b, c, d, e, f, i + 2);                    \
  STEP(i + 3); ROUND(f, g, h, a, b, c, d, e, i + 3);                    \
  STEP(i + 4); ROUND(e, f, g, h, a, b, c, d, i + 4);                    \
  STEP(i + 5); ROUND(d, e, f, g, h, a, b, c, i + 5);                    \
  STEP(i + 6); ROUND(c, d, e, f, g, h, a, b, i + 6);                    \
  STEP(i + 7); ROUND(b, c, d, e, f, g, h, a, i + 7)

void FC_C_KERNEL(fc_sha256_blocks_portable)(uint32_t state[8], const uint8_t *data, size_t nblocks);
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

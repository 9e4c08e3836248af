/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GHASH, SP 800-38D section 6.4, by integer multiplication.
 *
 * Contract: kernels.h, ops aes_ghash_key and aes_ghash
 * Needs: a multiplication of 64-bit words whose time does not depend on its operands. That is so on
 *   x86-64 and AArch64; it is not on some small 32-bit cores.
 * Secret: y, data, H and its powers
 * Public: pointers and lengths
 *
 * A product of polynomials over GF(2) is an integer product without carries. Take from each factor
 * every fourth bit (a class): a column of the integer product of two classes then has three empty
 * bits above it, sums of up to 15 stay within it, and its lowest bit is the sum in GF(2). A column
 * of 16 terms overflows, but there is only one, at the top of the low 64 bits or beyond, where the
 * overflow falls out of the word. So the low half of a 64 x 64 product is sixteen multiplications.
 * The high half is the low half of the product of the bit-reversed factors, reversed.
 *
 * 128 x 128 bits are three such products of each kind (Karatsuba): low, high and low + high.
 *
 * Loop: four blocks at a time, (y + b0) H^4 + b1 H^3 + b2 H^2 + b3 H. The products of a class are
 * added before the empty bits are masked away, so masking, reversal and reduction are done once in
 * four blocks; the classes of the powers are kept in the key. Cycles per byte on Zen 3, gcc 12 -O3:
 *   four blocks to a reduction (this)    8.8
 *   two, one                             9.8, 13.0
 *   Karatsuba among the classes too      11.5: 54 multiplications for 96, but the sums of classes
 *     no longer fit in registers
 *   64 x 64 -> 128-bit products          7.0 without what would have to repair the full column,
 *     whose overflow matters there; and machines that lack such a product would need this one too
 */
#include "portable/aes_ghash.h"

enum { POWERS = 4, PARTS = 6, CLASSES = 4, POWER_BYTES = PARTS * CLASSES * 8 };
_Static_assert(POWERS * POWER_BYTES <= FC_GHASH_KEY_BYTES, "the powers of H must fit");

/* An element of GF(2^128): bit 127 - i of high:low is the coefficient of x^i. */
struct element {
  uint64_t high, low;
};

static inline struct element load_element(const uint8_t *p) {
  return (struct element){fc_load_be64(p), fc_load_be64(p + 8)};
}

static inline uint64_t reverse(uint64_t x) {
  x = (x & 0x5555555555555555) << 1 | (x >> 1 & 0x5555555555555555);
  x = (x & 0x3333333333333333) << 2 | (x >> 2 & 0x3333333333333333);
  x = (x & 0x0f0f0f0f0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0f);
  x = (x & 0x00ff00ff00ff00ff) << 8 | (x >> 8 & 0x00ff00ff00ff00ff);
  x = (x & 0x0000ffff0000ffff) << 16 | (x >> 16 & 0x0000ffff0000ffff);
  return x << 32 | x >> 32;
}

/* The factors of the six products. */
static inline void split(struct element e, uint64_t parts[PARTS]) {
  parts[0] = e.low;
  parts[1] = e.high;
  parts[2] = e.low ^ e.high;
  parts[3] = reverse(e.low);
  parts[4] = reverse(e.high);
  parts[5] = parts[3] ^ parts[4];
}

#define CLASS(i) ((uint64_t)0x1111111111111111 << (i))

/* Classes i and j of the factors go to class i + j (mod 4) of the product. */
static inline void multiply_add(uint64_t acc[CLASSES], uint64_t y, const uint8_t *h_classes) {
  uint64_t h[CLASSES];
  memcpy(h, h_classes, sizeof h);
  uint64_t y0 = y & CLASS(0), y1 = y & CLASS(1), y2 = y & CLASS(2), y3 = y & CLASS(3);
  acc[0] ^= y0 * h[0] ^ y1 * h[3] ^ y2 * h[2] ^ y3 * h[1];
  acc[1] ^= y0 * h[1] ^ y1 * h[0] ^ y2 * h[3] ^ y3 * h[2];
  acc[2] ^= y0 * h[2] ^ y1 * h[1] ^ y2 * h[0] ^ y3 * h[3];
  acc[3] ^= y0 * h[3] ^ y1 * h[2] ^ y2 * h[1] ^ y3 * h[0];
}

/*
 * Put the six products together to 256 bits v3:v2:v1:v0, where bit 255 - i is the coefficient of
 * x^i, and fold the half from x^128 on by x^128 = x^7 + x^2 + x + 1, one word after the other.
 */
static inline struct element reduce(const uint64_t sums[PARTS]) {
  uint64_t low[3], high[3];
  for (unsigned i = 0; i < 3; i++) {
    low[i] = sums[i];
    high[i] = reverse(sums[3 + i]) >> 1;
  }
  uint64_t v0 = low[0];
  uint64_t v1 = high[0] ^ low[0] ^ low[1] ^ low[2];
  uint64_t v2 = low[1] ^ high[0] ^ high[1] ^ high[2];
  uint64_t v3 = high[1];
  v1 ^= v0 << 63 ^ v0 << 62 ^ v0 << 57;
  v2 ^= v0 ^ v0 >> 1 ^ v0 >> 2 ^ v0 >> 7;
  v2 ^= v1 << 63 ^ v1 << 62 ^ v1 << 57;
  v3 ^= v1 ^ v1 >> 1 ^ v1 >> 2 ^ v1 >> 7;
  return (struct element){v3, v2};
}

/* (y + block 0) H^n + block 1 H^(n-1) + ... + block n-1 H, for n from 1 to POWERS. */
static struct element hash_group(const struct fc_ghash_key *key, struct element y,
                                 const uint8_t *blocks, size_t n) {
  uint64_t parts[POWERS][PARTS], sums[PARTS];
  for (size_t b = 0; b < n; b++) {
    struct element e = load_element(blocks + FC_AES_BLOCK * b);
    e.high ^= y.high;
    e.low ^= y.low;
    y.high = y.low = 0;
    split(e, parts[b]);
  }
  for (unsigned part = 0; part < PARTS; part++) {
    uint64_t acc[CLASSES] = {0};
    for (size_t b = 0; b < n; b++) {
      const uint8_t *power = key->powers + POWER_BYTES * (n - 1 - b);
      multiply_add(acc, parts[b][part], power + CLASSES * 8 * part);
    }
    sums[part] = 0;
    for (unsigned c = 0; c < CLASSES; c++) sums[part] |= acc[c] & CLASS(c);
  }
  return reduce(sums);
}

/*
 * Store a power of H as multiply_add wants it. A product of two elements has 255 bits, so that bit
 * 254 - i would be the coefficient of x^i; dividing one factor by x makes it 255 - i. That is a
 * shift to the left; the coefficient of x^0 falls out, and x^-1 = x^127 + x^6 + x + 1.
 */
static void store_power(struct fc_ghash_key *key, unsigned power, struct element e) {
  uint64_t parts[PARTS], words[PARTS][CLASSES];
  uint64_t carry = 0 - (e.high >> 63);
  e.high = (e.high << 1 | e.low >> 63) ^ (carry & 0xc200000000000000);
  e.low = e.low << 1 ^ (carry & 1);
  split(e, parts);
  for (unsigned part = 0; part < PARTS; part++) {
    for (unsigned c = 0; c < CLASSES; c++) words[part][c] = parts[part] & CLASS(c);
  }
  memcpy(key->powers + POWER_BYTES * power, words, sizeof words);
}

void FC_C_KERNEL(fc_aes_ghash_key_portable)(struct fc_ghash_key *key, const uint8_t h[16]) {
  static const uint8_t zero[FC_AES_BLOCK];
  struct element power = load_element(h);
  memset(key, 0, sizeof *key);
  store_power(key, 0, power);
  for (unsigned i = 1; i < POWERS; i++) {
    power = hash_group(key, power, zero, 1);
    store_power(key, i, power);
  }
}

void fc_portable_ghash(const struct fc_ghash_key *key, uint8_t y[16], const uint8_t *data,
                       size_t len) {
  struct element e = load_element(y);
  while (len >= FC_AES_BLOCK) {
    size_t n = len / FC_AES_BLOCK < POWERS ? len / FC_AES_BLOCK : POWERS;
    e = hash_group(key, e, data, n);
    data += FC_AES_BLOCK * n;
    len -= FC_AES_BLOCK * n;
  }
  if (len > 0) {
    uint8_t block[FC_AES_BLOCK] = {0};
    memcpy(block, data, len);
    e = hash_group(key, e, block, 1);
  }
  fc_store_be64(y, e.high);
  fc_store_be64(y + 8, e.low);
}

void FC_C_KERNEL(fc_aes_ghash_portable)(const struct fc_ghash_key *key, uint8_t y[16],
                                        const uint8_t *data, size_t len) {
  fc_portable_ghash(key, y, data, len);
}

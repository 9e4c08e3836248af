/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares in C whose time depends on the length alone.
 *
 * Written plainly, an optimiser may leave these loops as soon as the result is known, turn a select
 * into a jump, or use vector registers, which this level must not. Every value that could tell it
 * enough passes through FC_VALUE_BARRIER first.
 */
#include "portable/portable.h"

static inline uint64_t load_64(const uint8_t *p) {
  uint64_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

static inline uint32_t load_32(const uint8_t *p) {
  uint32_t x;
  memcpy(&x, p, sizeof x);
  return x;
}

/* ---- timingsafe_bcmp ------------------------------------------------------------------------ */

static inline uint64_t difference_8(const uint8_t *a, const uint8_t *b) {
  uint64_t difference = load_64(a) ^ load_64(b);
  FC_VALUE_BARRIER(difference);
  return difference;
}

static inline uint64_t difference_32(const uint8_t *a, const uint8_t *b) {
  return (difference_8(a, b) | difference_8(a + 8, b + 8)) |
         (difference_8(a + 16, b + 16) | difference_8(a + 24, b + 24));
}

/*
 * Up to 32 bytes. Loads overlap: four of 8 bytes, the inner two moved inwards by `stride`, cover 8
 * to 32 bytes, two of 4 cover 4 to 7, and three of one byte cover 1 to 3.
 */
static uint64_t difference_short(const uint8_t *a, const uint8_t *b, size_t len) {
  if (len >= 8) {
    size_t stride = (len - 1) / 2 & 8;
    size_t last = len - 8;
    return (difference_8(a, b) | difference_8(a + stride, b + stride)) |
           (difference_8(a + last - stride, b + last - stride) | difference_8(a + last, b + last));
  }
  if (len >= 4) {
    return (load_32(a) ^ load_32(b)) | (load_32(a + len - 4) ^ load_32(b + len - 4));
  }
  if (len == 0) return 0;
  return (uint64_t)(a[0] ^ b[0]) | (uint64_t)(a[len / 2] ^ b[len / 2]) |
         (uint64_t)(a[len - 1] ^ b[len - 1]);
}

static uint64_t difference_long(const uint8_t *a, const uint8_t *b, size_t len) {
  uint64_t difference = 0;
  for (; len > 32; len -= 32, a += 32, b += 32) difference |= difference_32(a, b);
  /* The last 32 bytes; some of them a second time. */
  return difference | difference_32(a + len - 32, b + len - 32);
}

int FC_C_KERNEL(fc_timingsafe_bcmp_portable)(const void *a, const void *b, size_t len);
int FC_C_KERNEL(fc_timingsafe_bcmp_portable)(const void *a, const void *b, size_t len) {
  uint64_t difference = len <= 32 ? difference_short(a, b, len) : difference_long(a, b, len);
  FC_VALUE_BARRIER(difference);
  return (int)((difference | (0 - difference)) >> 63);
}

/* ---- timingsafe_memcmp ---------------------------------------------------------------------- */

/*
 * The first words in which the operands differ, in memory order; zeros while none do, and
 * `undecided` is then all ones, else zero.
 */
struct first_difference {
  uint64_t a, b;
  uint64_t undecided;
};

/* The next words, which may begin before the last ones ended. */
static inline void take_words(struct first_difference *first, const uint8_t *a, const uint8_t *b) {
  uint64_t x = load_64(a);
  uint64_t y = load_64(b);
  uint64_t differ = x ^ y;
  differ = 0 - ((differ | (0 - differ)) >> 63);
  FC_VALUE_BARRIER(differ);
  uint64_t take = differ & first->undecided;
  first->a |= x & take;
  first->b |= y & take;
  first->undecided &= ~differ;
}

/* A number with the bytes of x in memory order, the first one the most significant. */
static inline uint64_t big_endian(uint64_t x) {
  uint8_t bytes[8];
  memcpy(bytes, &x, sizeof bytes);
  return fc_load_be64(bytes);
}

/* The same for len < 8 bytes at p, some of them twice. */
static inline uint64_t big_endian_below_8(const uint8_t *p, size_t len) {
  if (len >= 4) return (uint64_t)fc_load_be32(p) << 32 | fc_load_be32(p + len - 4);
  if (len == 0) return 0;
  return (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
}

/* 1 if x < y, else 0. */
static inline int is_below(uint64_t x, uint64_t y) {
  FC_VALUE_BARRIER(x);
  FC_VALUE_BARRIER(y);
  return (int)(((~x & y) | (~(x ^ y) & (x - y))) >> 63);
}

static inline int order(uint64_t x, uint64_t y) {
  return is_below(y, x) - is_below(x, y);
}

int FC_C_KERNEL(fc_timingsafe_memcmp_portable)(const void *a, const void *b, size_t len);
int FC_C_KERNEL(fc_timingsafe_memcmp_portable)(const void *a, const void *b, size_t len) {
  if (len < 8) return order(big_endian_below_8(a, len), big_endian_below_8(b, len));

  const uint8_t *p = a;
  const uint8_t *q = b;
  struct first_difference first = {0, 0, ~(uint64_t)0};
  for (; len > 8; len -= 8, p += 8, q += 8) take_words(&first, p, q);
  take_words(&first, p + len - 8, q + len - 8);
  return order(big_endian(first.a), big_endian(first.b));
}

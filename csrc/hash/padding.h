/* SPDX-License-Identifier: Apache-2.0 */
/* The last block of a message with 64-byte blocks: its tail, the 0x80 byte, zeros. */
#ifndef FC_HASH_PADDING_H
#define FC_HASH_PADDING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && defined(__x86_64__)

/*
 * The kernels load a block 16 bytes at a time. A load that spans several smaller recent stores
 * cannot be forwarded and waits for them to reach the cache (about 15 cycles, on every short hash),
 * so each 16-byte lane is put together in registers and stored whole.
 */
typedef uint64_t fc_lane __attribute__((vector_size(16), aligned(1), may_alias));

static inline uint64_t fc_load_le(const uint8_t *p, size_t len) {
  uint64_t x = 0;
  memcpy(&x, p, len); /* len is a constant at every call */
  return x;
}

/* p[0..n) for n <= 15 in little-endian order, then 0x80, by overlapping loads. */
static inline fc_lane fc_partial_lane(const uint8_t *p, size_t n) {
  uint64_t low = 0, high = 0;
  if (n >= 8) {
    low = fc_load_le(p, 8);
    high = n == 8 ? 0 : fc_load_le(p + n - 8, 8) >> (8 * (16 - n));
    high |= (uint64_t)0x80 << (8 * (n - 8));
  } else {
    if (n >= 4) {
      low = fc_load_le(p, 4) | fc_load_le(p + n - 4, 4) << (8 * (n - 4));
    } else if (n >= 2) {
      low = fc_load_le(p, 2) | fc_load_le(p + n - 2, 2) << (8 * (n - 2));
    } else if (n == 1) {
      low = p[0];
    }
    low |= (uint64_t)0x80 << (8 * n);
  }
  /* Through registers: a plain initialiser would pass one half through the stack and leave it there. */
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector((fc_lane){low, 0}, (fc_lane){high, 0}, 0, 2);
#else
  return __builtin_shuffle((fc_lane){low, 0}, (fc_lane){high, 0}, (fc_lane){0, 2});
#endif
}

/* block = tail[0..n), 0x80, zeros; n <= 63. */
static inline void fc_pad_block64(uint8_t block[64], const uint8_t *tail, size_t n) {
  const fc_lane zero = {0, 0};
  for (size_t at = 0; at < 64; at += 16) {
    fc_lane lane = zero;
    if (n >= at + 16) {
      lane = *(const fc_lane *)(tail + at);
    } else if (n >= at) {
      lane = fc_partial_lane(tail + at, n - at);
    }
    *(fc_lane *)(block + at) = lane;
  }
}

/* Bytes 56..63 of the block: the length of the message in bits. */
static inline void fc_store_be64_lane(uint8_t block[64], uint64_t bits) {
  /* Bytes 48..63 as one store: their first half is read back from registers by the compiler. */
  fc_lane lane = *(fc_lane *)(block + 48);
  lane[1] = __builtin_bswap64(bits);
  *(fc_lane *)(block + 48) = lane;
}

#else

static inline void fc_pad_block64(uint8_t block[64], const uint8_t *tail, size_t n) {
  memset(block, 0, 64);
  if (n != 0) memcpy(block, tail, n);
  block[n] = 0x80;
}

static inline void fc_store_be64_lane(uint8_t block[64], uint64_t bits) {
  for (int i = 0; i < 8; i++) block[56 + i] = (uint8_t)(bits >> (56 - 8 * i));
}

#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The last block of a message: its tail, the 0x80 byte, zeros, and the length of the message. */
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

/* block = tail[0..n), 0x80, zeros; n < block_bytes, which is 64 or 128. */
static inline void fc_pad_block(uint8_t *block, size_t block_bytes, const uint8_t *tail, size_t n) {
  const fc_lane zero = {0, 0};
  for (size_t at = 0; at < block_bytes; at += 16) {
    fc_lane lane = zero;
    if (n >= at + 16) {
      lane = *(const fc_lane *)(tail + at);
    } else if (n >= at) {
      lane = fc_partial_lane(tail + at, n - at);
    }
    *(fc_lane *)(block + at) = lane;
  }
}

/*
 * The end of the block: the length of the message in bits, big-endian, in 8 bytes of a block of 64 and
 * in 16 of one of 128. In a block of 64 the other half of the lane is kept; as the whole lane was
 * stored, the compiler has that half in a register.
 */
static inline void fc_store_length(uint8_t *block, size_t block_bytes, uint64_t bytes) {
  fc_lane *last = (fc_lane *)(block + block_bytes - 16);
  fc_lane lane = *last;
  if (block_bytes == 128) lane[0] = __builtin_bswap64(bytes >> 61);
  lane[1] = __builtin_bswap64(bytes << 3);
  *last = lane;
}

#else

static inline void fc_pad_block(uint8_t *block, size_t block_bytes, const uint8_t *tail, size_t n) {
  memset(block, 0, block_bytes);
  if (n != 0) memcpy(block, tail, n);
  block[n] = 0x80;
}

static inline void fc_store_length(uint8_t *block, size_t block_bytes, uint64_t bytes) {
  uint8_t *end = block + block_bytes;
  for (int i = 0; i < 8; i++) end[i - 8] = (uint8_t)(bytes << 3 >> (56 - 8 * i));
  if (block_bytes == 128) end[-9] = (uint8_t)(bytes >> 61);
}

#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the C kernels share. */
#ifndef FC_PORTABLE_H
#define FC_PORTABLE_H

#include <stdint.h>
#include <string.h>

#include "kernels.h"

/*
 * The name a C kernel is defined under: void FC_C_KERNEL(fc_sha256_blocks_portable)(...) { ... }.
 * C cannot clear the registers and the stack it used, so where asm/x86_64/portable_entries.S is
 * built, the row's symbol is an entry there that calls the body and wipes after it.
 */
#if defined(FC_HAVE_portable_entries)
#define FC_C_KERNEL(name) name##_body
#else
#define FC_C_KERNEL(name) name
#endif

/* An empty statement that the optimiser must take for one that may change x. */
#if defined(__GNUC__) || defined(__clang__)
#define FC_VALUE_BARRIER(x) __asm__("" : "+r"(x))
#else
#define FC_VALUE_BARRIER(x) ((x) = *(volatile __typeof__(x) *)&(x))
#endif

/* Byte-order conversions. memcpy, since user memory has no alignment; compilers make it one move. */
static inline uint32_t fc_load_be32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t fc_load_be64(const uint8_t *p) {
  return (uint64_t)fc_load_be32(p) << 32 | fc_load_be32(p + 4);
}

/* Written with bytes, gcc 12 at -O2 makes 30 vector instructions of a few of these in a row. */
static inline void fc_store_be32(uint8_t *p, uint32_t x) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  x = __builtin_bswap32(x);
  memcpy(p, &x, sizeof x);
#else
  p[0] = (uint8_t)(x >> 24);
  p[1] = (uint8_t)(x >> 16);
  p[2] = (uint8_t)(x >> 8);
  p[3] = (uint8_t)x;
#endif
}

/* gcc 12 at -O2 makes 30 instructions of two of these next to each other, written with bytes. */
static inline void fc_store_be64(uint8_t *p, uint64_t x) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  x = __builtin_bswap64(x);
  memcpy(p, &x, sizeof x);
#else
  fc_store_be32(p, (uint32_t)(x >> 32));
  fc_store_be32(p + 4, (uint32_t)x);
#endif
}

static inline uint32_t fc_load_le32(const uint8_t *p) {
  return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | (uint32_t)p[0];
}

static inline void fc_store_le32(uint8_t *p, uint32_t x) {
  p[0] = (uint8_t)x;
  p[1] = (uint8_t)(x >> 8);
  p[2] = (uint8_t)(x >> 16);
  p[3] = (uint8_t)(x >> 24);
}

static inline uint64_t fc_load_le64(const uint8_t *p) {
  return (uint64_t)fc_load_le32(p + 4) << 32 | fc_load_le32(p);
}

/* As fc_store_be64. */
static inline void fc_store_le64(uint8_t *p, uint64_t x) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(p, &x, sizeof x);
#else
  fc_store_le32(p, (uint32_t)x);
  fc_store_le32(p + 4, (uint32_t)(x >> 32));
#endif
}

/* tweak * alpha, IEEE 1619 section 5.2: shifted left by one bit, modulo x^128 + x^7 + x^2 + x + 1. */
static inline void fc_xts_multiply_alpha(uint8_t tweak[16]) {
  const uint64_t low = fc_load_le64(tweak), high = fc_load_le64(tweak + 8);
  fc_store_le64(tweak, low << 1 ^ (0x87 & (0 - (high >> 63))));
  fc_store_le64(tweak + 8, high << 1 | low >> 63);
}

/* out = a ^ b; out may equal either. */
static inline void fc_xor_block(uint8_t out[16], const uint8_t a[16], const uint8_t b[16]) {
  uint64_t x[2], y[2];
  memcpy(x, a, sizeof x);
  memcpy(y, b, sizeof y);
  x[0] ^= y[0];
  x[1] ^= y[1];
  memcpy(out, x, sizeof x);
}

static inline void fc_xor_bytes(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t len) {
  size_t i = 0;
  for (; len - i >= 16; i += 16) fc_xor_block(out + i, a + i, b + i);
  for (; i < len; i++) out[i] = (uint8_t)(a[i] ^ b[i]);
}

#endif

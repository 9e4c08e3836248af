/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of timingsafe_bcmp, timingsafe_memcmp and the block functions of hashes. */
#include <string.h>

#include "ops.h"
#include "runtime.h"

enum { MAX_LENGTH = 300 };

static uint64_t call_row(const struct fc_row *row, const uint64_t *args, size_t count) {
  return call_checked(row->kernels[0].symbol, row->kernels[0].fn, STACK_KERNEL, args, count);
}

/* ---- Compare --------------------------------------------------------------------------------- */

static int compare(const struct fc_row *row, const uint8_t *a, const uint8_t *b, size_t len) {
  const uint64_t args[] = {PTR(a), PTR(b), len};
  return (int)call_row(row, args, 3);
}

/* What each op returns if the first difference is x in a and y in b. */
typedef int order_fn(uint8_t x, uint8_t y);
static int order_of_bcmp(uint8_t x, uint8_t y) {
  return x != y;
}
static int order_of_memcmp(uint8_t x, uint8_t y) {
  return (x > y) - (x < y);
}

/* Flip one bit of b[i] and give the bytes behind a random difference if `noise`. */
static void test_one_difference(const struct fc_row *row, order_fn *order, const uint8_t *a,
                                uint8_t *b, size_t i, size_t len, int noise) {
  b[i] ^= (uint8_t)(1u << (random_word() & 7));
  if (noise) random_fill(b + i + 1, len - i - 1);
  const int got = compare(row, a, b, len), expected = order(a[i], b[i]);
  if (got != expected) {
    fail("%s: wrong result for a difference at %u of %u", row->kernels[0].symbol, (uint64_t)i,
         (uint64_t)len);
  }
  memcpy(b + i, a + i, len - i);
}

static void test_length(const struct fc_row *row, order_fn *order, size_t len, enum guard_end a_end,
                        enum guard_end b_end, size_t step) {
  uint8_t *a = guard_alloc(len, a_end), *b = guard_alloc(len, b_end);
  random_fill(a, len);
  memcpy(b, a, len);
  if (compare(row, a, b, len) != 0) {
    fail("%s: equal strings of %u bytes differ", row->kernels[0].symbol, (uint64_t)len);
  }
  if (compare(row, a, a, len) != 0) fail("%s: a differs from a", row->kernels[0].symbol);
  for (size_t i = 0; i < len; i += step) {
    test_one_difference(row, order, a, b, i, len, 0);
    test_one_difference(row, order, a, b, len - 1 - i, len, 1);
  }
  guard_read_only();
  compare(row, a, b, len);
  guard_reset();
}

/* FB-3: every bit of every byte counts, alone. */
static void test_every_bit(const struct fc_row *row, order_fn *order, size_t len) {
  uint8_t *a = guard_alloc(len, GUARD_AFTER), *b = guard_alloc(len, GUARD_AFTER);
  random_fill(a, len);
  memcpy(b, a, len);
  for (size_t bit = 0; bit < 8 * len; bit++) {
    const size_t i = bit / 8;
    b[i] ^= (uint8_t)(1u << bit % 8);
    if (compare(row, a, b, len) != order(a[i], b[i])) {
      fail("%s: bit %u of %u bytes does not count", row->kernels[0].symbol, (uint64_t)bit,
           (uint64_t)len);
    }
    b[i] = a[i];
  }
  guard_reset();
}

static void test_against(const struct fc_row *row, const struct fc_row *reference, size_t len) {
  uint8_t *a = guard_alloc(len, GUARD_AFTER), *b = guard_alloc(len, GUARD_BEFORE);
  for (size_t i = 0; i < 2; i++) {
    random_fill(a, len);
    random_fill(b, len);
    if (compare(row, a, b, len) != compare(reference, a, b, len)) {
      fail("%s: not the portable result for %u bytes", row->kernels[0].symbol, (uint64_t)len);
    }
  }
  guard_reset();
}

static void test_residue(const struct fc_row *row, size_t len) {
  uint8_t *a = guard_alloc(len, GUARD_AFTER), *b = guard_alloc(len, GUARD_AFTER);
  for (unsigned pass = 0; pass < 2; pass++) {
    random_fill(a, len);
    random_fill(b, len);
    if (pass == 1) memcpy(b, a, len); /* the result is secret as well: let it differ */
    compare(row, a, b, len);
    if (pass == 0) residue_remember();
  }
  residue_check(row->kernels[0].symbol, 1);
  guard_reset();
}

static void test_compare(const struct fc_row *row, const struct fc_row *reference,
                         order_fn *order) {
  for (size_t len = 0; len <= MAX_LENGTH; len++) {
    test_length(row, order, len, GUARD_AFTER, GUARD_AFTER, 1 + len / 8);
    test_length(row, order, len, GUARD_BEFORE, GUARD_BEFORE, 1 + len / 2);
    test_length(row, order, len, GUARD_BEFORE, GUARD_AFTER, 1 + len / 2);
    test_length(row, order, len, GUARD_AFTER, GUARD_BEFORE, 1 + len / 2);
    test_against(row, reference, len);
    test_residue(row, len);
  }
  /* tests/native/bitflip.c does more where the processor is a real one. */
  if (row->features & FC_F(AVX512F)) {
    for (size_t len = 0; len <= 200; len++) test_every_bit(row, order, len);
    test_every_bit(row, order, 600);
  }
  /* Every byte: short of a vector, some vectors and a tail, and many turns of the longest loop. */
  test_length(row, order, 31, GUARD_AFTER, GUARD_AFTER, 1);
  test_length(row, order, 255, GUARD_AFTER, GUARD_AFTER, 1);
  test_length(row, order, 1087, GUARD_AFTER, GUARD_AFTER, 1);
  if (compare(row, NULL, NULL, 0) != 0) fail("%s: NULL differs", row->kernels[0].symbol);
}

void test_timingsafe_bcmp(const struct fc_row *row, const struct fc_row *reference) {
  test_compare(row, reference, order_of_bcmp);
}

void test_timingsafe_memcmp(const struct fc_row *row, const struct fc_row *reference) {
  test_compare(row, reference, order_of_memcmp);
}

/* ---- Hash blocks ----------------------------------------------------------------------------- */

static void hash(const struct fc_row *row, uint8_t *state, const uint8_t *data, size_t nblocks) {
  const uint64_t args[] = {PTR(state), PTR(data), nblocks};
  call_row(row, args, 3);
}

/* Data that ends `shift` bytes before its guard page, so that it has every alignment. */
static void test_hash_case(const struct fc_row *row, const struct fc_row *reference, size_t nblocks,
                           size_t block_bytes, size_t state_bytes, enum guard_end end,
                           size_t shift) {
  uint8_t expected[64];
  uint8_t *data = guard_alloc(nblocks * block_bytes + shift, end);
  random_fill(data, nblocks * block_bytes + shift);
  guard_read_only();
  uint8_t *state = guard_alloc(state_bytes, end);
  random_fill(state, state_bytes);
  memcpy(expected, state, state_bytes);
  hash(reference, expected, data, nblocks);
  hash(row, state, data, nblocks);
  if (memcmp(state, expected, state_bytes) != 0) {
    fail("%s: not the portable result for %u blocks", row->kernels[0].symbol, (uint64_t)nblocks);
  }
  guard_reset();
}

static void test_hash_residue(const struct fc_row *row, size_t nblocks, size_t block_bytes,
                              size_t state_bytes) {
  uint8_t *data = guard_alloc(nblocks * block_bytes, GUARD_AFTER);
  uint8_t *state = guard_alloc(state_bytes, GUARD_AFTER);
  for (unsigned pass = 0; pass < 2; pass++) {
    random_fill(data, nblocks * block_bytes);
    random_fill(state, state_bytes);
    hash(row, state, data, nblocks);
    if (pass == 0) residue_remember();
  }
  residue_check(row->kernels[0].symbol, 0);
  guard_reset();
}

static void test_hash(const struct fc_row *row, const struct fc_row *reference, size_t block_bytes,
                      size_t state_bytes) {
  for (size_t nblocks = 0; nblocks <= 8; nblocks++) {
    for (size_t shift = 0; shift < 64; shift += 1 + shift / 2) {
      test_hash_case(row, reference, nblocks, block_bytes, state_bytes, GUARD_AFTER, shift);
      test_hash_case(row, reference, nblocks, block_bytes, state_bytes, GUARD_BEFORE, shift);
    }
    test_hash_residue(row, nblocks, block_bytes, state_bytes);
  }
}

void test_sha1_blocks(const struct fc_row *row, const struct fc_row *reference) {
  test_hash(row, reference, 64, 20);
}

void test_sha256_blocks(const struct fc_row *row, const struct fc_row *reference) {
  test_hash(row, reference, 64, 32);
}

void test_sha512_blocks(const struct fc_row *row, const struct fc_row *reference) {
  test_hash(row, reference, 128, 64);
}

/* ---- Hash lanes ------------------------------------------------------------------------------ */

static void hash_lanes(const struct fc_row *row, uint8_t *state, const uint8_t *const *data,
                       size_t nblocks) {
  const uint64_t args[] = {PTR(state), PTR(data), nblocks};
  call_row(row, args, 3);
}

/* Each lane's data ends `shift` bytes before, or begins so many after, a guard page of its own. */
static void fill_lanes(const uint8_t **data, size_t lanes, size_t len, enum guard_end end,
                       size_t shift) {
  for (size_t j = 0; j < lanes; j++) {
    uint8_t *p = guard_alloc(len + shift, end);
    random_fill(p, len + shift);
    data[j] = end == GUARD_BEFORE ? p + shift : p;
  }
}

/* Lane by lane against the portable row, which has one lane. */
static void test_lanes_case(const struct fc_row *row, const struct fc_row *reference,
                            size_t nblocks, size_t block_bytes, size_t word_bytes, size_t words,
                            enum guard_end end, size_t shift) {
  uint8_t before[8 * 8 * FC_MAX_LANES];
  const size_t lanes = row->lanes, state_bytes = words * word_bytes * lanes;
  const uint8_t **data = (const uint8_t **)(void *)guard_alloc(lanes * sizeof *data, GUARD_AFTER);
  fill_lanes(data, lanes, nblocks * block_bytes, end, shift);
  guard_read_only();
  uint8_t *state = guard_alloc(state_bytes, GUARD_AFTER);
  random_fill(state, state_bytes);
  memcpy(before, state, state_bytes);
  hash_lanes(row, state, data, nblocks);
  for (size_t j = 0; j < lanes; j++) {
    _Alignas(8) uint8_t lane[64], found[64];
    for (size_t i = 0; i < words; i++) {
      memcpy(lane + i * word_bytes, before + (i * lanes + j) * word_bytes, word_bytes);
      memcpy(found + i * word_bytes, state + (i * lanes + j) * word_bytes, word_bytes);
    }
    hash_lanes(reference, lane, &data[j], nblocks);
    if (memcmp(lane, found, words * word_bytes) != 0) {
      fail("%s: not the portable result for %u blocks, lane %u", row->kernels[0].symbol,
           (uint64_t)nblocks, (uint64_t)j);
    }
  }
  guard_reset();
}

static void test_lanes_residue(const struct fc_row *row, size_t nblocks, size_t block_bytes,
                               size_t state_bytes) {
  const uint8_t **data =
      (const uint8_t **)(void *)guard_alloc(row->lanes * sizeof *data, GUARD_AFTER);
  uint8_t *message = guard_alloc(nblocks * block_bytes + row->lanes, GUARD_AFTER);
  uint8_t *state = guard_alloc(state_bytes * row->lanes, GUARD_AFTER);
  for (unsigned pass = 0; pass < 2; pass++) {
    for (size_t j = 0; j < row->lanes; j++) data[j] = message + j;
    random_fill(message, nblocks * block_bytes + row->lanes);
    random_fill(state, state_bytes * row->lanes);
    hash_lanes(row, state, data, nblocks);
    if (pass == 0) residue_remember();
  }
  residue_check(row->kernels[0].symbol, 0);
  guard_reset();
}

static void test_lanes(const struct fc_row *row, const struct fc_row *reference,
                       size_t block_bytes, size_t word_bytes, size_t words) {
  for (size_t nblocks = 0; nblocks <= 5; nblocks++) {
    for (size_t shift = 0; shift < 64; shift += 1 + shift / 2) {
      test_lanes_case(row, reference, nblocks, block_bytes, word_bytes, words, GUARD_AFTER, shift);
      test_lanes_case(row, reference, nblocks, block_bytes, word_bytes, words, GUARD_BEFORE, shift);
    }
    test_lanes_residue(row, nblocks, block_bytes, word_bytes * words);
  }
}

void test_sha256_lanes(const struct fc_row *row, const struct fc_row *reference) {
  test_lanes(row, reference, 64, 4, 8);
}

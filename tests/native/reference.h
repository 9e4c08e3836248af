/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The algorithms as their standards write them: slow, and with nothing in common with the kernels.
 * reference_self_test holds the standards' own examples against it.
 */
#ifndef FC_REFERENCE_H
#define FC_REFERENCE_H

#include "harness.h"

/* NULL, or which example of a standard this file gets wrong. */
const char *reference_self_test(void);

/* FIPS 197 section 5.2 and 5.3.5: 15 encryption and 15 decryption round keys; returns the rounds.
 */
unsigned reference_round_keys(const uint8_t *key, size_t key_len, uint8_t encryption[240],
                              uint8_t decryption[240]);
void reference_encrypt_block(const uint8_t *key, size_t key_len, const uint8_t in[16],
                             uint8_t out[16]);

/* x * y in the field of SP 800-38D section 6.3. */
void reference_gf128_multiply(const uint8_t x[16], const uint8_t y[16], uint8_t product[16]);

/* Where harness_fill's bytes come from, and what it asked for behind the prepared operands. */
struct reference_raw {
  harness_source_fn *source;
  void *context;
  uint8_t key[32], h[16];
};
/* A source (context: struct reference_raw) that hands on and remembers. */
harness_source_fn reference_source;

/* What a filled call must leave in each operand that it writes. */
struct reference_result {
  uint8_t bytes[HARNESS_MAX_OPERANDS][HARNESS_PLAIN_MAX];
  int known[HARNESS_MAX_OPERANDS]; /* 0: the suite's own layout, which no standard knows */
  int result;
};
void reference_run(const struct harness_call *call, const struct reference_raw *raw,
                   struct reference_result *expected);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ct/wipe.h"
#include "hash/hmac.h"

/* U_1 = HMAC(password, salt || INT(index)). */
static void first(const struct fc_hmac_key *password, const uint8_t *salt, size_t salt_len,
                  uint32_t index, uint8_t *tag) {
  const struct fc_hash_algorithm *hash = fc_hash_of(password->hash);
  const uint8_t number[4] = {(uint8_t)(index >> 24), (uint8_t)(index >> 16), (uint8_t)(index >> 8),
                             (uint8_t)index};
  union fc_hash_context context;
  fc_hmac_begin(password, &context);
  hash->update(&context, salt, salt_len);
  hash->update(&context, number, sizeof number);
  fc_hmac_tag(password, &context, tag);
  fc_wipe(&context, sizeof context);
}

/*
 * sum ^= U_2 ^ ... ^ U_iterations, where sum holds U_1. From U_2 on both messages of an HMAC are a
 * block of the key and a digest: two compressions, and one padding that is made once.
 */
static void iterate(const struct fc_hmac_key *password, uint64_t iterations, uint8_t *sum) {
  const struct fc_hash_algorithm *hash = fc_hash_of(password->hash);
  const size_t digest_bytes = hash->digest_bytes, block_bytes = hash->block_bytes;
  const uint32_t bits = (uint32_t)(8 * (block_bytes + digest_bytes));
  uint8_t block[FC_HASH_MAX_BLOCK] = {0};
  union fc_hash_state state;
  memcpy(block, sum, digest_bytes);
  block[digest_bytes] = 0x80;
  block[block_bytes - 2] = (uint8_t)(bits >> 8);
  block[block_bytes - 1] = (uint8_t)bits;
  for (uint64_t i = 1; i < iterations; i++) {
    memcpy(&state, &password->inner, sizeof state);
    hash->blocks(&state, block, 1);
    hash->store(&state, block);
    memcpy(&state, &password->outer, sizeof state);
    hash->blocks(&state, block, 1);
    hash->store(&state, block);
    for (size_t j = 0; j < digest_bytes; j++) sum[j] ^= block[j];
  }
  fc_wipe(block, sizeof block);
  fc_wipe(&state, sizeof state);
}

void fc_pbkdf2(const struct fc_hmac_key *password, const uint8_t *salt, size_t salt_len,
               uint64_t iterations, uint8_t *out, size_t out_len) {
  const size_t digest_bytes = fc_hash_of(password->hash)->digest_bytes;
  uint8_t sum[FC_HASH_MAX_DIGEST];
  for (uint32_t index = 1; out_len != 0; index++) {
    const size_t n = out_len < digest_bytes ? out_len : digest_bytes;
    first(password, salt, salt_len, index, sum);
    iterate(password, iterations, sum);
    memcpy(out, sum, n);
    out += n;
    out_len -= n;
  }
  fc_wipe(sum, sizeof sum);
}

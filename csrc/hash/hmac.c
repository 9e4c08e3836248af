/* SPDX-License-Identifier: Apache-2.0 */
#include "hash/hmac.h"

#include <string.h>

#include "ct/wipe.h"

/* state = the hash's state after the block key ^ pad. */
static void hash_pad(const struct fc_hash_algorithm *hash, union fc_hash_state *state,
                     const uint8_t *key, uint8_t pad) {
  uint8_t block[FC_HASH_MAX_BLOCK];
  for (size_t i = 0; i < hash->block_bytes; i++) block[i] = key[i] ^ pad;
  memcpy(state, hash->initial, hash->state_bytes);
  hash->blocks(state, block, 1);
  fc_wipe(block, sizeof block);
}

void fc_hmac_key_init(struct fc_hmac_key *key, enum fc_hash number, const uint8_t *bytes,
                      size_t len) {
  const struct fc_hash_algorithm *hash = fc_hash_of(number);
  uint8_t block[FC_HASH_MAX_BLOCK] = {0};
  if (len > hash->block_bytes) {
    hash->resume(hash->initial, 0, bytes, len, block);
  } else if (len != 0) {
    memcpy(block, bytes, len);
  }
  memset(key, 0, sizeof *key); /* a smaller state leaves the rest of its union as it is */
  key->hash = number;
  hash_pad(hash, &key->inner, block, 0x36);
  hash_pad(hash, &key->outer, block, 0x5c);
  fc_wipe(block, sizeof block);
}

/* tag = the outer hash of the inner digest, which is wiped. */
static void finish(const struct fc_hash_algorithm *hash, const struct fc_hmac_key *key,
                   uint8_t *inner, uint8_t *tag) {
  hash->resume(&key->outer, hash->block_bytes, inner, hash->digest_bytes, tag);
  fc_wipe(inner, FC_HASH_MAX_DIGEST);
}

void fc_hmac(const struct fc_hmac_key *key, const uint8_t *data, size_t len, uint8_t *tag) {
  const struct fc_hash_algorithm *hash = fc_hash_of(key->hash);
  uint8_t inner[FC_HASH_MAX_DIGEST];
  hash->resume(&key->inner, hash->block_bytes, data, len, inner);
  finish(hash, key, inner, tag);
}

void fc_hmac_begin(const struct fc_hmac_key *key, union fc_hash_context *context) {
  const struct fc_hash_algorithm *hash = fc_hash_of(key->hash);
  hash->begin(context, &key->inner, hash->block_bytes);
}

void fc_hmac_tag(const struct fc_hmac_key *key, const union fc_hash_context *context,
                 uint8_t *tag) {
  const struct fc_hash_algorithm *hash = fc_hash_of(key->hash);
  uint8_t inner[FC_HASH_MAX_DIGEST];
  hash->digest(context, inner);
  finish(hash, key, inner, tag);
}

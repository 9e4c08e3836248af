/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash algorithms as data, for what is built on any of them: HMAC and its kin. An algorithm is
 * named by its number, so that objects hold data only; the table is read-only memory.
 */
#ifndef FC_HASH_ALGORITHMS_H
#define FC_HASH_ALGORITHMS_H

#include "hash/sha.h"

enum fc_hash {
#define X(name, engine, digest_bytes, block_bytes, title) FC_HASH_##name,
  FC_HASHES(X)
#undef X
      FC_HASH_COUNT
};

enum { FC_HASH_MAX_DIGEST = 64, FC_HASH_MAX_BLOCK = 128 };

union fc_hash_state {
  uint32_t words32[8];
  uint64_t words64[8];
};

union fc_hash_context {
#define X(engine, word, words, block_bytes) struct fc_##engine engine;
  FC_HASH_ENGINES(X)
#undef X
};

/* `state` is a union fc_hash_state, `context` a union fc_hash_context. */
struct fc_hash_algorithm {
  const char *name;
  uint32_t digest_bytes, block_bytes, state_bytes;
  const void *initial; /* the state before the first block */
  void (*blocks)(void *state, const uint8_t *data, size_t nblocks);
  /* The beginning of the state as a digest, without padding or wiping. */
  void (*store)(const void *state, uint8_t *digest);
  /* A context for a message of which `hashed` bytes, whole blocks, have led to `state`. */
  void (*begin)(void *context, const void *state, uint64_t hashed);
  void (*update)(void *context, const uint8_t *data, size_t len);
  void (*digest)(const void *context, uint8_t *digest);
  /* begin, update and digest in one. */
  void (*resume)(const void *state, uint64_t hashed, const uint8_t *data, size_t len,
                 uint8_t *digest);
};

#define X(name, engine, digest_bytes, block_bytes, title) \
  extern FC_HIDDEN const struct fc_hash_algorithm fc_##name##_algorithm;
FC_HASHES(X)
#undef X

FC_HIDDEN const struct fc_hash_algorithm *fc_hash_of(enum fc_hash hash);

#endif

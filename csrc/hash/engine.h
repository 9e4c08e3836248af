/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One engine of the SHA family, as static functions of the file that includes this. The file defines
 *   CONTEXT  its struct of hash/sha.h
 *   WORD     the type of a word of the state
 *   BLOCKS   its kernel
 *   UPDATE   the name of its update function
 * and then has one ALGORITHM for each algorithm of the engine.
 */
#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "hash/algorithms.h"
#include "hash/padding.h"
#include "hash/sha.h"
#include "portable/portable.h"

enum {
  STATE_BYTES = sizeof((CONTEXT *)0)->state,
  BLOCK_BYTES = sizeof((CONTEXT *)0)->buffer,
  LENGTH_AT =
      BLOCK_BYTES - 2 * (int)sizeof(WORD) /* where the last block has the message's length */
};

/* Inlined where the size of the digest is a constant: 120 instructions less on a short hash. */
#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

void UPDATE(CONTEXT *context, const uint8_t *data, size_t len) {
  if (len == 0) return; /* data may then be NULL */
  const size_t held = context->length % BLOCK_BYTES;
  context->length += len;
  if (held != 0) {
    const size_t room = BLOCK_BYTES - held;
    if (len < room) {
      memcpy(context->buffer + held, data, len);
      return;
    }
    memcpy(context->buffer + held, data, room);
    BLOCKS(context->state, context->buffer, 1);
    data += room;
    len -= room;
  }
  if (len >= BLOCK_BYTES) BLOCKS(context->state, data, len / BLOCK_BYTES);
  memcpy(context->buffer, data + len / BLOCK_BYTES * BLOCK_BYTES, len % BLOCK_BYTES);
}

/* Hash tail[0..total % BLOCK_BYTES), the padding and the length into state. */
static void finish(WORD *state, const uint8_t *tail, uint64_t total) {
  uint8_t block[BLOCK_BYTES];
  const size_t n = total % BLOCK_BYTES;
  fc_pad_block(block, BLOCK_BYTES, tail, n);
  if (n >= LENGTH_AT) {
    BLOCKS(state, block, 1);
    memset(block, 0, sizeof block);
  }
  fc_store_length(block, BLOCK_BYTES, total);
  BLOCKS(state, block, 1);
  fc_wipe(block, sizeof block);
}

/* The digest: the beginning of the state, which may end inside a word. */
INLINE void store_digest(const WORD *state, uint8_t *digest, size_t digest_bytes) {
  for (size_t i = 0; i < digest_bytes; i += 4) {
    const size_t below =
        sizeof(WORD) - 4 - i % sizeof(WORD); /* bytes of the word after these four */
    fc_store_be32(digest + i, (uint32_t)(state[i / sizeof(WORD)] >> 8 * below));
  }
}

/* The digest of a message of which `hashed` bytes, whole blocks, have led to the state `from`. */
INLINE void resume(const void *from, uint64_t hashed, const uint8_t *data, size_t len,
                   uint8_t *digest, size_t digest_bytes) {
  WORD state[STATE_BYTES / sizeof(WORD)];
  memcpy(state, from, STATE_BYTES);
  if (len >= BLOCK_BYTES) BLOCKS(state, data, len / BLOCK_BYTES);
  finish(state, data + len / BLOCK_BYTES * BLOCK_BYTES, hashed + len);
  store_digest(state, digest, digest_bytes);
  fc_wipe(state, STATE_BYTES);
}

/* The functions of hash/algorithms.h that the algorithms of an engine share. */
static void any_blocks(void *state, const uint8_t *data, size_t nblocks) {
  BLOCKS(state, data, nblocks);
}

static void any_begin(void *context, const void *state, uint64_t hashed) {
  memcpy(((CONTEXT *)context)->state, state, STATE_BYTES);
  ((CONTEXT *)context)->length = hashed;
}

static void any_update(void *context, const uint8_t *data, size_t len) {
  UPDATE(context, data, len);
}

#define ALGORITHM(name, ...)                                                                     \
  static const WORD name##_initial[STATE_BYTES / sizeof(WORD)] = {__VA_ARGS__};                  \
                                                                                                 \
  void fc_##name##_init(CONTEXT *context) { any_begin(context, name##_initial, 0); }             \
                                                                                                 \
  void fc_##name##_digest(const CONTEXT *context, uint8_t digest[fc_##name##_digest_bytes]) {    \
    WORD state[STATE_BYTES / sizeof(WORD)];                                                      \
    memcpy(state, context->state, STATE_BYTES);                                                  \
    finish(state, context->buffer, context->length);                                             \
    store_digest(state, digest, fc_##name##_digest_bytes);                                       \
    fc_wipe(state, STATE_BYTES);                                                                 \
  }                                                                                              \
                                                                                                 \
  void fc_##name##_oneshot(const uint8_t *data, size_t len,                                      \
                           uint8_t digest[fc_##name##_digest_bytes]) {                           \
    resume(name##_initial, 0, data, len, digest, fc_##name##_digest_bytes);                      \
  }                                                                                              \
                                                                                                 \
  static void name##_resume(const void *state, uint64_t hashed, const uint8_t *data, size_t len, \
                            uint8_t *digest) {                                                   \
    resume(state, hashed, data, len, digest, fc_##name##_digest_bytes);                          \
  }                                                                                              \
                                                                                                 \
  static void name##_store(const void *state, uint8_t *digest) {                                 \
    store_digest(state, digest, fc_##name##_digest_bytes);                                       \
  }                                                                                              \
                                                                                                 \
  static void name##_digest(const void *context, uint8_t *digest) {                              \
    fc_##name##_digest(context, digest);                                                         \
  }                                                                                              \
                                                                                                 \
  const struct fc_hash_algorithm fc_##name##_algorithm = {                                       \
      #name,          fc_##name##_digest_bytes,                                                  \
      BLOCK_BYTES,    STATE_BYTES,                                                               \
      name##_initial, any_blocks,                                                                \
      name##_store,   any_begin,                                                                 \
      any_update,     name##_digest,                                                             \
      name##_resume};

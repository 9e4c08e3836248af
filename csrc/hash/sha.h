/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SHA family over messages (FIPS 180-4): streaming contexts and one-shots, on the sealed kernels.
 *
 * Three engines have a context and a kernel each; an algorithm is an engine with an initial state and
 * a number of bytes that its digest takes of the last state.
 */
#ifndef FC_HASH_SHA_H
#define FC_HASH_SHA_H

#include "kernels.h"

/* X(name, engine, bytes of the digest, bytes of a block, title) */
#define FC_HASHES(X)                            \
  X(sha1, sha1, 20, 64, "SHA-1")                \
  X(sha224, sha256, 28, 64, "SHA-224")          \
  X(sha256, sha256, 32, 64, "SHA-256")          \
  X(sha384, sha512, 48, 128, "SHA-384")         \
  X(sha512, sha512, 64, 128, "SHA-512")         \
  X(sha512_224, sha512, 28, 128, "SHA-512/224") \
  X(sha512_256, sha512, 32, 128, "SHA-512/256")

/* X(engine, type of a word, words of the state, bytes of a block) */
#define FC_HASH_ENGINES(X)   \
  X(sha1, uint32_t, 5, 64)   \
  X(sha256, uint32_t, 8, 64) \
  X(sha512, uint64_t, 8, 128)

/* struct fc_sha256 and its siblings. */
#define X(engine, word, words, block_bytes)                                                     \
  struct fc_##engine {                                                                          \
    word state[words];                                                                          \
    uint64_t length; /* bytes hashed so far; the last length % block_bytes are in the buffer */ \
    uint8_t buffer[block_bytes];                                                                \
  };                                                                                            \
  FC_HIDDEN void fc_##engine##_update(struct fc_##engine *context, const uint8_t *data, size_t len);
FC_HASH_ENGINES(X)
#undef X

/*
 * fc_sha256_init and its siblings begin a message. _digest gives the digest of what has been hashed
 * so far; the context is not changed and may be updated further. _oneshot is the digest of
 * data[0..len) without a context.
 */
#define X(name, engine, digest_bytes, block_bytes, title)                                  \
  enum { fc_##name##_digest_bytes = digest_bytes, fc_##name##_block_bytes = block_bytes }; \
  FC_HIDDEN void fc_##name##_init(struct fc_##engine *context);                            \
  FC_HIDDEN void fc_##name##_digest(const struct fc_##engine *context,                     \
                                    uint8_t digest[digest_bytes]);                         \
  FC_HIDDEN void fc_##name##_oneshot(const uint8_t *data, size_t len, uint8_t digest[digest_bytes]);
FC_HASHES(X)
#undef X

#endif

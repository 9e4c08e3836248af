/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 over messages (FIPS 180-4): streaming context and one shot, on the sealed kernel. */
#ifndef FC_HASH_SHA256_H
#define FC_HASH_SHA256_H

#include "kernels.h"

enum { FC_SHA256_DIGEST_BYTES = 32, FC_SHA256_BLOCK_BYTES = 64 };

struct fc_sha256 {
  uint32_t state[8];
  uint64_t length; /* bytes hashed so far; the last length % 64 of them are in buffer */
  uint8_t buffer[FC_SHA256_BLOCK_BYTES];
};

FC_HIDDEN void fc_sha256_init(struct fc_sha256 *context);
FC_HIDDEN void fc_sha256_update(struct fc_sha256 *context, const uint8_t *data, size_t len);

/* The digest of what has been hashed so far; the context is not changed and may be updated further. */
FC_HIDDEN void fc_sha256_digest(const struct fc_sha256 *context, uint8_t digest[32]);

/* The digest of data[0..len) without a context. */
FC_HIDDEN void fc_sha256_oneshot(const uint8_t *data, size_t len, uint8_t digest[32]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many messages at once, on the sealed multi-lane kernels. A batch says where its messages lie; every
 * thread that calls fc_<hash>_many on it takes messages from it until none is left.
 */
#ifndef FC_HASH_MANY_H
#define FC_HASH_MANY_H

#include "kernels.h"

struct fc_message {
  const uint8_t *data;
  size_t len;
  uint8_t *digest;
};

/*
 * Messages anywhere (`messages`), or in one buffer `data`: message i from offsets[i] to offsets[i + 1],
 * or without offsets rows of row_size bytes. Of those in one buffer the digests lie in a row at `out`,
 * which may be `data` if the rows are no shorter than a digest and one thread alone works on them.
 */
struct fc_batch {
  const struct fc_message *messages;
  const uint8_t *data;
  const int64_t *offsets;
  size_t row_size;
  uint8_t *out;
  size_t count;
  /* The state that every message goes on from and the bytes hashed into it, whole blocks; or NULL. */
  const void *start;
  uint64_t start_bytes;
  size_t taken; /* 0 at first; atomic */
};

/* What a thread works in; it is left wiped. */
struct fc_many_scratch {
  FC_ALIGNAS(16) uint8_t bytes[7168];
};

typedef void fc_many_fn(struct fc_batch *batch, struct fc_many_scratch *scratch);
FC_HIDDEN fc_many_fn fc_sha256_many;

#endif

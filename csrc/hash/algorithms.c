/* SPDX-License-Identifier: Apache-2.0 */
#include "hash/algorithms.h"

const struct fc_hash_algorithm *fc_hash_of(enum fc_hash hash) {
  static const struct fc_hash_algorithm *const algorithms[FC_HASH_COUNT] = {
#define X(name, engine, digest_bytes, block_bytes, title) &fc_##name##_algorithm,
      FC_HASHES(X)
#undef X
  };
  return algorithms[hash];
}

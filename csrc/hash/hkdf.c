/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ct/wipe.h"
#include "hash/hmac.h"

void fc_hkdf_expand(const struct fc_hmac_key *prk, const uint8_t *info, size_t info_len,
                    uint8_t *out, size_t out_len) {
  const struct fc_hash_algorithm *hash = fc_hash_of(prk->hash);
  union fc_hash_context context;
  uint8_t block[FC_HASH_MAX_DIGEST]; /* T(i) */
  size_t previous = 0;               /* T(0) is empty */
  for (uint8_t counter = 1; out_len != 0; counter++) {
    fc_hmac_begin(prk, &context);
    hash->update(&context, block, previous);
    hash->update(&context, info, info_len);
    hash->update(&context, &counter, 1);
    fc_hmac_tag(prk, &context, block);
    previous = hash->digest_bytes;
    const size_t n = out_len < previous ? out_len : previous;
    memcpy(out, block, n);
    out += n;
    out_len -= n;
  }
  fc_wipe(block, sizeof block);
  fc_wipe(&context, sizeof context);
}

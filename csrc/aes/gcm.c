/* SPDX-License-Identifier: Apache-2.0 */
#include "aes/gcm.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

void fc_gcm_init(struct fc_gcm_key *key, const uint8_t *bytes, size_t key_len) {
  uint8_t h[16] = {0};
  FC_TABLE.aes.expand_key(&key->aes, bytes, key_len);
  FC_TABLE.aes.ecb_encrypt(&key->aes, h, h, 1);
  FC_TABLE.aes.ghash_key(&key->ghash, h);
  fc_wipe(h, sizeof h);
}

void fc_gcm_j0(const struct fc_gcm_key *key, const uint8_t *nonce, size_t nonce_len,
               uint8_t j0[16]) {
  if (nonce_len == 12) {
    memcpy(j0, nonce, 12);
    fc_store_be32(j0 + 12, 1);
    return;
  }
  uint8_t lengths[16] = {0};
  fc_store_be64(lengths + 8, (uint64_t)nonce_len << 3);
  memset(j0, 0, 16);
  FC_TABLE.aes.ghash(&key->ghash, j0, nonce, nonce_len);
  FC_TABLE.aes.ghash(&key->ghash, j0, lengths, 16);
}

int fc_gcm_open(const struct fc_gcm_key *key, const struct fc_gcm_message *message,
                const uint8_t *tag, size_t tag_len) {
  FC_TABLE.aes.gcm_open(key, message);
  const int differ = FC_TABLE.timingsafe_bcmp(message->tag, tag, tag_len);
  fc_wipe(message->tag, FC_GCM_TAG_BYTES);
  if (differ) fc_wipe(message->out, (size_t)message->len);
  return -differ;
}

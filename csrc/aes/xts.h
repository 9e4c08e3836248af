/* SPDX-License-Identifier: Apache-2.0 */
/* XTS (IEEE 1619, SP 800-38E) over data units of any length from one block on, on the sealed suite. */
#ifndef FC_AES_XTS_H
#define FC_AES_XTS_H

#include "kernels.h"

/* The longest data unit that IEEE 1619 allows, section 5.1: 2^20 blocks. */
#define FC_XTS_MAX_BYTES (UINT64_C(16) << 20)

struct fc_xts_key {
  struct fc_aes_key data, tweak;
};

/* Expand both halves of a key of 32 or 64 bytes. */
FC_HIDDEN void fc_xts_init(struct fc_xts_key *key, const uint8_t *bytes, size_t key_len);

/*
 * One data unit of len bytes, at least 16, under a tweak of 16 bytes (secret once encrypted, public
 * before). A last block that is not whole steals ciphertext, section 5.3.2. in == out works.
 */
FC_HIDDEN void fc_xts_encrypt(const struct fc_xts_key *key, const uint8_t tweak[16],
                              const uint8_t *in, uint8_t *out, size_t len);
FC_HIDDEN void fc_xts_decrypt(const struct fc_xts_key *key, const uint8_t tweak[16],
                              const uint8_t *in, uint8_t *out, size_t len);

#endif

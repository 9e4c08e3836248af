/* SPDX-License-Identifier: Apache-2.0 */
/* AES-GCM-SIV (RFC 8452), on the sealed suite. */
#ifndef FC_AES_GCM_SIV_H
#define FC_AES_GCM_SIV_H

#include "kernels.h"

enum { FC_GCM_SIV_NONCE_BYTES = 12, FC_GCM_SIV_TAG_BYTES = 16 };

/* The longest plaintext and the longest associated data, section 6: 2^36 bytes each. */
#define FC_GCM_SIV_MAX_BYTES (UINT64_C(1) << 36)

/* One message. out may equal in; lengths are up to FC_GCM_SIV_MAX_BYTES. */
struct fc_gcm_siv_message {
  uint8_t nonce[FC_GCM_SIV_NONCE_BYTES]; /* a copy: out may lie over the caller's */
  const uint8_t *aad;
  uint64_t aad_len;
  const uint8_t *in;
  uint8_t *out;
  uint64_t len;
};

/*
 * What a message has of its own, in the caller's memory since it is more than a frame should hold: both
 * keys (the message-encryption key, and the message-authentication key's powers) and room to work in.
 * Wiped when a call returns.
 */
struct fc_gcm_siv_work {
  struct fc_gcm_key key;
  uint8_t scratch[1024];
};

/* `key` is the expanded key-generating key, of 16 or 32 bytes. */
FC_HIDDEN void fc_gcm_siv_seal(struct fc_gcm_siv_work *work, const struct fc_aes_key *key,
                               const struct fc_gcm_siv_message *message,
                               uint8_t tag[FC_GCM_SIV_TAG_BYTES]);

/* Returns 0, or -1 for a bad tag with the output zeroed. */
FC_HIDDEN int fc_gcm_siv_open(struct fc_gcm_siv_work *work, const struct fc_aes_key *key,
                              const struct fc_gcm_siv_message *message,
                              const uint8_t tag[FC_GCM_SIV_TAG_BYTES]);

#endif

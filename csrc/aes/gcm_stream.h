/* SPDX-License-Identifier: Apache-2.0 */
/* AES-GCM over a message that comes in pieces (SP 800-38D), on the sealed suite. */
#ifndef FC_AES_GCM_STREAM_H
#define FC_AES_GCM_STREAM_H

#include "aes/gcm.h"

struct fc_gcm_stream {
  uint8_t j0[16];
  uint8_t counter[16]; /* of the next block to begin */
  uint8_t y[16];       /* GHASH of the associated data and the whole blocks so far */
  uint64_t aad_len;
  uint64_t len;     /* bytes so far; the last len % 16 of them are in `text` */
  uint8_t pad[16];  /* key stream of the block begun */
  uint8_t text[16]; /* ciphertext of the block begun */
};

FC_HIDDEN void fc_gcm_stream_begin(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                                   const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
                                   size_t aad_len);

/* Encrypt or decrypt the next piece; in == out works. The caller sees to FC_GCM_MAX_BYTES. */
FC_HIDDEN void fc_gcm_stream_encrypt(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                                     const uint8_t *in, uint8_t *out, size_t len);
FC_HIDDEN void fc_gcm_stream_decrypt(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                                     const uint8_t *in, uint8_t *out, size_t len);

/* The tag of the whole message. The stream is wiped. */
FC_HIDDEN void fc_gcm_stream_finish(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                                    uint8_t tag[16]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* AES-GCM over many messages under one key, each with its own nonce. */
#ifndef FC_AES_RECORDS_H
#define FC_AES_RECORDS_H

#include "aes/gcm.h"

/* One message. Every field is public; a sealed text is followed by its tag. */
struct fc_gcm_record {
  uint8_t j0[16]; /* of the nonce, by fc_gcm_j0 */
  const uint8_t *aad;
  uint64_t aad_len;
  const uint8_t *in; /* may equal out */
  uint64_t in_len;   /* with the tag, if it is sealed */
  uint8_t *out;
  uint64_t bad; /* for the caller's use */
};

/* Encrypt n records in their order: in_len bytes of text and tag_len bytes of tag each. */
FC_HIDDEN void fc_gcm_seal_records(const struct fc_gcm_key *key,
                                   const struct fc_gcm_record *records, size_t n, size_t tag_len);

/*
 * Decrypt records in their order up to the first one whose tag is wrong, or that is shorter than a
 * tag: returns its index, or n. Its output is zeroed, those before it stand.
 */
FC_HIDDEN size_t fc_gcm_open_records(const struct fc_gcm_key *key,
                                     const struct fc_gcm_record *records, size_t n, size_t tag_len);

#endif

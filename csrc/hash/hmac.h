/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HMAC (RFC 2104, FIPS 198-1) on any of the hashes. The two pads of a key are a block each: their
 * states are computed once per key, and a message of up to 55 bytes (SHA-256) costs two compressions.
 */
#ifndef FC_HASH_HMAC_H
#define FC_HASH_HMAC_H

#include "hash/algorithms.h"

/* Secret but for `hash`. Wipe it when done. */
struct fc_hmac_key {
  enum fc_hash hash;
  union fc_hash_state inner, outer; /* after key ^ ipad, after key ^ opad */
};

/* Any length of key: one longer than a block is hashed first, a shorter one is padded with zeros. */
FC_HIDDEN void fc_hmac_key_init(struct fc_hmac_key *key, enum fc_hash hash, const uint8_t *bytes,
                                size_t len);

/* The tag of data[0..len), as long as a digest of the hash. */
FC_HIDDEN void fc_hmac(const struct fc_hmac_key *key, const uint8_t *data, size_t len,
                       uint8_t *tag);

/* A message in pieces: begin, the algorithm's own update, and the tag of what there is so far. */
FC_HIDDEN void fc_hmac_begin(const struct fc_hmac_key *key, union fc_hash_context *context);
FC_HIDDEN void fc_hmac_tag(const struct fc_hmac_key *key, const union fc_hash_context *context,
                           uint8_t *tag);

/*
 * PBKDF2 (RFC 8018 section 5.2) with HMAC under `password`: out_len bytes, at most 2^32 - 1 digests
 * of them; iterations >= 1.
 */
FC_HIDDEN void fc_pbkdf2(const struct fc_hmac_key *password, const uint8_t *salt, size_t salt_len,
                         uint64_t iterations, uint8_t *out, size_t out_len);

/* HKDF-Expand (RFC 5869 section 2.3) with HMAC under the PRK: out_len is at most 255 digests. */
FC_HIDDEN void fc_hkdf_expand(const struct fc_hmac_key *prk, const uint8_t *info, size_t info_len,
                              uint8_t *out, size_t out_len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* AES key wrap, without padding (RFC 3394, SP 800-38F KW) and with it (RFC 5649, KWP). */
#ifndef FC_AES_KEY_WRAP_H
#define FC_AES_KEY_WRAP_H

#include "kernels.h"

/* The longest key that RFC 5649 wraps: its length has 32 bits. */
#define FC_KEY_WRAP_PADDED_MAX_BYTES UINT64_C(0xFFFFFFFF)

/* How many bytes `len` bytes become with padding: whole semiblocks of 8 bytes, and one more. */
static inline uint64_t fc_key_wrap_padded_size(uint64_t len) { return (len + 7) / 8 * 8 + 8; }

/* wrapped[0, len + 8) becomes the wrapped key. len is a multiple of 8, at least 16. */
FC_HIDDEN void fc_key_wrap(const struct fc_aes_key *key, const uint8_t *bytes, size_t len,
                           uint8_t *wrapped);

/* len is that of the wrapped key, a multiple of 8, at least 24. Returns 0 with the key in
 * bytes[0, len - 8), or -1 with zeros there. */
FC_HIDDEN int fc_key_unwrap(const struct fc_aes_key *key, const uint8_t *wrapped, size_t len,
                            uint8_t *bytes);

/* wrapped[0, fc_key_wrap_padded_size(len)) becomes the wrapped key. len is at least 1. */
FC_HIDDEN void fc_key_wrap_padded(const struct fc_aes_key *key, const uint8_t *bytes, size_t len,
                                  uint8_t *wrapped);

/* len is that of the wrapped key, a multiple of 8 from 16 to 2^32 + 8. Returns the size of the key,
 * which is in bytes[0, len - 8), zeros behind it; or 0 with zeros only. */
FC_HIDDEN size_t fc_key_unwrap_padded(const struct fc_aes_key *key, const uint8_t *wrapped,
                                      size_t len, uint8_t *bytes);

#endif

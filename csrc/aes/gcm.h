/* SPDX-License-Identifier: Apache-2.0 */
/* AES-GCM over messages (SP 800-38D), on the sealed suite. */
#ifndef FC_AES_GCM_H
#define FC_AES_GCM_H

#include "kernels.h"

enum { FC_GCM_TAG_BYTES = 16 };

/* The longest plaintext, section 5.2.1.1: 2^39 - 256 bits. */
#define FC_GCM_MAX_BYTES ((UINT64_C(1) << 36) - 32)

/* The longest associated data, ibidem: 2^64 - 1 bits, which are no whole number of bytes. */
#define FC_GCM_MAX_AAD_BYTES ((UINT64_C(1) << 61) - 1)

/* Expand a key of 16, 24 or 32 bytes and derive the powers of its hash subkey. */
FC_HIDDEN void fc_gcm_init(struct fc_gcm_key *key, const uint8_t *bytes, size_t key_len);

/* The pre-counter block of a nonce of any length of at least one byte, section 7.1 step 2. */
FC_HIDDEN void fc_gcm_j0(const struct fc_gcm_key *key, const uint8_t *nonce, size_t nonce_len,
                         uint8_t j0[16]);

/*
 * Decrypt a message and check the first tag_len bytes of its tag, in time that does not depend on
 * either. message->tag receives the computed tag and is wiped. Returns 0, or -1 for a bad tag with
 * the output zeroed.
 */
FC_HIDDEN int fc_gcm_open(const struct fc_gcm_key *key, const struct fc_gcm_message *message,
                          const uint8_t *tag, size_t tag_len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* GHASH for GCM of the portable AES suite. */
#ifndef FC_AES_GHASH_H
#define FC_AES_GHASH_H

#include "portable/aes_bitsliced.h"

FC_HIDDEN void fc_portable_ghash(const struct fc_ghash_key *key, uint8_t y[16], const uint8_t *data,
                                 size_t len);

#endif

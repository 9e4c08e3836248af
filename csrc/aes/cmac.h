/* SPDX-License-Identifier: Apache-2.0 */
/* AES-CMAC (SP 800-38B, RFC 4493), on the sealed suite. */
#ifndef FC_AES_CMAC_H
#define FC_AES_CMAC_H

#include "kernels.h"

FC_HIDDEN void fc_cmac(const struct fc_aes_key *key, const uint8_t *data, size_t len,
                       uint8_t mac[16]);

#endif

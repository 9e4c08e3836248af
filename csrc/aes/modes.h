/* SPDX-License-Identifier: Apache-2.0 */
/* What ECB, CBC and CTR need above the kernels: seeking and padding. */
#ifndef FC_AES_MODES_H
#define FC_AES_MODES_H

#include "kernels.h"

/* CTR from byte `offset` of the key stream that starts at counter block iv. O(1) in the offset. */
FC_HIDDEN void fc_ctr_crypt(const struct fc_aes_key *key, const uint8_t iv[16], uint64_t offset,
                            const uint8_t *in, uint8_t *out, size_t len);

/* PKCS#7 (RFC 5652 section 6.3): block = tail[0..n) and 16 - n bytes of value 16 - n; n <= 15. */
FC_HIDDEN void fc_pkcs7_pad(uint8_t block[16], const uint8_t *tail, size_t n);

/* The number of padding bytes (1 to 16) of a last block, or 0 if they are not right. Its time does
 * not depend on the block. */
FC_HIDDEN size_t fc_pkcs7_unpad(const uint8_t block[16]);

#endif

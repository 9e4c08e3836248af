/* SPDX-License-Identifier: Apache-2.0 */
/* CBC encryption of many messages of any lengths, side by side, on the sealed suite. */
#ifndef FC_AES_CBC_MANY_H
#define FC_AES_CBC_MANY_H

#include "kernels.h"

/* One message of whole blocks. */
struct fc_cbc_message {
  const uint8_t *in;
  uint8_t *out; /* may equal in */
  size_t nblocks;
  uint8_t iv[16]; /* advances */
};

/* Encrypt n messages. No output overlaps anything of another message. */
FC_HIDDEN void fc_cbc_encrypt_messages(const struct fc_aes_key *key,
                                       struct fc_cbc_message *messages, size_t n);

#endif

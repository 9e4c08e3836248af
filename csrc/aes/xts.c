/* SPDX-License-Identifier: Apache-2.0 */
#include "aes/xts.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

void fc_xts_init(struct fc_xts_key *key, const uint8_t *bytes, size_t key_len) {
  FC_TABLE.aes.expand_key(&key->data, bytes, key_len / 2);
  FC_TABLE.aes.expand_key(&key->tweak, bytes + key_len / 2, key_len / 2);
}

/*
 * Ciphertext stealing. `at` is where the last whole block's result stands in out, the rest bytes of
 * the partial block come after it. The result gives its head to the partial block, which gives it
 * what is to be encrypted (decrypted) once more in its place, with the tweak of the other block.
 */
static void steal(const struct fc_aes_key *key, fc_aes_xts_encrypt_fn *crypt, uint8_t tweak[16],
                  const uint8_t *in, uint8_t *at, size_t rest) {
  uint8_t block[16];
  memcpy(block, at, 16);
  memcpy(block, in, rest);
  memcpy(at + 16, at, rest);
  crypt(key, tweak, block, at, 1);
  fc_wipe(block, sizeof block);
}

void fc_xts_encrypt(const struct fc_xts_key *key, const uint8_t tweak[16], const uint8_t *in,
                    uint8_t *out, size_t len) {
  const size_t whole = len / 16 * 16;
  uint8_t running[16];
  FC_TABLE.aes.ecb_encrypt(&key->tweak, tweak, running, 1);
  FC_TABLE.aes.xts_encrypt(&key->data, running, in, out, whole / 16);
  if (whole != len) {
    steal(&key->data, FC_TABLE.aes.xts_encrypt, running, in + whole, out + whole - 16, len - whole);
  }
  fc_wipe(running, sizeof running);
}

/* The block before a partial one was encrypted last, with the tweak that comes last. */
void fc_xts_decrypt(const struct fc_xts_key *key, const uint8_t tweak[16], const uint8_t *in,
                    uint8_t *out, size_t len) {
  const size_t rest = len % 16, whole = rest == 0 ? len : len - rest - 16;
  uint8_t running[16], last[16];
  FC_TABLE.aes.ecb_encrypt(&key->tweak, tweak, running, 1);
  FC_TABLE.aes.xts_decrypt(&key->data, running, in, out, whole / 16);
  if (rest != 0) {
    memcpy(last, running, 16);
    fc_xts_multiply_alpha(last);
    FC_TABLE.aes.xts_decrypt(&key->data, last, in + whole, out + whole, 1);
    steal(&key->data, FC_TABLE.aes.xts_decrypt, running, in + whole + 16, out + whole, rest);
    fc_wipe(last, sizeof last);
  }
  fc_wipe(running, sizeof running);
}

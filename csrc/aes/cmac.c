/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CBC-MAC is CBC encryption of which only the chaining value is wanted. The suites' cbc_encrypt
 * writes the ciphertext too: it goes to a small scratch, over and over.
 */
#include "aes/cmac.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

/* 1 KiB is 64 blocks of one chain, more than 2000 cycles: what a call costs beside does not show. */
enum { SCRATCH_BLOCKS = 64 };

/* Section 6.1: the product with x in GF(2^128), bit 0 of the standard being the highest. */
static void times_x(uint8_t block[16]) {
  const uint64_t high = fc_load_be64(block), low = fc_load_be64(block + 8);
  const uint64_t carry = 0 - (high >> 63);
  fc_store_be64(block, high << 1 | low >> 63);
  fc_store_be64(block + 8, low << 1 ^ (carry & 0x87));
}

/* The last block, complete or padded, with the subkey for its kind (section 6.2 steps 2 to 4). */
static void mask_last_block(const struct fc_aes_key *key, uint8_t last[16], const uint8_t *tail,
                            size_t len) {
  uint8_t subkey[16] = {0};
  FC_TABLE.aes.ecb_encrypt(key, subkey, subkey, 1);
  times_x(subkey);
  if (len != 16) times_x(subkey);
  memset(last, 0, 16);
  if (len != 0) memcpy(last, tail, len);
  if (len != 16) last[len] = 0x80;
  for (size_t i = 0; i < 16; i++) last[i] ^= subkey[i];
  fc_wipe(subkey, sizeof subkey);
}

void fc_cmac(const struct fc_aes_key *key, const uint8_t *data, size_t len, uint8_t mac[16]) {
  uint8_t scratch[16 * SCRATCH_BLOCKS], last[16];
  const size_t before_last = len == 0 ? 0 : (len - 1) / 16;
  memset(mac, 0, 16);
  for (size_t done = 0; done < before_last;) {
    const size_t left = before_last - done;
    const size_t n = left < SCRATCH_BLOCKS ? left : SCRATCH_BLOCKS;
    FC_TABLE.aes.cbc_encrypt(key, mac, data + 16 * done, scratch, n);
    done += n;
  }
  mask_last_block(key, last, len == 0 ? NULL : data + 16 * before_last, len - 16 * before_last);
  FC_TABLE.aes.cbc_encrypt(key, mac, last, scratch, 1);
  fc_wipe(last, sizeof last);
  /* The first blocks of it are all that a short message has written. */
  fc_wipe(scratch, before_last < SCRATCH_BLOCKS ? 16 * (before_last + 1) : sizeof scratch);
}

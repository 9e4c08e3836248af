/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RFC 8452 with kernels made for GCM. Its POLYVAL is GHASH with the bytes of every block reversed
 * and a key multiplied by x (appendix A); its CTR counts in the first 32 bits, little-endian, so the
 * counter blocks are written here and go through ECB. Both work on a piece of scratch at a time.
 */
#include "aes/gcm_siv.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

enum { SCRATCH_BYTES = sizeof((struct fc_gcm_siv_work *)0)->scratch };

static inline void reverse_block(uint8_t out[16], const uint8_t in[16]) {
  const uint64_t high = fc_load_be64(in), low = fc_load_be64(in + 8);
  fc_store_le64(out, low);
  fc_store_le64(out + 8, high);
}

/* The product with x in GHASH's field, whose bit 0 is the highest of the first byte. */
static void times_x(uint8_t block[16]) {
  const uint64_t high = fc_load_be64(block), low = fc_load_be64(block + 8);
  const uint64_t carry = 0 - (low & 1);
  fc_store_be64(block, high >> 1 ^ (carry & UINT64_C(0xE1) << 56));
  fc_store_be64(block + 8, low >> 1 | high << 63);
}

/* Section 4: each half of a key is the first half of a block. */
static void derive_keys(struct fc_gcm_siv_work *work, const struct fc_aes_key *key,
                        const uint8_t *nonce) {
  uint8_t *blocks = work->scratch, derived[48];
  const size_t key_len = key->rounds == 10 ? 16 : 32, halves = (16 + key_len) / 8;
  for (uint32_t i = 0; i < halves; i++) {
    fc_store_le32(blocks + 16 * i, i);
    memcpy(blocks + 16 * i + 4, nonce, 12);
  }
  FC_TABLE.aes.ecb_encrypt(key, blocks, blocks, halves);
  for (size_t i = 0; i < halves; i++) memcpy(derived + 8 * i, blocks + 16 * i, 8);
  FC_TABLE.aes.expand_key(&work->key.aes, derived + 16, key_len);
  reverse_block(derived, derived);
  times_x(derived);
  FC_TABLE.aes.ghash_key(&work->key.ghash, derived);
  fc_wipe(derived, sizeof derived);
}

/* y, the byte-reversed POLYVAL, over data padded with zeros to whole blocks. */
static void polyval(struct fc_gcm_siv_work *work, uint8_t y[16], const uint8_t *data,
                    uint64_t len) {
  while (len > 0) {
    const size_t n = len < SCRATCH_BYTES ? (size_t)len : SCRATCH_BYTES;
    const size_t whole = n / 16 * 16;
    for (size_t i = 0; i < whole; i += 16) reverse_block(work->scratch + i, data + i);
    if (whole != n) {
      uint8_t *last = work->scratch + whole;
      memset(last, 0, 16);
      memcpy(last, data + whole, n - whole);
      reverse_block(last, last);
    }
    FC_TABLE.aes.ghash(&work->key.ghash, y, work->scratch, (n + 15) / 16 * 16);
    data += n, len -= n;
  }
}

/* Section 4, from the associated data to the tag. */
static void compute_tag(struct fc_gcm_siv_work *work, const struct fc_gcm_siv_message *message,
                        const uint8_t *plaintext, uint8_t tag[16]) {
  uint8_t y[16] = {0}, lengths[16];
  polyval(work, y, message->aad, message->aad_len);
  polyval(work, y, plaintext, message->len);
  fc_store_be64(lengths, message->len << 3); /* reversed, as all blocks are */
  fc_store_be64(lengths + 8, message->aad_len << 3);
  FC_TABLE.aes.ghash(&work->key.ghash, y, lengths, 16);
  reverse_block(y, y);
  for (size_t i = 0; i < FC_GCM_SIV_NONCE_BYTES; i++) y[i] ^= message->nonce[i];
  y[15] &= 0x7F;
  FC_TABLE.aes.ecb_encrypt(&work->key.aes, y, tag, 1);
  fc_wipe(y, sizeof y);
}

/* AES-CTR with a counter of 32 bits that wraps. */
static void crypt(struct fc_gcm_siv_work *work, const uint8_t tag[16],
                  const struct fc_gcm_siv_message *message) {
  uint8_t block[16];
  const uint8_t *in = message->in;
  uint8_t *out = message->out;
  uint32_t counter = fc_load_le32(tag);
  memcpy(block, tag, 16);
  block[15] |= 0x80;
  for (uint64_t len = message->len; len > 0;) {
    const size_t n = len < SCRATCH_BYTES ? (size_t)len : SCRATCH_BYTES;
    const size_t nblocks = (n + 15) / 16;
    for (size_t i = 0; i < nblocks; i++) {
      fc_store_le32(block, counter++);
      memcpy(work->scratch + 16 * i, block, 16);
    }
    FC_TABLE.aes.ecb_encrypt(&work->key.aes, work->scratch, work->scratch, nblocks);
    fc_xor_bytes(out, in, work->scratch, n);
    in += n, out += n, len -= n;
  }
}

void fc_gcm_siv_seal(struct fc_gcm_siv_work *work, const struct fc_aes_key *key,
                     const struct fc_gcm_siv_message *message, uint8_t tag[16]) {
  derive_keys(work, key, message->nonce);
  compute_tag(work, message, message->in, tag);
  crypt(work, tag, message);
  fc_wipe(work, sizeof *work);
}

int fc_gcm_siv_open(struct fc_gcm_siv_work *work, const struct fc_aes_key *key,
                    const struct fc_gcm_siv_message *message, const uint8_t tag[16]) {
  uint8_t expected[16], computed[16];
  memcpy(expected, tag, 16); /* in place, `out` may lie over it */
  derive_keys(work, key, message->nonce);
  crypt(work, expected, message);
  compute_tag(work, message, message->out, computed);
  const int differ = FC_TABLE.timingsafe_bcmp(computed, expected, 16);
  fc_wipe(computed, sizeof computed);
  fc_wipe(work, sizeof *work);
  if (differ) fc_wipe(message->out, (size_t)message->len);
  return -differ;
}

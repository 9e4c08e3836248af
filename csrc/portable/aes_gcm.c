/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCM, SP 800-38D: CTR and GHASH over the ciphertext, a batch of four blocks at a time.
 *
 * Contract: kernels.h, ops aes_gcm_*
 * Secret: text, keystream, y, the tag's mask, the keys
 * Public: pointers, lengths, counters, J0, additional data, and whether it encrypts or decrypts
 * Loop: one batch: counters encrypted, text added, ciphertext hashed with one reduction.
 */
#include "portable/aes_ghash.h"

enum direction { ENCRYPT, DECRYPT };

/* The counter blocks from `first` on, encrypted. Only the low 32 bits count. */
static void keystream(const struct fc_aes_key *key, const uint8_t prefix[12], uint32_t first,
                      uint8_t blocks[FC_AES_BATCH]) {
  for (unsigned i = 0; i < FC_AES_BATCH_BLOCKS; i++) {
    memcpy(blocks + FC_AES_BLOCK * i, prefix, 12);
    fc_store_be32(blocks + FC_AES_BLOCK * i + 12, first + i);
  }
  fc_bitsliced_encrypt(key, blocks, blocks);
}

/* At most a batch. The ciphertext is hashed before it is overwritten, or once it is there. */
static void crypt_batch(const struct fc_ghash_key *ghash, uint8_t y[16], const uint8_t *stream,
                        const uint8_t *in, uint8_t *out, size_t len, enum direction direction) {
  if (direction == DECRYPT) fc_portable_ghash(ghash, y, in, len);
  fc_xor_bytes(out, in, stream, len);
  if (direction == ENCRYPT) fc_portable_ghash(ghash, y, out, len);
}

static void crypt(const struct fc_gcm_key *key, uint8_t counter[16], uint8_t y[16],
                  const uint8_t *in, uint8_t *out, uint64_t len, enum direction direction) {
  uint32_t next = fc_load_be32(counter + 12);
  uint8_t blocks[FC_AES_BATCH];
  while (len > 0) {
    size_t n = len < FC_AES_BATCH ? (size_t)len : FC_AES_BATCH;
    keystream(&key->aes, counter, next, blocks);
    crypt_batch(&key->ghash, y, blocks, in, out, n, direction);
    next += (uint32_t)(n + FC_AES_BLOCK - 1) / FC_AES_BLOCK;
    in += n;
    out += n;
    len -= n;
  }
  fc_store_be32(counter + 12, next);
}

void FC_C_KERNEL(fc_aes_gcm_encrypt_portable)(const struct fc_gcm_key *key, uint8_t counter[16],
                                              uint8_t y[16], const uint8_t *in, uint8_t *out,
                                              size_t len) {
  crypt(key, counter, y, in, out, len, ENCRYPT);
}

void FC_C_KERNEL(fc_aes_gcm_decrypt_portable)(const struct fc_gcm_key *key, uint8_t counter[16],
                                              uint8_t y[16], const uint8_t *in, uint8_t *out,
                                              size_t len) {
  crypt(key, counter, y, in, out, len, DECRYPT);
}

/*
 * The first batch encrypts J0, whose keystream masks the tag, along with the counters of the first
 * three blocks of text: a message of up to 48 bytes costs one batch.
 */
static void whole_message(const struct fc_gcm_key *key, const struct fc_gcm_message *m,
                          enum direction direction) {
  enum { FIRST = FC_AES_BATCH - FC_AES_BLOCK };
  uint8_t counter[FC_AES_BLOCK], y[FC_AES_BLOCK] = {0}, lengths[FC_AES_BLOCK];
  uint8_t first[FC_AES_BATCH];
  uint32_t j0 = fc_load_be32(m->j0 + 12);

  keystream(&key->aes, m->j0, j0, first);
  fc_portable_ghash(&key->ghash, y, m->aad, (size_t)m->aad_len);
  if (m->len <= FIRST) {
    crypt_batch(&key->ghash, y, first + FC_AES_BLOCK, m->in, m->out, (size_t)m->len, direction);
  } else {
    crypt_batch(&key->ghash, y, first + FC_AES_BLOCK, m->in, m->out, FIRST, direction);
    memcpy(counter, m->j0, 12);
    fc_store_be32(counter + 12, j0 + FC_AES_BATCH_BLOCKS);
    crypt(key, counter, y, m->in + FIRST, m->out + FIRST, m->len - FIRST, direction);
  }
  fc_store_be64(lengths, 8 * m->aad_len);
  fc_store_be64(lengths + 8, 8 * m->len);
  fc_portable_ghash(&key->ghash, y, lengths, sizeof lengths);
  fc_xor_block(m->tag, y, first);
}

void FC_C_KERNEL(fc_aes_gcm_seal_portable)(const struct fc_gcm_key *key,
                                           const struct fc_gcm_message *message) {
  whole_message(key, message, ENCRYPT);
}

void FC_C_KERNEL(fc_aes_gcm_open_portable)(const struct fc_gcm_key *key,
                                           const struct fc_gcm_message *message) {
  whole_message(key, message, DECRYPT);
}

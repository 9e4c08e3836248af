/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ECB, CBC and CTR, SP 800-38A, and XTS, IEEE 1619, over batches of four blocks.
 *
 * Contract: kernels.h, ops aes_ecb_*, aes_cbc_*, aes_ctr, aes_xts_*
 * Secret: blocks, keystream, chaining values, tweaks, the key
 * Public: pointers, lengths, the counter
 * Loop: one batch. A last one of fewer than four blocks is copied, or its keystream not all used,
 *   so that nothing outside the operands is touched. CBC encryption has one block in its batch,
 *   since each needs the one before it: a quarter of the speed of the others. Four chains fill it.
 */
#include "portable/aes_bitsliced.h"

typedef void batch_fn(const struct fc_aes_key *key, const uint8_t in[FC_AES_BATCH],
                      uint8_t out[FC_AES_BATCH]);

static inline void ecb(const struct fc_aes_key *key, const uint8_t *in, uint8_t *out,
                       size_t nblocks, batch_fn *batch) {
  for (; nblocks >= FC_AES_BATCH_BLOCKS; nblocks -= FC_AES_BATCH_BLOCKS) {
    batch(key, in, out);
    in += FC_AES_BATCH;
    out += FC_AES_BATCH;
  }
  if (nblocks > 0) {
    uint8_t blocks[FC_AES_BATCH] = {0};
    memcpy(blocks, in, FC_AES_BLOCK * nblocks);
    batch(key, blocks, blocks);
    memcpy(out, blocks, FC_AES_BLOCK * nblocks);
  }
}

void FC_C_KERNEL(fc_aes_ecb_encrypt_portable)(const struct fc_aes_key *key, const uint8_t *in,
                                              uint8_t *out, size_t nblocks) {
  ecb(key, in, out, nblocks, fc_bitsliced_encrypt);
}

void FC_C_KERNEL(fc_aes_ecb_decrypt_portable)(const struct fc_aes_key *key, const uint8_t *in,
                                              uint8_t *out, size_t nblocks) {
  ecb(key, in, out, nblocks, fc_bitsliced_decrypt);
}

void FC_C_KERNEL(fc_aes_cbc_encrypt_portable)(const struct fc_aes_key *key, uint8_t iv[16],
                                              const uint8_t *in, uint8_t *out, size_t nblocks) {
  uint8_t blocks[FC_AES_BATCH] = {0};
  memcpy(blocks, iv, FC_AES_BLOCK);
  for (; nblocks > 0; nblocks--) {
    fc_xor_block(blocks, blocks, in);
    fc_bitsliced_encrypt(key, blocks, blocks);
    memcpy(out, blocks, FC_AES_BLOCK);
    in += FC_AES_BLOCK;
    out += FC_AES_BLOCK;
  }
  memcpy(iv, blocks, FC_AES_BLOCK);
}

/* `blocks` holds the chaining value and then the ciphertext, which out may be about to replace. */
void FC_C_KERNEL(fc_aes_cbc_decrypt_portable)(const struct fc_aes_key *key, uint8_t iv[16],
                                              const uint8_t *in, uint8_t *out, size_t nblocks) {
  uint8_t blocks[FC_AES_BLOCK + FC_AES_BATCH] = {0};
  uint8_t plain[FC_AES_BATCH];
  memcpy(blocks, iv, FC_AES_BLOCK);
  while (nblocks > 0) {
    size_t n = nblocks < FC_AES_BATCH_BLOCKS ? nblocks : FC_AES_BATCH_BLOCKS;
    memcpy(blocks + FC_AES_BLOCK, in, FC_AES_BLOCK * n);
    fc_bitsliced_decrypt(key, blocks + FC_AES_BLOCK, plain);
    fc_xor_bytes(out, plain, blocks, FC_AES_BLOCK * n);
    memcpy(blocks, blocks + FC_AES_BLOCK * n, FC_AES_BLOCK);
    in += FC_AES_BLOCK * n;
    out += FC_AES_BLOCK * n;
    nblocks -= n;
  }
  memcpy(iv, blocks, FC_AES_BLOCK);
}

/* The blocks hold the chaining values of up to four chains, one each. */
static void cbc_encrypt_batch(const struct fc_aes_key *key, const struct fc_cbc_chain *chains,
                              size_t n, size_t nblocks) {
  uint8_t blocks[FC_AES_BATCH] = {0};
  for (size_t k = 0; k < n; k++) memcpy(blocks + FC_AES_BLOCK * k, chains[k].iv, FC_AES_BLOCK);
  for (size_t at = 0; at < FC_AES_BLOCK * nblocks; at += FC_AES_BLOCK) {
    for (size_t k = 0; k < n; k++) {
      uint8_t *block = blocks + FC_AES_BLOCK * k;
      fc_xor_block(block, block, chains[k].in + at);
    }
    fc_bitsliced_encrypt(key, blocks, blocks);
    for (size_t k = 0; k < n; k++) {
      memcpy(chains[k].out + at, blocks + FC_AES_BLOCK * k, FC_AES_BLOCK);
    }
  }
  for (size_t k = 0; k < n; k++) memcpy(chains[k].iv, blocks + FC_AES_BLOCK * k, FC_AES_BLOCK);
}

void FC_C_KERNEL(fc_aes_cbc_encrypt_many_portable)(const struct fc_aes_key *key,
                                                   const struct fc_cbc_chain *chains,
                                                   size_t nchains, size_t nblocks) {
  while (nchains > 0) {
    const size_t n = nchains < FC_AES_BATCH_BLOCKS ? nchains : FC_AES_BATCH_BLOCKS;
    cbc_encrypt_batch(key, chains, n, nblocks);
    chains += n;
    nchains -= n;
  }
}

static inline void xts(const struct fc_aes_key *key, uint8_t tweak[16], const uint8_t *in,
                       uint8_t *out, size_t nblocks, batch_fn *batch) {
  uint8_t tweaks[FC_AES_BATCH], blocks[FC_AES_BATCH] = {0};
  while (nblocks > 0) {
    const size_t n = nblocks < FC_AES_BATCH_BLOCKS ? nblocks : FC_AES_BATCH_BLOCKS;
    for (size_t k = 0; k < n; k++) {
      memcpy(tweaks + FC_AES_BLOCK * k, tweak, FC_AES_BLOCK);
      fc_xts_multiply_alpha(tweak);
    }
    fc_xor_bytes(blocks, in, tweaks, FC_AES_BLOCK * n);
    batch(key, blocks, blocks);
    fc_xor_bytes(out, blocks, tweaks, FC_AES_BLOCK * n);
    in += FC_AES_BLOCK * n;
    out += FC_AES_BLOCK * n;
    nblocks -= n;
  }
}

void FC_C_KERNEL(fc_aes_xts_encrypt_portable)(const struct fc_aes_key *key, uint8_t tweak[16],
                                              const uint8_t *in, uint8_t *out, size_t nblocks) {
  xts(key, tweak, in, out, nblocks, fc_bitsliced_encrypt);
}

void FC_C_KERNEL(fc_aes_xts_decrypt_portable)(const struct fc_aes_key *key, uint8_t tweak[16],
                                              const uint8_t *in, uint8_t *out, size_t nblocks) {
  xts(key, tweak, in, out, nblocks, fc_bitsliced_decrypt);
}

void FC_C_KERNEL(fc_aes_ctr_portable)(const struct fc_aes_key *key, uint8_t counter[16],
                                      const uint8_t *in, uint8_t *out, size_t len) {
  uint64_t high = fc_load_be64(counter), low = fc_load_be64(counter + 8);
  uint8_t blocks[FC_AES_BATCH];
  while (len > 0) {
    size_t n = len < FC_AES_BATCH ? len : FC_AES_BATCH;
    for (unsigned i = 0; i < FC_AES_BATCH_BLOCKS; i++) {
      fc_store_be64(blocks + FC_AES_BLOCK * i, high + (low + i < low));
      fc_store_be64(blocks + FC_AES_BLOCK * i + 8, low + i);
    }
    fc_bitsliced_encrypt(key, blocks, blocks);
    fc_xor_bytes(out, in, blocks, n);
    uint64_t used = (n + FC_AES_BLOCK - 1) / FC_AES_BLOCK;
    low += used;
    high += low < used;
    in += n;
    out += n;
    len -= n;
  }
  fc_store_be64(counter, high);
  fc_store_be64(counter + 8, low);
}

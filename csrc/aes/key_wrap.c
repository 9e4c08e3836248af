/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One chain of single blocks, 6 for each semiblock of 8 bytes. Names are those of RFC 3394 section
 * 2.2: the integrity register A, the semiblocks R, the step count t.
 */
#include "aes/key_wrap.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

static const uint8_t initial_value[8] = {0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6, 0xA6};
static const uint8_t padded_initial_value[4] = {0xA6, 0x59, 0x59, 0xA6}; /* and the length */

static void wrap(const struct fc_aes_key *key, uint8_t a[8], uint8_t *r, size_t n) {
  uint8_t block[16];
  memcpy(block, a, 8);
  for (uint64_t t = 1; t <= 6 * (uint64_t)n; t++) {
    uint8_t *semiblock = r + 8 * ((t - 1) % n);
    memcpy(block + 8, semiblock, 8);
    FC_TABLE.aes.ecb_encrypt(key, block, block, 1);
    memcpy(semiblock, block + 8, 8);
    fc_store_be64(block, fc_load_be64(block) ^ t);
  }
  memcpy(a, block, 8);
  fc_wipe(block, sizeof block);
}

static void unwrap(const struct fc_aes_key *key, uint8_t a[8], uint8_t *r, size_t n) {
  uint8_t block[16];
  memcpy(block, a, 8);
  for (uint64_t t = 6 * (uint64_t)n; t > 0; t--) {
    uint8_t *semiblock = r + 8 * ((t - 1) % n);
    fc_store_be64(block, fc_load_be64(block) ^ t);
    memcpy(block + 8, semiblock, 8);
    FC_TABLE.aes.ecb_decrypt(key, block, block, 1);
    memcpy(semiblock, block + 8, 8);
  }
  memcpy(a, block, 8);
  fc_wipe(block, sizeof block);
}

void fc_key_wrap(const struct fc_aes_key *key, const uint8_t *bytes, size_t len, uint8_t *wrapped) {
  memcpy(wrapped, initial_value, 8);
  memcpy(wrapped + 8, bytes, len);
  wrap(key, wrapped, wrapped + 8, len / 8);
}

int fc_key_unwrap(const struct fc_aes_key *key, const uint8_t *wrapped, size_t len,
                  uint8_t *bytes) {
  uint8_t a[8];
  memcpy(a, wrapped, 8);
  memcpy(bytes, wrapped + 8, len - 8);
  unwrap(key, a, bytes, len / 8 - 1);
  const int differ = FC_TABLE.timingsafe_bcmp(a, initial_value, sizeof a);
  fc_wipe(a, sizeof a);
  if (differ) fc_wipe(bytes, len - 8);
  return -differ;
}

void fc_key_wrap_padded(const struct fc_aes_key *key, const uint8_t *bytes, size_t len,
                        uint8_t *wrapped) {
  const size_t size = (size_t)fc_key_wrap_padded_size(len);
  memcpy(wrapped, padded_initial_value, 4);
  fc_store_be32(wrapped + 4, (uint32_t)len);
  memset(wrapped + size - 8, 0, 8);
  memcpy(wrapped + 8, bytes, len);
  if (size == 16) {
    FC_TABLE.aes.ecb_encrypt(key, wrapped, wrapped, 1);
  } else {
    wrap(key, wrapped, wrapped + 8, size / 8 - 1);
  }
}

/*
 * RFC 5649 section 3: the constant, a length of 1 to 8 bytes in the last semiblock, zeros behind it.
 * 0 if all are right, else not; in time that depends on none of them.
 */
static uint32_t padding_is_wrong(const uint8_t a[8], const uint8_t last[8], uint32_t size) {
  const uint32_t in_last = fc_load_be32(a + 4) - (size - 8); /* 1 to 8 when right */
  uint32_t wrong = fc_load_be32(a) ^ fc_load_be32(padded_initial_value);
  wrong |= (in_last - 1) >> 3;
  for (uint32_t i = 0; i < 8; i++) {
    const uint32_t behind = 0 - ((in_last - 1 - i) >> 31); /* i >= in_last, where that is small */
    wrong |= behind & last[i];
  }
  return wrong;
}

size_t fc_key_unwrap_padded(const struct fc_aes_key *key, const uint8_t *wrapped, size_t len,
                            uint8_t *bytes) {
  const size_t size = len - 8;
  uint8_t block[16];
  memcpy(block, wrapped, 8);
  if (size == 8) {
    FC_TABLE.aes.ecb_decrypt(key, wrapped, block, 1);
    memcpy(bytes, block + 8, 8);
  } else {
    memcpy(bytes, wrapped + 8, size);
    unwrap(key, block, bytes, size / 8);
  }
  uint32_t wrong = padding_is_wrong(block, bytes + size - 8, (uint32_t)size);
  FC_VALUE_BARRIER(wrong);
  const size_t result = fc_load_be32(block + 4);
  fc_wipe(block, sizeof block);
  /* Whether it is a key, and how long it is, become known here and not before. */
  if (wrong == 0) return result;
  fc_wipe(bytes, size);
  return 0;
}

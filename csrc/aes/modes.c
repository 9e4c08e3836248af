/* SPDX-License-Identifier: Apache-2.0 */
#include "aes/modes.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

/* counter += blocks, over the whole 128 bits. */
static void add_to_counter(uint8_t counter[16], uint64_t blocks) {
  const uint64_t low = fc_load_be64(counter + 8);
  const uint64_t sum = low + blocks;
  fc_store_be64(counter + 8, sum);
  if (sum < low) fc_store_be64(counter, fc_load_be64(counter) + 1);
}

void fc_ctr_crypt(const struct fc_aes_key *key, const uint8_t iv[16], uint64_t offset,
                  const uint8_t *in, uint8_t *out, size_t len) {
  uint8_t counter[16];
  const size_t skip = (size_t)(offset % 16);
  memcpy(counter, iv, 16);
  add_to_counter(counter, offset / 16);
  if (skip != 0 && len != 0) {
    uint8_t block[16] = {0};
    const size_t n = len < 16 - skip ? len : 16 - skip;
    memcpy(block + skip, in, n);
    FC_TABLE.aes.ctr(key, counter, block, block, 16);
    memcpy(out, block + skip, n);
    fc_wipe(block, sizeof block);
    in += n, out += n, len -= n;
  }
  if (len != 0) FC_TABLE.aes.ctr(key, counter, in, out, len);
}

void fc_pkcs7_pad(uint8_t block[16], const uint8_t *tail, size_t n) {
  memset(block, (int)(16 - n), 16);
  if (n != 0) memcpy(block, tail, n);
}

size_t fc_pkcs7_unpad(const uint8_t block[16]) {
  /* All-ones masks from comparisons of values below 2^31: the sign of a difference. */
  const uint32_t pad = block[15];
  uint32_t bad = (pad - 1) >> 31 | (16 - pad) >> 31; /* pad == 0 or pad > 16 */
  for (uint32_t i = 0; i < 16; i++) {
    const uint32_t inside = 0 - ((i - pad) >> 31); /* is byte 15 - i one of the last `pad`? */
    bad |= inside & (block[15 - i] ^ pad);
  }
  uint32_t good = (bad | (0 - bad)) >> 31; /* 0 if bad == 0, else 1 */
  good -= 1;
  FC_VALUE_BARRIER(good);
  return pad & good;
}

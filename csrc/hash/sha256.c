/* SPDX-License-Identifier: Apache-2.0 */
#include "hash/sha256.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "hash/padding.h"
#include "portable/portable.h"

static const uint32_t initial_state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

enum { LENGTH_AT = 56 }; /* where the 64-bit length of the message stands in its last block */

void fc_sha256_init(struct fc_sha256 *context) {
  memcpy(context->state, initial_state, sizeof initial_state);
  context->length = 0;
}

void fc_sha256_update(struct fc_sha256 *context, const uint8_t *data, size_t len) {
  if (len == 0) return; /* data may then be NULL */
  const size_t held = context->length % 64;
  context->length += len;
  if (held != 0) {
    const size_t room = 64 - held;
    if (len < room) {
      memcpy(context->buffer + held, data, len);
      return;
    }
    memcpy(context->buffer + held, data, room);
    FC_TABLE.sha256_blocks(context->state, context->buffer, 1);
    data += room;
    len -= room;
  }
  if (len >= 64) FC_TABLE.sha256_blocks(context->state, data, len / 64);
  memcpy(context->buffer, data + len / 64 * 64, len % 64);
}

/* Hash tail[0..total % 64), the padding and the length into state, and write the digest. */
static void finish(uint32_t state[8], const uint8_t *tail, uint64_t total, uint8_t digest[32]) {
  uint8_t block[64];
  const size_t n = total % 64;
  fc_pad_block64(block, tail, n);
  if (n >= LENGTH_AT) {
    FC_TABLE.sha256_blocks(state, block, 1);
    memset(block, 0, sizeof block);
  }
  fc_store_be64_lane(block, total << 3);
  FC_TABLE.sha256_blocks(state, block, 1);
  for (int i = 0; i < 8; i++) fc_store_be32(digest + 4 * i, state[i]);
  fc_wipe(state, 32);
  fc_wipe(block, sizeof block);
}

void fc_sha256_digest(const struct fc_sha256 *context, uint8_t digest[32]) {
  uint32_t state[8];
  memcpy(state, context->state, sizeof state);
  finish(state, context->buffer, context->length, digest);
}

void fc_sha256_oneshot(const uint8_t *data, size_t len, uint8_t digest[32]) {
  uint32_t state[8];
  memcpy(state, initial_state, sizeof state);
  if (len >= 64) FC_TABLE.sha256_blocks(state, data, len / 64);
  finish(state, data + len / 64 * 64, len, digest);
}

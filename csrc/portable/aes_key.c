/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AES key schedule, FIPS 197 section 5.2, through the bit-sliced S-box.
 *
 * Contract: kernels.h, op aes_expand_key; layout in aes_bitsliced.h
 * Secret: the key, the words of the schedule, the state
 * Public: pointers, key_len and what follows from it: rounds, rcon, every loop
 * Loop: one S-box circuit for each word that needs it, one after the other, since each depends on
 *   the last; then four round keys at a time are sliced. Cycles on Zen 3, gcc 12 -O3 (clang 19):
 *   AES-128 1,750 (1,350), AES-256 2,500 (1,950).
 */
#include "portable/aes_bitsliced.h"

enum { SCHEDULE_WORDS = 64 }; /* 15 round keys of 4 words, and one more to make four batches */

/* FIPS 197 section 5.2. The first byte of a word is its least significant. */
static uint32_t sub_word(uint32_t word) {
  uint64_t slices[8];
  for (unsigned i = 0; i < 8; i++) slices[i] = word >> i & 0x01010101;
  fc_bitsliced_sub_bytes(slices);
  uint32_t result = 0x63636363;
  for (unsigned i = 0; i < 8; i++) result ^= (uint32_t)slices[i] << i;
  return result;
}

static uint32_t rot_word(uint32_t word) { return word >> 8 | word << 24; }

/* `at` is i % nk without a division: no kernel divides, not even public values. */
static void expand_words(uint32_t w[SCHEDULE_WORDS], const uint8_t *bytes, size_t key_len) {
  size_t nk = key_len / 4;
  uint32_t rcon = 1;
  for (size_t i = 0; i < nk; i++) w[i] = fc_load_le32(bytes + 4 * i);
  for (size_t i = nk, at = 0; i < 4 * (nk + 7); i++, at = at + 1 == nk ? 0 : at + 1) {
    uint32_t t = w[i - 1];
    if (at == 0) {
      t = sub_word(rot_word(t)) ^ rcon;
      rcon = rcon << 1 ^ (rcon >> 7) * 0x11b;
    } else if (nk == 8 && at == 4) {
      t = sub_word(t);
    }
    w[i] = w[i - nk] ^ t;
  }
}

/* Store the round key that is block `round % 4` of a state, for all four blocks. */
static void store_round_key(struct fc_aes_key *key, unsigned round, const uint64_t state[8]) {
  uint64_t words[8];
  for (unsigned i = 0; i < 8; i++) {
    words[i] = (state[i] >> round % 4 & 0x1111111111111111) * 15;
    if (round > 0 && (0x63 >> i & 1)) words[i] = ~words[i];
  }
  memcpy(key->schedule + sizeof words * round, words, sizeof words);
}

void FC_C_KERNEL(fc_aes_expand_key_portable)(struct fc_aes_key *key, const uint8_t *bytes,
                                             size_t key_len) {
  uint32_t words[SCHEDULE_WORDS] = {0};
  uint8_t four_keys[FC_AES_BATCH];
  uint64_t state[8] = {0};
  memset(key, 0, sizeof *key);
  key->rounds = key_len / 4 + 6;
  expand_words(words, bytes, key_len);
  for (unsigned round = 0; round <= key->rounds; round++) {
    if (round % 4 == 0) {
      for (unsigned i = 0; i < 16; i++) fc_store_le32(four_keys + 4 * i, words[4 * round + i]);
      fc_bitsliced_pack_round_keys(four_keys, state);
    }
    store_round_key(key, round, state);
  }
}

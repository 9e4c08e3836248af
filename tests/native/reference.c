/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <string.h>

/* ---- SHA, FIPS 180-4 ------------------------------------------------------------------------- */

static uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t rotate_right(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static uint64_t rotate_right_64(uint64_t x, unsigned n) { return x >> n | x << (64 - n); }

static void sha1_block(uint32_t state[5], const uint8_t *data) {
  static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
  uint32_t w[80], v[5];
  for (size_t t = 0; t < 16; t++) w[t] = load32(data + 4 * t);
  for (size_t t = 16; t < 80; t++) {
    w[t] = rotate_right(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 31);
  }
  memcpy(v, state, sizeof v);
  for (size_t t = 0; t < 80; t++) {
    const uint32_t b = v[1], c = v[2], d = v[3];
    const uint32_t f = t < 20        ? (b & c) ^ (~b & d)
                       : t / 20 == 2 ? (b & c) ^ (b & d) ^ (c & d)
                                     : b ^ c ^ d;
    const uint32_t sum = rotate_right(v[0], 27) + f + v[4] + k[t / 20] + w[t];
    memmove(v + 1, v, 4 * sizeof v[0]);
    v[2] = rotate_right(b, 2);
    v[0] = sum;
  }
  for (size_t i = 0; i < 5; i++) state[i] += v[i];
}

/* Whether root^3 <= p * 2^192, for a root below 2^67: the root times 2^64. */
static int cube_is_below(unsigned __int128 root, uint32_t p) {
  /* In digits of 32 bits: root has 3, its cube 9. */
  uint64_t digits[3], square[6] = {0}, cube[9] = {0};
  for (size_t i = 0; i < 3; i++) digits[i] = (uint32_t)(root >> 32 * i);
  for (size_t i = 0; i < 3; i++) {
    uint64_t carry = 0;
    for (size_t j = 0; j < 3; j++) {
      carry += square[i + j] + digits[i] * digits[j];
      square[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    square[i + 3] = carry;
  }
  for (size_t i = 0; i < 3; i++) {
    uint64_t carry = 0;
    for (size_t j = 0; j < 6; j++) {
      carry += cube[i + j] + digits[i] * square[j];
      cube[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    cube[i + 6] = carry;
  }
  if (cube[8] != 0 || cube[7] != 0) return 0;
  if (cube[6] != p) return cube[6] < p;
  return (cube[0] | cube[1] | cube[2] | cube[3] | cube[4] | cube[5]) == 0;
}

/* The first 64 bits of the fractional part of the cube root of p, by bisection on integers. */
static uint64_t cube_root_fraction(uint32_t p) {
  unsigned __int128 root = 0;
  for (int bit = 66; bit >= 0; bit--) {
    const unsigned __int128 next = root | (unsigned __int128)1 << bit;
    if (cube_is_below(next, p)) root = next;
  }
  return (uint64_t)root;
}

/* SHA-512's constants; SHA-256's are the high halves of the first 64. */
static const uint64_t *round_constants(void) {
  static uint64_t k[80];
  size_t found = 0;
  if (k[0] != 0) return k;
  for (uint32_t p = 2; found < 80; p++) {
    int prime = 1;
    for (uint32_t d = 2; d * d <= p; d++) prime &= p % d != 0;
    if (prime) k[found++] = cube_root_fraction(p);
  }
  return k;
}

static void sha256_block(uint32_t state[8], const uint8_t *data) {
  const uint64_t *k = round_constants();
  uint32_t w[64], v[8];
  for (size_t t = 0; t < 16; t++) w[t] = load32(data + 4 * t);
  for (size_t t = 16; t < 64; t++) {
    const uint32_t s0 = rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
    const uint32_t s1 = rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  memcpy(v, state, sizeof v);
  for (size_t t = 0; t < 64; t++) {
    const uint32_t e = v[4], a = v[0];
    const uint32_t t1 = v[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                        ((e & v[5]) ^ (~e & v[6])) + (uint32_t)(k[t] >> 32) + w[t];
    const uint32_t t2 = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
                        ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (size_t i = 0; i < 8; i++) state[i] += v[i];
}

static void sha512_block(uint64_t state[8], const uint8_t *data) {
  const uint64_t *k = round_constants();
  uint64_t w[80], v[8];
  for (size_t t = 0; t < 16; t++) {
    w[t] = (uint64_t)load32(data + 8 * t) << 32 | load32(data + 8 * t + 4);
  }
  for (size_t t = 16; t < 80; t++) {
    const uint64_t x = w[t - 15], y = w[t - 2];
    const uint64_t s0 = rotate_right_64(x, 1) ^ rotate_right_64(x, 8) ^ x >> 7;
    const uint64_t s1 = rotate_right_64(y, 19) ^ rotate_right_64(y, 61) ^ y >> 6;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  memcpy(v, state, sizeof v);
  for (size_t t = 0; t < 80; t++) {
    const uint64_t e = v[4], a = v[0];
    const uint64_t t1 = v[7] +
                        (rotate_right_64(e, 14) ^ rotate_right_64(e, 18) ^ rotate_right_64(e, 41)) +
                        ((e & v[5]) ^ (~e & v[6])) + k[t] + w[t];
    const uint64_t t2 = (rotate_right_64(a, 28) ^ rotate_right_64(a, 34) ^ rotate_right_64(a, 39)) +
                        ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof v[0]);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (size_t i = 0; i < 8; i++) state[i] += v[i];
}

/* ---- AES, FIPS 197 --------------------------------------------------------------------------- */

static uint8_t multiply(uint8_t a, uint8_t b) {
  uint8_t product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
  }
  return product;
}

static uint8_t sbox[256], inverse_sbox[256];
static uint8_t product[16][256]; /* by the small numbers of the MixColumns matrices */

static void make_tables(void) {
  if (sbox[0] != 0) return;
  for (unsigned x = 0; x < 256; x++) {
    uint8_t inverse = 0;
    for (unsigned y = 1; y < 256; y++) {
      if (multiply((uint8_t)x, (uint8_t)y) == 1) inverse = (uint8_t)y;
    }
    unsigned s = 0x63;
    for (unsigned i = 0; i < 5; i++) s ^= (unsigned)inverse << i | (unsigned)inverse >> (8 - i);
    sbox[x] = (uint8_t)s;
    inverse_sbox[(uint8_t)s] = (uint8_t)x;
    for (unsigned y = 0; y < 16; y++) product[y][x] = multiply((uint8_t)x, (uint8_t)y);
  }
}

/* MixColumns with the first row of its matrix: 2 3 1 1, or 14 11 13 9 for the inverse. */
static void mix_columns(uint8_t s[16], const uint8_t row[4]) {
  for (size_t c = 0; c < 16; c += 4) {
    uint8_t column[4];
    for (size_t i = 0; i < 4; i++) {
      column[i] = 0;
      for (size_t j = 0; j < 4; j++) column[i] ^= product[row[(j + 4 - i) % 4]][s[c + j]];
    }
    memcpy(s + c, column, 4);
  }
}
static const uint8_t mix[4] = {2, 3, 1, 1}, inverse_mix[4] = {14, 11, 13, 9};

unsigned reference_round_keys(const uint8_t *key, size_t key_len, uint8_t encryption[240],
                              uint8_t decryption[240]) {
  const size_t nk = key_len / 4, rounds = nk + 6;
  uint8_t rcon = 1;
  make_tables();
  memset(encryption, 0, 240);
  memset(decryption, 0, 240);
  memcpy(encryption, key, key_len);
  for (size_t i = nk; i < 4 * (rounds + 1); i++) {
    const uint8_t *before = encryption + 4 * i - 4;
    uint8_t t[4] = {before[0], before[1], before[2], before[3]};
    for (size_t j = 0; j < 4; j++) {
      if (i % nk == 0) t[j] = sbox[before[(j + 1) % 4]];
      if (nk == 8 && i % nk == 4) t[j] = sbox[before[j]];
    }
    if (i % nk == 0) {
      t[0] ^= rcon;
      rcon = multiply(rcon, 2);
    }
    for (size_t j = 0; j < 4; j++) encryption[4 * i + j] = encryption[4 * (i - nk) + j] ^ t[j];
  }
  for (size_t r = 0; r <= rounds; r++) {
    memcpy(decryption + 16 * r, encryption + 16 * (rounds - r), 16);
    if (r != 0 && r != rounds) mix_columns(decryption + 16 * r, inverse_mix);
  }
  return (unsigned)rounds;
}

static void add(uint8_t *p, const uint8_t *q, size_t len) {
  for (size_t i = 0; i < len; i++) p[i] ^= q[i];
}

/* The round keys of the key that was asked for last. */
static struct {
  uint8_t key[32], e[240], d[240];
  size_t key_len;
  unsigned rounds;
} expanded;

static void expand(const uint8_t *key, size_t key_len) {
  if (expanded.key_len == key_len && memcmp(expanded.key, key, key_len) == 0) return;
  expanded.rounds = reference_round_keys(key, key_len, expanded.e, expanded.d);
  memcpy(expanded.key, key, key_len);
  expanded.key_len = key_len;
}

void reference_encrypt_block(const uint8_t *key, size_t key_len, const uint8_t in[16],
                             uint8_t out[16]) {
  uint8_t s[16], t[16];
  expand(key, key_len);
  memcpy(s, in, 16);
  add(s, expanded.e, 16);
  for (size_t r = 1; r <= expanded.rounds; r++) {
    for (size_t i = 0; i < 16; i++) t[i] = sbox[s[i * 5 % 16]];
    if (r != expanded.rounds) mix_columns(t, mix);
    add(t, expanded.e + 16 * r, 16);
    memcpy(s, t, 16);
  }
  memcpy(out, s, 16);
}

static void decrypt_block(const uint8_t *key, size_t key_len, const uint8_t in[16],
                          uint8_t out[16]) {
  uint8_t s[16], t[16];
  expand(key, key_len);
  memcpy(s, in, 16);
  for (size_t r = expanded.rounds; r > 0; r--) {
    add(s, expanded.e + 16 * r, 16);
    if (r != expanded.rounds) mix_columns(s, inverse_mix);
    for (size_t i = 0; i < 16; i++) t[i * 5 % 16] = inverse_sbox[s[i]];
    memcpy(s, t, 16);
  }
  add(s, expanded.e, 16);
  memcpy(out, s, 16);
}

/* Add 1 to the last `width` bytes of a big-endian counter. */
static void increment(uint8_t counter[16], size_t width) {
  for (size_t i = 15; i >= 16 - width; i--) {
    if (++counter[i] != 0 || i == 0) return;
  }
}

static void ctr(const uint8_t *key, size_t key_len, uint8_t counter[16], size_t width,
                const uint8_t *in, uint8_t *out, size_t len) {
  uint8_t stream[16];
  for (size_t i = 0; i < len; i++) {
    if (i % 16 == 0) {
      reference_encrypt_block(key, key_len, counter, stream);
      increment(counter, width);
    }
    out[i] = in[i] ^ stream[i % 16];
  }
}

/* ---- GCM, SP 800-38D ------------------------------------------------------------------------- */

/* Algorithm 1: bit 0 is the leftmost. */
void reference_gf128_multiply(const uint8_t x[16], const uint8_t y[16], uint8_t product[16]) {
  uint64_t z[2] = {0, 0}, v[2] = {0, 0};
  for (size_t i = 0; i < 16; i++) v[i / 8] = v[i / 8] << 8 | y[i];
  for (size_t i = 0; i < 128; i++) {
    if (x[i / 8] >> (7 - i % 8) & 1) {
      z[0] ^= v[0];
      z[1] ^= v[1];
    }
    const int carry = v[1] & 1;
    v[1] = v[1] >> 1 | v[0] << 63;
    v[0] >>= 1;
    if (carry) v[0] ^= (uint64_t)0xe1 << 56;
  }
  for (size_t i = 0; i < 16; i++) product[i] = (uint8_t)(z[i / 8] >> (56 - 8 * (i % 8)));
}

static void ghash(const uint8_t h[16], uint8_t y[16], const uint8_t *data, size_t len) {
  for (size_t i = 0; i < len; i += 16) {
    add(y, data + i, len - i < 16 ? len - i : 16);
    reference_gf128_multiply(y, h, y);
  }
}

static void gcm(const uint8_t *key, size_t key_len, const uint8_t j0[16], const uint8_t *aad,
                size_t aad_len, const uint8_t *in, uint8_t *out, size_t len, int open,
                uint8_t tag[16]) {
  uint8_t h[16] = {0}, y[16] = {0}, counter[16], lengths[16], mask[16];
  reference_encrypt_block(key, key_len, h, h);
  memcpy(counter, j0, 16);
  increment(counter, 4);
  ctr(key, key_len, counter, 4, in, out, len);
  ghash(h, y, aad, aad_len);
  ghash(h, y, open ? in : out, len);
  for (size_t i = 0; i < 8; i++) {
    lengths[i] = (uint8_t)(aad_len * 8 >> (56 - 8 * i));
    lengths[8 + i] = (uint8_t)(len * 8 >> (56 - 8 * i));
  }
  ghash(h, y, lengths, 16);
  reference_encrypt_block(key, key_len, j0, mask);
  for (size_t i = 0; i < 16; i++) tag[i] = y[i] ^ mask[i];
}

/* ---- One call -------------------------------------------------------------------------------- */

void reference_source(void *context, const char *name, uint8_t *p, size_t len) {
  struct reference_raw *raw = context;
  raw->source(raw->context, name, p, len);
  if (strcmp(name, "key") == 0) memcpy(raw->key, p, len);
  if (strcmp(name, "h") == 0) memcpy(raw->h, p, len);
}

union sha_state {
  uint32_t words[8];
  uint64_t long_words[8];
  uint8_t bytes[64];
};

static void sha_block(enum fc_op op, union sha_state *state, const uint8_t *block) {
  if (op == FC_OP_sha1_blocks) sha1_block(state->words, block);
  if (op == FC_OP_sha256_blocks || op == FC_OP_sha256_lanes) sha256_block(state->words, block);
  if (op == FC_OP_sha512_blocks) sha512_block(state->long_words, block);
}

static void run_sha(const struct harness_call *call, struct reference_result *expected) {
  union sha_state state;
  const size_t state_bytes = call->target->op->operands[0].size;
  memcpy(&state, call->at[0], state_bytes);
  for (size_t i = 0; i < call->sizes.n; i += call->target->op->unit) {
    sha_block(call->target->row->op, &state, call->at[1] + i);
  }
  memcpy(expected->bytes[0], &state, state_bytes);
}

/* Lane by lane, from where the pointers lead. A word is as long as the state's alignment. */
static void run_lanes(const struct harness_call *call, struct reference_result *expected) {
  const struct fc_row *row = call->target->row;
  const struct harness_operand *operand = &call->target->op->operands[0];
  const size_t word = operand->alignment, words = harness_size(call, 0) / row->lanes / word;
  const uint8_t *data[FC_MAX_LANES];
  union sha_state state;
  memcpy(expected->bytes[1], call->at[1], row->lanes * sizeof data[0]);
  memcpy(data, call->at[1], row->lanes * sizeof data[0]);
  for (size_t j = 0; j < row->lanes; j++) {
    for (size_t i = 0; i < words; i++) {
      memcpy(state.bytes + i * word, call->at[0] + (i * row->lanes + j) * word, word);
    }
    for (size_t at = 0; at < call->sizes.n; at += call->target->op->unit) {
      sha_block(row->op, &state, data[j] + at);
    }
    for (size_t i = 0; i < words; i++) {
      memcpy(expected->bytes[0] + (i * row->lanes + j) * word, state.bytes + i * word, word);
    }
  }
}

static int run_compare(const struct harness_call *call, int ordered) {
  const int order = call->sizes.n == 0 ? 0 : memcmp(call->at[0], call->at[1], call->sizes.n);
  if (!ordered) return order != 0;
  return (order > 0) - (order < 0);
}

static void run_expand_key(const struct harness_call *call, struct reference_result *expected) {
  struct fc_aes_key key;
  memset(&key, 0, sizeof key);
  key.rounds =
      reference_round_keys(call->at[1], call->sizes.key_len, key.schedule, key.schedule + 240);
  memcpy(expected->bytes[0], &key, sizeof key);
  expected->known[0] = call->target->row->layout == FC_AES_LAYOUT_FIPS;
}

static void run_blocks(const struct harness_call *call, const uint8_t *key,
                       struct reference_result *expected, enum fc_aes_function f) {
  const size_t key_len = call->sizes.key_len;
  const int cbc = f == FC_AES_cbc_encrypt || f == FC_AES_cbc_decrypt;
  const size_t in = cbc ? 2 : 1, out = in + 1;
  uint8_t chain[16] = {0};
  if (cbc) memcpy(chain, call->at[1], 16);
  for (size_t i = 0; i < call->sizes.n; i += 16) {
    const uint8_t *from = call->at[in] + i;
    uint8_t *to = expected->bytes[out] + i;
    if (f == FC_AES_ecb_encrypt || f == FC_AES_cbc_encrypt) {
      memcpy(to, from, 16);
      add(to, chain, 16);
      reference_encrypt_block(key, key_len, to, to);
      if (cbc) memcpy(chain, to, 16);
    } else {
      decrypt_block(key, key_len, from, to);
      add(to, chain, 16);
      if (cbc) memcpy(chain, from, 16);
    }
  }
  if (cbc) memcpy(expected->bytes[1], chain, 16);
}

static void run_chains(const struct harness_call *call, const uint8_t *key,
                       struct reference_result *expected) {
  const size_t count = harness_chain_count(call->sizes.n), bytes = call->sizes.n / count;
  for (size_t i = 0; i < count; i++) {
    uint8_t *chain = expected->bytes[2] + 16 * i;
    memcpy(chain, call->at[2] + 16 * i, 16);
    for (size_t at = bytes * i; at < bytes * (i + 1); at += 16) {
      add(chain, call->at[3] + at, 16);
      reference_encrypt_block(key, call->sizes.key_len, chain, chain);
      memcpy(expected->bytes[4] + at, chain, 16);
    }
  }
}

/* IEEE 1619 section 5.2: byte by byte, the carry of each into the next. */
static void multiply_alpha(uint8_t tweak[16]) {
  unsigned carry = 0;
  for (size_t i = 0; i < 16; i++) {
    const unsigned doubled = 2u * tweak[i] + carry;
    tweak[i] = (uint8_t)doubled;
    carry = doubled >> 8;
  }
  if (carry) tweak[0] ^= 135;
}

static void xts(const uint8_t *key, size_t key_len, uint8_t tweak[16], const uint8_t *in,
                uint8_t *out, size_t nblocks, int decrypt) {
  for (size_t i = 0; i < nblocks; i++, in += 16, out += 16) {
    uint8_t block[16];
    memcpy(block, in, 16);
    add(block, tweak, 16);
    (decrypt ? decrypt_block : reference_encrypt_block)(key, key_len, block, out);
    add(out, tweak, 16);
    multiply_alpha(tweak);
  }
}

static void run_gcm_middle(const struct harness_call *call, const uint8_t *key,
                           struct reference_result *expected, int open) {
  uint8_t h[16] = {0};
  reference_encrypt_block(key, call->sizes.key_len, h, h);
  memcpy(expected->bytes[1], call->at[1], 16);
  memcpy(expected->bytes[2], call->at[2], 16);
  ctr(key, call->sizes.key_len, expected->bytes[1], 4, call->at[3], expected->bytes[4],
      call->sizes.n);
  ghash(h, expected->bytes[2], open ? call->at[3] : expected->bytes[4], call->sizes.n);
}

static void run_aes(const struct harness_call *call, const struct reference_raw *raw,
                    struct reference_result *expected) {
  const struct harness_sizes *sizes = &call->sizes;
  const enum fc_aes_function f = (enum fc_aes_function)call->target->index;
  switch (f) {
    case FC_AES_expand_key:
      run_expand_key(call, expected);
      break;
    case FC_AES_ecb_encrypt:
    case FC_AES_ecb_decrypt:
    case FC_AES_cbc_encrypt:
    case FC_AES_cbc_decrypt:
      run_blocks(call, raw->key, expected, f);
      break;
    case FC_AES_ctr:
      memcpy(expected->bytes[1], call->at[1], 16);
      ctr(raw->key, sizes->key_len, expected->bytes[1], 16, call->at[2], expected->bytes[3],
          sizes->n);
      break;
    case FC_AES_cbc_encrypt_many:
      run_chains(call, raw->key, expected);
      break;
    case FC_AES_xts_encrypt:
    case FC_AES_xts_decrypt:
      memcpy(expected->bytes[1], call->at[1], 16);
      xts(raw->key, sizes->key_len, expected->bytes[1], call->at[2], expected->bytes[3],
          sizes->n / 16, f == FC_AES_xts_decrypt);
      break;
    case FC_AES_ghash_key:
      expected->known[0] = 0;
      break;
    case FC_AES_ghash:
      memcpy(expected->bytes[1], call->at[1], 16);
      ghash(raw->h, expected->bytes[1], call->at[2], sizes->n);
      break;
    case FC_AES_gcm_encrypt:
    case FC_AES_gcm_decrypt:
      run_gcm_middle(call, raw->key, expected, f == FC_AES_gcm_decrypt);
      break;
    case FC_AES_gcm_seal:
    case FC_AES_gcm_open:
      gcm(raw->key, sizes->key_len, call->at[2], call->at[3], sizes->aad_len, call->at[4],
          expected->bytes[5], sizes->n, f == FC_AES_gcm_open, expected->bytes[6]);
      break;
    case FC_AES_FUNCTION_COUNT:
      break;
  }
}

void reference_run(const struct harness_call *call, const struct reference_raw *raw,
                   struct reference_result *expected) {
  for (size_t k = 0; k < HARNESS_MAX_OPERANDS; k++) expected->known[k] = 1;
  expected->result = 0;
  switch (call->target->row->op) {
    case FC_OP_sha1_blocks:
    case FC_OP_sha256_blocks:
    case FC_OP_sha512_blocks:
      run_sha(call, expected);
      break;
    case FC_OP_sha256_lanes:
      run_lanes(call, expected);
      break;
    case FC_OP_timingsafe_bcmp:
    case FC_OP_timingsafe_memcmp:
      expected->result = run_compare(call, call->target->row->op == FC_OP_timingsafe_memcmp);
      break;
    case FC_OP_aes:
      run_aes(call, raw, expected);
      break;
    case FC_OP_COUNT:
      break;
  }
}

/* ---- The standards' examples ----------------------------------------------------------------- */

static void from_hex(const char *hex, uint8_t *p) {
  for (; *hex != '\0'; hex += 2, p++) {
    unsigned byte = 0;
    for (size_t i = 0; i < 2; i++) {
      byte = byte << 4 | (unsigned)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);
    }
    *p = (uint8_t)byte;
  }
}

/* FIPS 180-4's example "abc". */
static int sha1_is_right(void) {
  uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  static const uint32_t digest[5] = {0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d};
  uint8_t block[64] = "abc\x80";
  block[63] = 24;
  sha1_block(state, block);
  return memcmp(state, digest, sizeof digest) == 0;
}

static int sha256_is_right(void) {
  uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static const uint32_t digest[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                     0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  uint8_t block[64] = "abc\x80";
  block[63] = 24;
  sha256_block(state, block);
  return memcmp(state, digest, sizeof digest) == 0;
}

static int sha512_is_right(void) {
  uint64_t state[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                       0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                       0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  static const uint64_t digest[8] = {0xddaf35a193617aba, 0xcc417349ae204131, 0x12e6fa4e89a97ea2,
                                     0x0a9eeee64b55d39a, 0x2192992a274fc1a8, 0x36ba3c23a3feebbd,
                                     0x454d4423643ce80e, 0x2a9ac94fa54ca49f};
  uint8_t block[128] = "abc\x80";
  block[127] = 24;
  sha512_block(state, block);
  return memcmp(state, digest, sizeof digest) == 0;
}

/* FIPS 197 appendix C. */
static int aes_is_right(void) {
  static const char *const ciphertexts[3] = {"69c4e0d86a7b0430d8cdb78070b4c55a",
                                             "dda97ca4864cdfe06eaf70a0ec0d7191",
                                             "8ea2b7ca516745bfeafc49904b496089"};
  uint8_t key[32], plain[16], expected[16], out[16];
  for (size_t i = 0; i < 32; i++) key[i] = (uint8_t)i;
  for (size_t i = 0; i < 16; i++) plain[i] = (uint8_t)(0x11 * i);
  for (size_t i = 0; i < 3; i++) {
    from_hex(ciphertexts[i], expected);
    reference_encrypt_block(key, 16 + 8 * i, plain, out);
    if (memcmp(out, expected, 16) != 0) return 0;
    decrypt_block(key, 16 + 8 * i, out, out);
    if (memcmp(out, plain, 16) != 0) return 0;
  }
  return 1;
}

/* Test case 4 of the GCM specification. */
static int gcm_is_right(void) {
  uint8_t key[16], j0[16] = {0}, aad[20], plain[60], cipher[60], expected[60], tag[16], right[16];
  from_hex("feffe9928665731c6d6a8f9467308308", key);
  from_hex("cafebabefacedbaddecaf888", j0);
  j0[15] = 1;
  from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2", aad);
  from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
      plain);
  from_hex(
      "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
      "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
      expected);
  from_hex("5bc94fbc3221a5db94fae95ae7121a47", right);
  gcm(key, 16, j0, aad, 20, plain, cipher, 60, 0, tag);
  return memcmp(cipher, expected, 60) == 0 && memcmp(tag, right, 16) == 0;
}

/* IEEE 1619 annex B, vector 2: the tweak is the block number under the second key. */
static int xts_is_right(void) {
  uint8_t key[16], tweak[16] = {0x33, 0x33, 0x33, 0x33, 0x33}, plain[32], expected[32], out[32];
  memset(key, 0x22, 16);
  memset(plain, 0x44, 32);
  reference_encrypt_block(key, 16, tweak, tweak);
  memset(key, 0x11, 16);
  from_hex("c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0", expected);
  xts(key, 16, tweak, plain, out, 2, 0);
  return memcmp(out, expected, 32) == 0;
}

const char *reference_self_test(void) {
  if (!sha1_is_right()) return "SHA-1, FIPS 180-4 example abc";
  if (!sha256_is_right()) return "SHA-256, FIPS 180-4 example abc";
  if (!sha512_is_right()) return "SHA-512, FIPS 180-4 example abc";
  if (!aes_is_right()) return "AES, FIPS 197 appendix C";
  if (!gcm_is_right()) return "GCM, test case 4";
  if (!xts_is_right()) return "XTS, IEEE 1619 vector 2";
  return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known answers, small enough for import (under 50 us for one row of each op with the slowest rows):
 * FIPS 180-4's examples, SP 800-38A appendix F with its 256-bit key, IEEE 1619's vector 10, test case
 * 16 of the GCM specification, and one message long enough for every bulk loop, whose tag was computed with
 * OpenSSL. No secret is involved, so memcmp serves.
 */
#include "cpu/self_test.h"

#include <string.h>

/* Frames of their own: merged into one, the tests' buffers would be more than 2048 bytes of stack. */
#if defined(__GNUC__) || defined(__clang__)
#define OWN_FRAME __attribute__((noinline))
#else
#define OWN_FRAME
#endif

/* ---- Hash -------------------------------------------------------------------------------------- */

/*
 * The two-block examples of FIPS 180-4 follow one rule: 14 runs of letters, each beginning a letter
 * later. The message, padded to two blocks.
 */
static void pad_example(uint8_t *padded, size_t block_bytes) {
  const size_t len = block_bytes - block_bytes / 8; /* 56 or 112 */
  const size_t run = block_bytes / 16;              /* "abcd" or "abcdefgh" */
  memset(padded, 0, 2 * block_bytes);
  for (size_t i = 0; i < len; i++) padded[i] = (uint8_t)('a' + i / run + i % run);
  padded[len] = 0x80;
  padded[2 * block_bytes - 2] = (uint8_t)(len * 8 >> 8);
  padded[2 * block_bytes - 1] = (uint8_t)(len * 8);
}

/* In one call and in two, since a kernel may take an even number of blocks otherwise than a last one. */
#define TEST_BLOCKS(op, word, words, block_bytes)             \
  static OWN_FRAME int test_##op(fc_##op##_fn *blocks) {      \
    word whole[words], parts[words];                          \
    uint8_t padded[2 * block_bytes];                          \
    pad_example(padded, block_bytes);                         \
    memcpy(whole, op##_initial, sizeof whole);                \
    memcpy(parts, op##_initial, sizeof parts);                \
    blocks(whole, padded, 2);                                 \
    blocks(parts, padded, 1);                                 \
    blocks(parts, padded + block_bytes, 1);                   \
    return memcmp(whole, op##_expected, sizeof whole) == 0 && \
           memcmp(parts, op##_expected, sizeof parts) == 0;   \
  }

static const uint32_t sha1_blocks_initial[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                                               0xc3d2e1f0};
static const uint32_t sha1_blocks_expected[] = {0x84983e44, 0x1c3bd26e, 0xbaae4aa1, 0xf95129e5,
                                                0xe54670f1};
TEST_BLOCKS(sha1_blocks, uint32_t, 5, 64)

static const uint32_t sha256_blocks_initial[] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
static const uint32_t sha256_blocks_expected[] = {0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039,
                                                  0xa33ce459, 0x64ff2167, 0xf6ecedd4, 0x19db06c1};
TEST_BLOCKS(sha256_blocks, uint32_t, 8, 64)

static const uint64_t sha512_blocks_initial[] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
static const uint64_t sha512_blocks_expected[] = {
    0x8e959b75dae313da, 0x8cf4f72814fc143f, 0x8f7779c6eb9f7fa1, 0x7299aeadb6889018,
    0x501d289e4900f7e4, 0x331b99dec4b5433a, 0xc7d329eeb6dd2654, 0x5e96e55b874be909};
TEST_BLOCKS(sha512_blocks, uint64_t, 8, 128)

/* What a kernel of several lanes is tried on. */
struct lanes_example {
  size_t words, word_bytes, block_bytes;
  const void *initial, *digest; /* `words` words each */
};

/* Where word i of lane j is. */
static uint8_t *lane_word(const struct lanes_example *e, uint8_t *state, size_t lanes, size_t i,
                          size_t j) {
  return state + (i * lanes + j) * e->word_bytes;
}

static void set_lane(const struct lanes_example *e, uint8_t *state, size_t lanes, size_t j) {
  for (size_t i = 0; i < e->words; i++) {
    memcpy(lane_word(e, state, lanes, i, j), (const uint8_t *)e->initial + i * e->word_bytes,
           e->word_bytes);
  }
}

static int has_digest(const struct lanes_example *e, uint8_t *state, size_t lanes, size_t j) {
  for (size_t i = 0; i < e->words; i++) {
    if (memcmp(lane_word(e, state, lanes, i, j), (const uint8_t *)e->digest + i * e->word_bytes,
               e->word_bytes) != 0) {
      return 0;
    }
  }
  return 1;
}

/* Block by block, with every second lane a block behind the others, and then in one call: no lane may
 * take another's state or data. */
static OWN_FRAME int test_lanes(const struct fc_row *row, const struct lanes_example *e) {
  FC_ALIGNAS(8) uint8_t state[8 * 8 * FC_MAX_LANES];
  const uint8_t *data[FC_MAX_LANES] = {NULL};
  uint8_t padded[256];
  fc_lanes_fn *hash = (fc_lanes_fn *)row->kernels[0].fn;
  const size_t lanes = row->lanes;
  int right = 1;
  pad_example(padded, e->block_bytes);
  for (size_t j = 0; j < lanes; j++) {
    set_lane(e, state, lanes, j);
    data[j] = padded;
  }
  hash(state, data, 1);
  for (size_t j = 0; j < lanes; j += 2) data[j] += e->block_bytes;
  for (size_t j = 1; j < lanes; j += 2) set_lane(e, state, lanes, j);
  hash(state, data, 1);
  for (size_t j = 0; j < lanes; j += 2) right &= has_digest(e, state, lanes, j);
  for (size_t j = 0; j < lanes; j += 2) set_lane(e, state, lanes, j);
  for (size_t j = 0; j < lanes; j++) data[j] = padded + j % 2 * e->block_bytes;
  hash(state, data, 1);
  for (size_t j = 1; j < lanes; j += 2) right &= has_digest(e, state, lanes, j);
  for (size_t j = 0; j < lanes; j++) {
    set_lane(e, state, lanes, j);
    data[j] = padded;
  }
  hash(state, data, 2);
  for (size_t j = 0; j < lanes; j++) right &= has_digest(e, state, lanes, j);
  return right;
}

/* The same example for a kernel of several lanes. */
#define TEST_LANES(hash, words, block_bytes)                                             \
  static int test_##hash##_lanes(const struct fc_row *row) {                             \
    static const struct lanes_example example = {words, sizeof hash##_blocks_initial[0], \
                                                 block_bytes, hash##_blocks_initial,     \
                                                 hash##_blocks_expected};                \
    return test_lanes(row, &example);                                                    \
  }

TEST_LANES(sha256, 8, 64)

/* ---- Compare ----------------------------------------------------------------------------------- */

/* Lengths on every rung of the ladders: each must see a difference in its first and last byte. */
static const size_t compare_lengths[] = {1, 2, 3, 5, 8, 12, 16, 20, 32, 40, 64, 100, 200, 333};
#define COMPARE_LENGTHS (sizeof compare_lengths / sizeof compare_lengths[0])

static OWN_FRAME int test_timingsafe_bcmp(fc_timingsafe_bcmp_fn *bcmp_fn) {
  uint8_t a[333] = {0}, b[333] = {0};
  for (size_t i = 0; i < COMPARE_LENGTHS; i++) {
    const size_t n = compare_lengths[i];
    if (bcmp_fn(a, b, n) != 0) return 0;
    b[0] ^= 1;
    if (bcmp_fn(a, b, n) != 1) return 0;
    b[0] ^= 1;
    b[n - 1] ^= 0x80;
    if (bcmp_fn(a, b, n) != 1) return 0;
    b[n - 1] ^= 0x80;
  }
  return bcmp_fn(NULL, NULL, 0) == 0;
}

static OWN_FRAME int test_timingsafe_memcmp(fc_timingsafe_memcmp_fn *memcmp_fn) {
  uint8_t a[333] = {0}, b[333] = {0};
  for (size_t i = 0; i < COMPARE_LENGTHS; i++) {
    const size_t n = compare_lengths[i];
    if (memcmp_fn(a, b, n) != 0) return 0;
    b[n - 1] = 0x80;
    if (memcmp_fn(a, b, n) != -1 || memcmp_fn(b, a, n) != 1) return 0;
    b[n - 1] = 0;
  }
  /* The first difference decides. */
  a[0] = 2, b[0] = 1, b[1] = 0xff;
  return memcmp_fn(a, b, 64) == 1 && memcmp_fn(b, a, 64) == -1 && memcmp_fn(NULL, NULL, 0) == 0;
}

/* ---- AES --------------------------------------------------------------------------------------- */

/* SP 800-38A appendix F: the four plaintext blocks of every example, and F.1.5, F.2.5, F.5.5. */
static const uint8_t key_38a[32] = {
    0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
    0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4};
static const uint8_t plain_38a[64] = {
    0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a,
    0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03, 0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51,
    0x30, 0xc8, 0x1c, 0x46, 0xa3, 0x5c, 0xe4, 0x11, 0xe5, 0xfb, 0xc1, 0x19, 0x1a, 0x0a, 0x52, 0xef,
    0xf6, 0x9f, 0x24, 0x45, 0xdf, 0x4f, 0x9b, 0x17, 0xad, 0x2b, 0x41, 0x7b, 0xe6, 0x6c, 0x37, 0x10};
static const uint8_t ecb_38a[64] = {
    0xf3, 0xee, 0xd1, 0xbd, 0xb5, 0xd2, 0xa0, 0x3c, 0x06, 0x4b, 0x5a, 0x7e, 0x3d, 0xb1, 0x81, 0xf8,
    0x59, 0x1c, 0xcb, 0x10, 0xd4, 0x10, 0xed, 0x26, 0xdc, 0x5b, 0xa7, 0x4a, 0x31, 0x36, 0x28, 0x70,
    0xb6, 0xed, 0x21, 0xb9, 0x9c, 0xa6, 0xf4, 0xf9, 0xf1, 0x53, 0xe7, 0xb1, 0xbe, 0xaf, 0xed, 0x1d,
    0x23, 0x30, 0x4b, 0x7a, 0x39, 0xf9, 0xf3, 0xff, 0x06, 0x7d, 0x8d, 0x8f, 0x9e, 0x24, 0xec, 0xc7};
static const uint8_t cbc_38a[64] = {
    0xf5, 0x8c, 0x4c, 0x04, 0xd6, 0xe5, 0xf1, 0xba, 0x77, 0x9e, 0xab, 0xfb, 0x5f, 0x7b, 0xfb, 0xd6,
    0x9c, 0xfc, 0x4e, 0x96, 0x7e, 0xdb, 0x80, 0x8d, 0x67, 0x9f, 0x77, 0x7b, 0xc6, 0x70, 0x2c, 0x7d,
    0x39, 0xf2, 0x33, 0x69, 0xa9, 0xd9, 0xba, 0xcf, 0xa5, 0x30, 0xe2, 0x63, 0x04, 0x23, 0x14, 0x61,
    0xb2, 0xeb, 0x05, 0xe2, 0xc3, 0x9b, 0xe9, 0xfc, 0xda, 0x6c, 0x19, 0x07, 0x8c, 0x6a, 0x9d, 0x1b};
static const uint8_t ctr_38a[64] = {
    0x60, 0x1e, 0xc3, 0x13, 0x77, 0x57, 0x89, 0xa5, 0xb7, 0xa7, 0xf5, 0x04, 0xbb, 0xf3, 0xd2, 0x28,
    0xf4, 0x43, 0xe3, 0xca, 0x4d, 0x62, 0xb5, 0x9a, 0xca, 0x84, 0xe9, 0x90, 0xca, 0xca, 0xf5, 0xc5,
    0x2b, 0x09, 0x30, 0xda, 0xa2, 0x3d, 0xe9, 0x4c, 0xe8, 0x70, 0x17, 0xba, 0x2d, 0x84, 0x98, 0x8d,
    0xdf, 0xc9, 0xc5, 0x8d, 0xb6, 0x7a, 0xad, 0xa6, 0x13, 0xc2, 0xdd, 0x08, 0x45, 0x79, 0x41, 0xa6};

/* IEEE 1619 annex B, vector 10: the first and the last block of what becomes of 0, 1, ... 255 twice. */
static const uint8_t data_key_xts[32] = {
    0x27, 0x18, 0x28, 0x18, 0x28, 0x45, 0x90, 0x45, 0x23, 0x53, 0x60, 0x28, 0x74, 0x71, 0x35, 0x26,
    0x62, 0x49, 0x77, 0x57, 0x24, 0x70, 0x93, 0x69, 0x99, 0x59, 0x57, 0x49, 0x66, 0x96, 0x76, 0x27};
static const uint8_t tweak_key_xts[32] = {
    0x31, 0x41, 0x59, 0x26, 0x53, 0x58, 0x97, 0x93, 0x23, 0x84, 0x62, 0x64, 0x33, 0x83, 0x27, 0x95,
    0x02, 0x88, 0x41, 0x97, 0x16, 0x93, 0x99, 0x37, 0x51, 0x05, 0x82, 0x09, 0x74, 0x94, 0x45, 0x92};
static const uint8_t first_xts[16] = {0x1c, 0x3b, 0x3a, 0x10, 0x2f, 0x77, 0x03, 0x86,
                                      0xe4, 0x83, 0x6c, 0x99, 0xe3, 0x70, 0xcf, 0x9b};
static const uint8_t last_xts[16] = {0xc4, 0xf3, 0x6f, 0xfd, 0xa9, 0xfc, 0xea, 0x70,
                                     0xb9, 0xc6, 0xe6, 0x93, 0xe1, 0x48, 0xc1, 0x51};

/* GCM test case 16 (McGrew and Viega). Its plaintext and ciphertext have 60 bytes. */
static const uint8_t key_gcm[32] = {
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08,
    0xfe, 0xff, 0xe9, 0x92, 0x86, 0x65, 0x73, 0x1c, 0x6d, 0x6a, 0x8f, 0x94, 0x67, 0x30, 0x83, 0x08};
static const uint8_t j0_gcm[16] = {0xca, 0xfe, 0xba, 0xbe, 0xfa, 0xce, 0xdb, 0xad,
                                   0xde, 0xca, 0xf8, 0x88, 0x00, 0x00, 0x00, 0x01};
static const uint8_t aad_gcm[20] = {0xfe, 0xed, 0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xfe, 0xed,
                                    0xfa, 0xce, 0xde, 0xad, 0xbe, 0xef, 0xab, 0xad, 0xda, 0xd2};
static const uint8_t plain_gcm[60] = {
    0xd9, 0x31, 0x32, 0x25, 0xf8, 0x84, 0x06, 0xe5, 0xa5, 0x59, 0x09, 0xc5, 0xaf, 0xf5, 0x26,
    0x9a, 0x86, 0xa7, 0xa9, 0x53, 0x15, 0x34, 0xf7, 0xda, 0x2e, 0x4c, 0x30, 0x3d, 0x8a, 0x31,
    0x8a, 0x72, 0x1c, 0x3c, 0x0c, 0x95, 0x95, 0x68, 0x09, 0x53, 0x2f, 0xcf, 0x0e, 0x24, 0x49,
    0xa6, 0xb5, 0x25, 0xb1, 0x6a, 0xed, 0xf5, 0xaa, 0x0d, 0xe6, 0x57, 0xba, 0x63, 0x7b, 0x39};
static const uint8_t cipher_gcm[60] = {
    0x52, 0x2d, 0xc1, 0xf0, 0x99, 0x56, 0x7d, 0x07, 0xf4, 0x7f, 0x37, 0xa3, 0x2a, 0x84, 0x42,
    0x7d, 0x64, 0x3a, 0x8c, 0xdc, 0xbf, 0xe5, 0xc0, 0xc9, 0x75, 0x98, 0xa2, 0xbd, 0x25, 0x55,
    0xd1, 0xaa, 0x8c, 0xb0, 0x8e, 0x48, 0x59, 0x0d, 0xbb, 0x3d, 0xa7, 0xb0, 0x8b, 0x10, 0x56,
    0x82, 0x88, 0x38, 0xc5, 0xf6, 0x1e, 0x63, 0x93, 0xba, 0x7a, 0x0a, 0xbc, 0xc9, 0xf6, 0x62};
static const uint8_t tag_gcm[16] = {0x76, 0xfc, 0x6e, 0xce, 0x0f, 0x4e, 0x17, 0x68,
                                    0xcd, 0xdf, 0x88, 0x53, 0xbb, 0x2d, 0x55, 0x1b};

/* The long message: 300 bytes i * 7 mod 256 under key_gcm and j0_gcm, no associated data (OpenSSL). */
enum { LONG_BYTES = 300 };
static const uint8_t tag_long[16] = {0x12, 0xa2, 0xb8, 0xd1, 0x41, 0xf3, 0x5c, 0x89,
                                     0x65, 0x8a, 0xc4, 0xd2, 0x39, 0x22, 0x74, 0xf7};

#define AES_FN(row, function) ((fc_aes_##function##_fn *)(row)->kernels[FC_AES_##function].fn)
#define AES_FAILED(row, function) ((row)->kernels[FC_AES_##function].symbol)

static const uint8_t iv_cbc[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static OWN_FRAME const char *test_aes_modes(const struct fc_row *row) {
  static const uint8_t first_counter[16] = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
                                            0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff};
  struct fc_aes_key key;
  uint8_t out[64], iv[16];
  AES_FN(row, expand_key)(&key, key_38a, sizeof key_38a);
  AES_FN(row, ecb_encrypt)(&key, plain_38a, out, 4);
  if (memcmp(out, ecb_38a, 64) != 0) return AES_FAILED(row, ecb_encrypt);
  AES_FN(row, ecb_decrypt)(&key, out, out, 4);
  if (memcmp(out, plain_38a, 64) != 0) return AES_FAILED(row, ecb_decrypt);
  memcpy(iv, iv_cbc, 16);
  AES_FN(row, cbc_encrypt)(&key, iv, plain_38a, out, 4);
  if (memcmp(out, cbc_38a, 64) != 0) return AES_FAILED(row, cbc_encrypt);
  memcpy(iv, iv_cbc, 16);
  AES_FN(row, cbc_decrypt)(&key, iv, out, out, 4);
  if (memcmp(out, plain_38a, 64) != 0) return AES_FAILED(row, cbc_decrypt);
  memcpy(iv, first_counter, 16);
  AES_FN(row, ctr)(&key, iv, plain_38a, out, 63);
  if (memcmp(out, ctr_38a, 63) != 0) return AES_FAILED(row, ctr);
  return NULL;
}

/* Enough chains for 16 lanes and a rest. The first half of the example in each. */
static OWN_FRAME const char *test_cbc_chains(const struct fc_row *row,
                                             const struct fc_aes_key *key) {
  enum { CHAINS = 19, BYTES = 32 };
  struct fc_cbc_chain chains[CHAINS];
  uint8_t out[CHAINS][BYTES], ivs[CHAINS][16];
  for (size_t i = 0; i < CHAINS; i++) {
    memcpy(ivs[i], iv_cbc, 16);
    chains[i] = (struct fc_cbc_chain){ivs[i], plain_38a, out[i]};
  }
  AES_FN(row, cbc_encrypt_many)(key, chains, CHAINS, BYTES / 16);
  for (size_t i = 0; i < CHAINS; i++) {
    if (memcmp(out[i], cbc_38a, BYTES) != 0 || memcmp(ivs[i], cbc_38a + BYTES - 16, 16) != 0) {
      return AES_FAILED(row, cbc_encrypt_many);
    }
  }
  return NULL;
}

static OWN_FRAME void xts_tweak(const struct fc_row *row, uint8_t tweak[16]) {
  struct fc_aes_key key;
  AES_FN(row, expand_key)(&key, tweak_key_xts, sizeof tweak_key_xts);
  memset(tweak, 0, 16);
  tweak[0] = 0xff;
  AES_FN(row, ecb_encrypt)(&key, tweak, tweak, 1);
}

static OWN_FRAME const char *test_xts(const struct fc_row *row) {
  struct fc_aes_key key;
  uint8_t tweak[16], text[512];
  for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)i;
  AES_FN(row, expand_key)(&key, data_key_xts, sizeof data_key_xts);
  xts_tweak(row, tweak);
  AES_FN(row, xts_encrypt)(&key, tweak, text, text, 32);
  if (memcmp(text, first_xts, 16) != 0 || memcmp(text + 496, last_xts, 16) != 0) {
    return AES_FAILED(row, xts_encrypt);
  }
  xts_tweak(row, tweak);
  AES_FN(row, xts_decrypt)(&key, tweak, text, text, 32);
  for (size_t i = 0; i < sizeof text; i++) {
    if (text[i] != (uint8_t)i) return AES_FAILED(row, xts_decrypt);
  }
  return NULL;
}

static OWN_FRAME void gcm_key(const struct fc_row *row, struct fc_gcm_key *key) {
  uint8_t h[16] = {0};
  AES_FN(row, expand_key)(&key->aes, key_gcm, sizeof key_gcm);
  AES_FN(row, ecb_encrypt)(&key->aes, h, h, 1);
  AES_FN(row, ghash_key)(&key->ghash, h);
}

static OWN_FRAME const char *test_gcm_message(const struct fc_row *row,
                                              const struct fc_gcm_key *key) {
  uint8_t out[60], tag[16];
  struct fc_gcm_message message = {j0_gcm, aad_gcm, sizeof aad_gcm, plain_gcm, out, 60, tag};
  AES_FN(row, gcm_seal)(key, &message);
  if (memcmp(out, cipher_gcm, 60) != 0 || memcmp(tag, tag_gcm, 16) != 0) {
    return AES_FAILED(row, gcm_seal);
  }
  message.in = out;
  memset(tag, 0, 16);
  AES_FN(row, gcm_open)(key, &message);
  if (memcmp(out, plain_gcm, 60) != 0 || memcmp(tag, tag_gcm, 16) != 0) {
    return AES_FAILED(row, gcm_open);
  }
  return NULL;
}

static OWN_FRAME const char *test_gcm_long(const struct fc_row *row, const struct fc_gcm_key *key) {
  uint8_t plain[LONG_BYTES], out[LONG_BYTES], counter[16], y[16] = {0}, y_open[16] = {0}, tag[16];
  for (size_t i = 0; i < LONG_BYTES; i++) plain[i] = (uint8_t)(i * 7);
  struct fc_gcm_message message = {j0_gcm, NULL, 0, plain, out, LONG_BYTES, tag};
  AES_FN(row, gcm_seal)(key, &message);
  if (memcmp(tag, tag_long, 16) != 0) return AES_FAILED(row, gcm_seal);
  /* The streaming functions must agree with what the tag has just vouched for. */
  memcpy(counter, j0_gcm, 16);
  counter[15] = 2;
  AES_FN(row, ghash)(&key->ghash, y_open, out, LONG_BYTES);
  AES_FN(row, gcm_decrypt)(key, counter, y, out, out, LONG_BYTES);
  if (memcmp(out, plain, LONG_BYTES) != 0) return AES_FAILED(row, gcm_decrypt);
  if (memcmp(y, y_open, 16) != 0) return AES_FAILED(row, ghash);
  memcpy(counter, j0_gcm, 16);
  counter[15] = 2;
  memset(y, 0, 16);
  AES_FN(row, gcm_encrypt)(key, counter, y, out, out, LONG_BYTES);
  if (memcmp(y, y_open, 16) != 0) return AES_FAILED(row, gcm_encrypt);
  return NULL;
}

static OWN_FRAME const char *test_aes(const struct fc_row *row) {
  struct fc_gcm_key key;
  const char *failed = test_aes_modes(row);
  AES_FN(row, expand_key)(&key.aes, key_38a, sizeof key_38a);
  if (failed == NULL) failed = test_cbc_chains(row, &key.aes);
  if (failed == NULL) failed = test_xts(row);
  if (failed != NULL) return failed;
  gcm_key(row, &key);
  failed = test_gcm_message(row, &key);
  return failed != NULL ? failed : test_gcm_long(row, &key);
}

/* ------------------------------------------------------------------------------------------------ */

const char *fc_self_test_row(const struct fc_row *row) {
  fc_any_fn *fn = row->kernels[0].fn;
  int passed = 0;
  switch (row->op) {
#define X(op)                               \
  case FC_OP_##op:                          \
    passed = test_##op((fc_##op##_fn *)fn); \
    break;
    FC_ONE_STREAM_OPS(X)
#undef X
#define X(op)                \
  case FC_OP_##op:           \
    passed = test_##op(row); \
    break;
    FC_LANES_OPS(X)
#undef X
    case FC_OP_aes:
      return test_aes(row);
    default:
      break;
  }
  return passed ? NULL : row->kernels[0].symbol;
}

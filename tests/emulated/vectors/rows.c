/* SPDX-License-Identifier: Apache-2.0 */
/* A vector through one row of the table: every function, whole and in parts, in place and not. */
#include <string.h>

#include "vectors.h"

enum { BLOCK = 16 };

int is_field(const uint8_t *p, size_t len, const struct field *field) {
  return len == field->len && (len == 0 || memcmp(p, field->p, len) == 0);
}

static void copy(uint8_t *to, const struct field *field) {
  if (field->len != 0) memcpy(to, field->p, field->len);
}

void tally_add(struct tally *tally, const struct vector *v, int ok) {
  if (ok) {
    tally->passed++;
  } else if (tally->failed++ == 0) {
    tally->first_failed = v->line;
  }
}

/* ---- Hash ------------------------------------------------------------------------------------ */

/* FIPS 180-4 section 5.1: the padded message in p; its length. */
static size_t pad_message(uint8_t *p, const struct field *message, size_t block_bytes) {
  const size_t len =
      (message->len + 1 + block_bytes / 8 + block_bytes - 1) / block_bytes * block_bytes;
  memset(p, 0, len);
  copy(p, message);
  p[message->len] = 0x80;
  for (unsigned i = 0; i < 8; i++) p[len - 1 - i] = (uint8_t)((uint64_t)message->len * 8 >> 8 * i);
  return len;
}

/* Whether the message from the state `initial` on has the digest: all blocks at once, and each alone. */
#define BLOCKS_OK(op, word, words, block_bytes)                                                   \
  static int is_##op##_digest(const word state[words], const struct field *digest) {              \
    uint8_t bytes[words * sizeof(word)];                                                          \
    for (unsigned i = 0; i < sizeof bytes; i++) {                                                 \
      bytes[i] = (uint8_t)(state[i / sizeof(word)] >> 8 * (sizeof(word) - 1 - i % sizeof(word))); \
    }                                                                                             \
    return is_field(bytes, digest->len, digest);                                                  \
  }                                                                                               \
                                                                                                  \
  static int op##_from(fc_##op##_fn *blocks, const struct vector *v,                              \
                       const struct scratch *scratch, const word initial[words]) {                \
    word whole[words], single[words];                                                             \
    const size_t len = pad_message(scratch->a, &v->f[PLAIN], block_bytes);                        \
    memcpy(whole, initial, sizeof whole);                                                         \
    memcpy(single, initial, sizeof single);                                                       \
    blocks(whole, scratch->a, len / block_bytes);                                                 \
    for (size_t at = 0; at < len; at += block_bytes) blocks(single, scratch->a + at, 1);          \
    return is_##op##_digest(whole, &v->f[TAG]) && is_##op##_digest(single, &v->f[TAG]);           \
  }

BLOCKS_OK(sha1_blocks, uint32_t, 5, 64)
BLOCKS_OK(sha256_blocks, uint32_t, 8, 64)
BLOCKS_OK(sha512_blocks, uint64_t, 8, 128)

/* FIPS 180-4 section 5.3. */
static int sha1_blocks_ok(fc_sha1_blocks_fn *blocks, const struct vector *v,
                          const struct scratch *scratch) {
  static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  return sha1_blocks_from(blocks, v, scratch, initial);
}

/* Of SHA-224 and of SHA-256. */
static const uint32_t sha256_initial[2][8] = {{0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                                                        0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4},
                                                       {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};

static int sha256_blocks_ok(fc_sha256_blocks_fn *blocks, const struct vector *v,
                            const struct scratch *scratch) {
  return sha256_blocks_from(blocks, v, scratch, sha256_initial[v->kind == VECTOR_sha256]);
}

static int sha512_blocks_ok(fc_sha512_blocks_fn *blocks, const struct vector *v,
                            const struct scratch *scratch) {
  static const uint64_t initial[][8] = {
      [VECTOR_sha384 - VECTOR_sha384] = {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17,
                                         0x152fecd8f70e5939, 0x67332667ffc00b31, 0x8eb44a8768581511,
                                         0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4},
      [VECTOR_sha512 - VECTOR_sha384] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                         0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                         0x1f83d9abfb41bd6b, 0x5be0cd19137e2179},
      [VECTOR_sha512_224 - VECTOR_sha384] = {0x8c3d37c819544da2, 0x73e1996689dcd4d6,
                                             0x1dfab7ae32ff9c82, 0x679dd514582f9fcf,
                                             0x0f6d2b697bd44da8, 0x77e36f7304c48942,
                                             0x3f9d85a86a1d36c8, 0x1112e6ad91d692a1},
      [VECTOR_sha512_256 - VECTOR_sha384] = {
          0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd,
          0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2}};
  return sha512_blocks_from(blocks, v, scratch, initial[v->kind - VECTOR_sha384]);
}

/*
 * The message in every lane, all blocks at once, and then block by block. The digests of the lanes are
 * those of the op of one stream, so that op's check is made once for each lane.
 */
#define LANES_OK(hash, word, words, block_bytes)                                                 \
  static int hash##_lanes_from(const struct fc_row *row, const struct vector *v,                 \
                               const struct scratch *scratch, const word initial[words]) {       \
    fc_lanes_fn *run = (fc_lanes_fn *)row->kernels[0].fn;                                        \
    const size_t len = pad_message(scratch->a, &v->f[PLAIN], block_bytes), lanes = row->lanes;   \
    word whole[words * FC_MAX_LANES], single[words * FC_MAX_LANES], one[words], other[words];    \
    const uint8_t *data[FC_MAX_LANES];                                                           \
    int right = 1;                                                                               \
    for (size_t k = 0; k < words * lanes; k++) whole[k] = single[k] = initial[k / lanes];        \
    for (size_t j = 0; j < lanes; j++) data[j] = scratch->a;                                     \
    run(whole, data, len / block_bytes);                                                         \
    for (size_t at = 0; at < len; at += block_bytes) {                                           \
      for (size_t j = 0; j < lanes; j++) data[j] = scratch->a + at;                              \
      run(single, data, 1);                                                                      \
    }                                                                                            \
    for (size_t j = 0; j < lanes; j++) {                                                         \
      for (size_t i = 0; i < words; i++) one[i] = whole[i * lanes + j];                          \
      for (size_t i = 0; i < words; i++) other[i] = single[i * lanes + j];                       \
      right &= is_##hash##_blocks_digest(one, &v->f[TAG]);                                       \
      right &= is_##hash##_blocks_digest(other, &v->f[TAG]);                                     \
    }                                                                                            \
    return right;                                                                                \
  }

LANES_OK(sha256, uint32_t, 8, 64)

static int sha256_lanes_ok(const struct fc_row *row, const struct vector *v,
                           const struct scratch *scratch) {
  return sha256_lanes_from(row, v, scratch, sha256_initial[v->kind == VECTOR_sha256]);
}

/* ---- Compare --------------------------------------------------------------------------------- */

static int order_of(const struct vector *v) { return (int8_t)v->f[TAG].p[0]; }

static int timingsafe_bcmp_ok(fc_timingsafe_bcmp_fn *compare, const struct vector *v,
                              const struct scratch *scratch) {
  const struct field *a = &v->f[PLAIN], *b = &v->f[CIPHER];
  (void)scratch;
  return compare(a->p, b->p, a->len) == (order_of(v) != 0);
}

static int timingsafe_memcmp_ok(fc_timingsafe_memcmp_fn *compare, const struct vector *v,
                                const struct scratch *scratch) {
  const struct field *a = &v->f[PLAIN], *b = &v->f[CIPHER];
  (void)scratch;
  return compare(a->p, b->p, a->len) == order_of(v);
}

/* ---- AES ------------------------------------------------------------------------------------- */

/* One vector on one suite. */
struct run {
  const struct fc_row *row;
  const struct vector *v;
  const struct scratch *scratch;
  struct tally *tallies;
};

#define AES(run, function) ((fc_aes_##function##_fn *)(run)->row->kernels[FC_AES_##function].fn)

static void note(const struct run *run, enum fc_aes_function function, int ok) {
  tally_add(&run->tallies[function], run->v, ok);
}

static size_t half(size_t len) { return len / 2 / BLOCK * BLOCK; }

static void expand(const struct run *run, struct fc_aes_key *key) {
  AES(run, expand_key)(key, run->v->f[KEY].p, run->v->f[KEY].len);
}

static void ecb(const struct run *run) {
  const struct field *plain = &run->v->f[PLAIN], *cipher = &run->v->f[CIPHER];
  uint8_t *out = run->scratch->a;
  struct fc_aes_key key;
  expand(run, &key);
  AES(run, ecb_encrypt)(&key, plain->p, out, plain->len / BLOCK);
  note(run, FC_AES_ecb_encrypt, is_field(out, plain->len, cipher));
  note(run, FC_AES_expand_key, is_field(out, plain->len, cipher));
  copy(out, cipher);
  AES(run, ecb_decrypt)(&key, out, out, cipher->len / BLOCK);
  note(run, FC_AES_ecb_decrypt, is_field(out, cipher->len, plain));
}

/* PKCS#7's padding is RFC 5652's, written out here: the library's own is what sealed.c tests. */
static struct field padded(const struct field *plain, uint8_t *p) {
  const size_t len = (plain->len / BLOCK + 1) * BLOCK;
  memset(p, (int)(len - plain->len), len);
  copy(p, plain);
  return (struct field){p, len};
}

/* The vector in as many chains as fill every lane and leave some over, in place. */
static int cbc_chains(const struct run *run, const struct fc_aes_key *key,
                      const struct field *plain) {
  enum { CHAINS = 23 };
  struct fc_cbc_chain chains[CHAINS];
  uint8_t ivs[CHAINS][BLOCK], *out = run->scratch->a;
  const size_t len = plain->len;
  int ok = CHAINS * len <= SCRATCH_EXTRA;
  if (!ok) return 0;
  for (size_t i = 0; i < CHAINS; i++) {
    copy(ivs[i], &run->v->f[IV]);
    copy(out + len * i, plain);
    chains[i] = (struct fc_cbc_chain){ivs[i], out + len * i, out + len * i};
  }
  AES(run, cbc_encrypt_many)(key, chains, CHAINS, len / BLOCK);
  for (size_t i = 0; i < CHAINS; i++) ok &= is_field(out + len * i, len, &run->v->f[CIPHER]);
  return ok;
}

static void cbc(const struct run *run, const struct field *plain) {
  const struct field *cipher = &run->v->f[CIPHER];
  const size_t len = plain->len, first = half(len);
  uint8_t *out = run->scratch->a, iv[BLOCK];
  struct fc_aes_key key;
  expand(run, &key);
  copy(iv, &run->v->f[IV]);
  AES(run, cbc_encrypt)(&key, iv, plain->p, out, first / BLOCK);
  AES(run, cbc_encrypt)(&key, iv, plain->p + first, out + first, (len - first) / BLOCK);
  note(run, FC_AES_cbc_encrypt, is_field(out, len, cipher));
  copy(iv, &run->v->f[IV]);
  AES(run, cbc_decrypt)(&key, iv, cipher->p, out, first / BLOCK);
  AES(run, cbc_decrypt)(&key, iv, cipher->p + first, out + first, (len - first) / BLOCK);
  int ok = is_field(out, len, plain);
  copy(iv, &run->v->f[IV]);
  copy(out, cipher);
  AES(run, cbc_decrypt)(&key, iv, out, out, len / BLOCK);
  note(run, FC_AES_cbc_decrypt, ok && is_field(out, len, plain));
  note(run, FC_AES_cbc_encrypt_many, cbc_chains(run, &key, plain));
}

static void ctr(const struct run *run) {
  const struct field *plain = &run->v->f[PLAIN], *cipher = &run->v->f[CIPHER];
  const size_t first = half(plain->len);
  uint8_t *out = run->scratch->a, counter[BLOCK];
  struct fc_aes_key key;
  expand(run, &key);
  copy(counter, &run->v->f[IV]);
  AES(run, ctr)(&key, counter, plain->p, out, plain->len);
  int ok = is_field(out, plain->len, cipher);
  copy(counter, &run->v->f[IV]);
  AES(run, ctr)(&key, counter, out, out, first);
  AES(run, ctr)(&key, counter, out + first, out + first, plain->len - first);
  note(run, FC_AES_ctr, ok && is_field(out, plain->len, plain));
}

static void gcm_key(const struct run *run, struct fc_gcm_key *key) {
  uint8_t h[BLOCK] = {0};
  expand(run, &key->aes);
  AES(run, ecb_encrypt)(&key->aes, h, h, 1);
  AES(run, ghash_key)(&key->ghash, h);
}

/*
 * One direction on whole blocks, in two calls: all of them, or, where the last is not whole and
 * steals from the one before it, those before that.
 */
static int xts_direction(const struct run *run, fc_aes_xts_encrypt_fn *crypt,
                         const struct fc_aes_key keys[2], const struct field *in,
                         const struct field *wanted) {
  const size_t whole = in->len % BLOCK == 0 ? in->len : in->len / BLOCK * BLOCK - BLOCK;
  const size_t first = half(whole);
  uint8_t tweak[BLOCK], *out = run->scratch->a;
  AES(run, ecb_encrypt)(&keys[1], run->v->f[IV].p, tweak, 1);
  copy(out, in);
  crypt(&keys[0], tweak, out, out, first / BLOCK);
  crypt(&keys[0], tweak, in->p + first, out + first, (whole - first) / BLOCK);
  return memcmp(out, wanted->p, whole) == 0;
}

static void xts(const struct run *run) {
  const struct field *key = &run->v->f[KEY];
  const struct field *plain = &run->v->f[PLAIN], *cipher = &run->v->f[CIPHER];
  const size_t key_len = key->len / 2;
  struct fc_aes_key keys[2];
  AES(run, expand_key)(&keys[0], key->p, key_len);
  AES(run, expand_key)(&keys[1], key->p + key_len, key_len);
  note(run, FC_AES_xts_encrypt, xts_direction(run, AES(run, xts_encrypt), keys, plain, cipher));
  note(run, FC_AES_xts_decrypt, xts_direction(run, AES(run, xts_decrypt), keys, cipher, plain));
}

/* y = GHASH's last step: the lengths of two strings, in bits. */
static void ghash_lengths(const struct run *run, const struct fc_gcm_key *key, uint8_t y[BLOCK],
                          size_t first, size_t second) {
  uint8_t block[BLOCK];
  for (unsigned i = 0; i < 8; i++) {
    block[7 - i] = (uint8_t)((uint64_t)first * 8 >> 8 * i);
    block[15 - i] = (uint8_t)((uint64_t)second * 8 >> 8 * i);
  }
  AES(run, ghash)(&key->ghash, y, block, BLOCK);
}

static void pre_counter(const struct run *run, const struct fc_gcm_key *key, uint8_t j0[BLOCK]) {
  const struct field *nonce = &run->v->f[IV];
  memset(j0, 0, BLOCK);
  if (nonce->len == 12) {
    copy(j0, nonce);
    j0[15] = 1;
    return;
  }
  AES(run, ghash)(&key->ghash, j0, nonce->p, nonce->len);
  ghash_lengths(run, key, j0, 0, nonce->len);
}

static void increment(uint8_t counter[BLOCK]) {
  for (unsigned i = BLOCK; i-- > 12 && ++counter[i] == 0;) continue;
}

/* The message in two parts through gcm_encrypt or gcm_decrypt, and the tag by hand. */
static int in_parts(const struct run *run, const struct fc_gcm_key *key, const uint8_t j0[BLOCK],
                    fc_aes_gcm_encrypt_fn *crypt, enum field_name from, enum field_name to) {
  const struct field *aad = &run->v->f[AAD], *in = &run->v->f[from];
  const size_t first = half(in->len);
  uint8_t counter[BLOCK], y[BLOCK] = {0}, tag[BLOCK], *out = run->scratch->a;
  memcpy(counter, j0, BLOCK);
  increment(counter);
  copy(out, in);
  AES(run, ghash)(&key->ghash, y, aad->p, aad->len);
  crypt(key, counter, y, out, out, first);
  crypt(key, counter, y, out + first, out + first, in->len - first);
  ghash_lengths(run, key, y, aad->len, in->len);
  AES(run, ecb_encrypt)(&key->aes, j0, tag, 1);
  for (unsigned i = 0; i < BLOCK; i++) tag[i] ^= y[i];
  return is_field(out, in->len, &run->v->f[to]) &&
         is_field(tag, run->v->f[TAG].len, &run->v->f[TAG]);
}

/* Seal or open a whole message: whether its output and the tag are those of the vector. */
static int whole(const struct run *run, const struct fc_gcm_key *key, const uint8_t j0[BLOCK],
                 fc_aes_gcm_seal_fn *crypt, enum field_name from, enum field_name to) {
  const struct field *aad = &run->v->f[AAD], *in = &run->v->f[from], *tag = &run->v->f[TAG];
  uint8_t computed[BLOCK], *out = run->scratch->b;
  const struct fc_gcm_message message = {j0, aad->p, aad->len, in->p, out, in->len, computed};
  crypt(key, &message);
  return is_field(computed, tag->len, tag) &&
         (run->v->kind == VECTOR_forged || is_field(out, in->len, &run->v->f[to]));
}

static void gcm(const struct run *run) {
  struct fc_gcm_key key;
  uint8_t j0[BLOCK];
  gcm_key(run, &key);
  pre_counter(run, &key, j0);
  const int sealed = whole(run, &key, j0, AES(run, gcm_seal), PLAIN, CIPHER);
  note(run, FC_AES_gcm_seal, sealed);
  note(run, FC_AES_ghash_key, sealed);
  note(run, FC_AES_gcm_open, whole(run, &key, j0, AES(run, gcm_open), CIPHER, PLAIN));
  const int encrypted = in_parts(run, &key, j0, AES(run, gcm_encrypt), PLAIN, CIPHER);
  note(run, FC_AES_gcm_encrypt, encrypted);
  note(run, FC_AES_ghash, encrypted);
  note(run, FC_AES_gcm_decrypt, in_parts(run, &key, j0, AES(run, gcm_decrypt), CIPHER, PLAIN));
}

static void forged(const struct run *run) {
  struct fc_gcm_key key;
  uint8_t j0[BLOCK];
  gcm_key(run, &key);
  pre_counter(run, &key, j0);
  note(run, FC_AES_gcm_open, !whole(run, &key, j0, AES(run, gcm_open), CIPHER, PLAIN));
}

static void check_suite(const struct run *run) {
  struct field plain;
  switch (run->v->kind) {
    case VECTOR_ecb:
      ecb(run);
      break;
    case VECTOR_cbc:
      cbc(run, &run->v->f[PLAIN]);
      break;
    case VECTOR_pkcs7:
      plain = padded(&run->v->f[PLAIN], run->scratch->b);
      cbc(run, &plain);
      break;
    case VECTOR_ctr:
      ctr(run);
      break;
    case VECTOR_xts:
      xts(run);
      break;
    case VECTOR_gcm:
      gcm(run);
      break;
    case VECTOR_forged:
      forged(run);
      break;
    default:
      break;
  }
}

/* ---------------------------------------------------------------------------------------------- */

/* The kinds of vector that an op of one function takes, as bits. */
static const unsigned kinds_of_op[] = {
    [FC_OP_sha1_blocks] = 1u << VECTOR_sha1,
    [FC_OP_sha256_blocks] = 1u << VECTOR_sha224 | 1u << VECTOR_sha256,
    [FC_OP_sha256_lanes] = 1u << VECTOR_sha224 | 1u << VECTOR_sha256,
    [FC_OP_sha512_blocks] = 1u << VECTOR_sha384 | 1u << VECTOR_sha512 | 1u << VECTOR_sha512_224 |
                            1u << VECTOR_sha512_256,
    [FC_OP_timingsafe_bcmp] = 1u << VECTOR_compare,
    [FC_OP_timingsafe_memcmp] = 1u << VECTOR_compare,
};

void check_row(const struct fc_row *row, const struct vector *v, const struct scratch *scratch,
               struct tally *tallies) {
  if (row->op == FC_OP_aes) {
    const struct run run = {row, v, scratch, tallies};
    check_suite(&run);
    return;
  }
  if ((kinds_of_op[row->op] >> v->kind & 1) == 0) return;
  fc_any_fn *fn = row->kernels[0].fn;
  switch (row->op) {
#define X(op)                                                       \
  case FC_OP_##op:                                                  \
    tally_add(tallies, v, op##_ok((fc_##op##_fn *)fn, v, scratch)); \
    break;
    FC_ONE_STREAM_OPS(X)
#undef X
#define X(op)                                        \
  case FC_OP_##op:                                   \
    tally_add(tallies, v, op##_ok(row, v, scratch)); \
    break;
    FC_LANES_OPS(X)
#undef X
    default:
      break;
  }
}

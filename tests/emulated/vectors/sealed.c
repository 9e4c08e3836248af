/* SPDX-License-Identifier: Apache-2.0 */
/* A vector through the algorithms above the kernels, on the table that this CPU sealed. */
#include <string.h>

#include "aes/gcm.h"
#include "aes/modes.h"
#include "aes/xts.h"
#include "cpu/dispatch.h"
#include "hash/sha.h"
#include "vectors.h"

enum { BLOCK = 16 };

/* One shot, and in parts of 1, 4, 13, 40, 121 ... bytes. */
#define X(name, engine, digest_bytes, block_bytes, title)                       \
  static int name##_ok(const struct vector *v, const struct scratch *scratch) { \
    const struct field *message = &v->f[PLAIN];                                 \
    uint8_t digest[digest_bytes];                                               \
    struct fc_##engine context;                                                 \
    (void)scratch;                                                              \
    fc_##name##_oneshot(message->p, message->len, digest);                      \
    if (!is_field(digest, sizeof digest, &v->f[TAG])) return 0;                 \
    fc_##name##_init(&context);                                                 \
    for (size_t at = 0, n = 1; at < message->len; at += n, n = 3 * n + 1) {     \
      if (n > message->len - at) n = message->len - at;                         \
      fc_##engine##_update(&context, message->p + at, n);                       \
    }                                                                           \
    fc_##name##_digest(&context, digest);                                       \
    return is_field(digest, sizeof digest, &v->f[TAG]);                         \
  }
FC_HASHES(X)
#undef X

static int ecb_ok(const struct vector *v, const struct scratch *scratch) {
  struct fc_aes_key key;
  FC_TABLE.aes.expand_key(&key, v->f[KEY].p, v->f[KEY].len);
  FC_TABLE.aes.ecb_encrypt(&key, v->f[PLAIN].p, scratch->a, v->f[PLAIN].len / BLOCK);
  if (!is_field(scratch->a, v->f[PLAIN].len, &v->f[CIPHER])) return 0;
  FC_TABLE.aes.ecb_decrypt(&key, v->f[CIPHER].p, scratch->a, v->f[CIPHER].len / BLOCK);
  return is_field(scratch->a, v->f[CIPHER].len, &v->f[PLAIN]);
}

static void cbc(const struct vector *v, const uint8_t *in, uint8_t *out, size_t len, int encrypt) {
  struct fc_aes_key key;
  uint8_t iv[BLOCK];
  memcpy(iv, v->f[IV].p, BLOCK);
  FC_TABLE.aes.expand_key(&key, v->f[KEY].p, v->f[KEY].len);
  (encrypt ? FC_TABLE.aes.cbc_encrypt : FC_TABLE.aes.cbc_decrypt)(&key, iv, in, out, len / BLOCK);
}

static int cbc_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *plain = &v->f[PLAIN], *cipher = &v->f[CIPHER];
  cbc(v, plain->p, scratch->a, plain->len, 1);
  cbc(v, cipher->p, scratch->b, cipher->len, 0);
  return is_field(scratch->a, plain->len, cipher) && is_field(scratch->b, cipher->len, plain);
}

static int pkcs7_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *plain = &v->f[PLAIN], *cipher = &v->f[CIPHER];
  const size_t full = plain->len / BLOCK * BLOCK;
  if (full != 0) memcpy(scratch->a, plain->p, full);
  fc_pkcs7_pad(scratch->a + full, plain->p == NULL ? NULL : plain->p + full, plain->len - full);
  cbc(v, scratch->a, scratch->b, full + BLOCK, 1);
  if (!is_field(scratch->b, full + BLOCK, cipher)) return 0;
  cbc(v, cipher->p, scratch->b, cipher->len, 0);
  const size_t padding = fc_pkcs7_unpad(scratch->b + cipher->len - BLOCK);
  return padding != 0 && is_field(scratch->b, cipher->len - padding, plain);
}

static int badpad_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *cipher = &v->f[CIPHER];
  if (cipher->len == 0 || cipher->len % BLOCK != 0) return 1; /* the caller's fault, above this */
  cbc(v, cipher->p, scratch->a, cipher->len, 0);
  return fc_pkcs7_unpad(scratch->a + cipher->len - BLOCK) == 0;
}

/* The whole, and from an offset inside a block. */
static int ctr_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *plain = &v->f[PLAIN], *cipher = &v->f[CIPHER];
  const size_t from = plain->len / 3;
  struct fc_aes_key key;
  FC_TABLE.aes.expand_key(&key, v->f[KEY].p, v->f[KEY].len);
  fc_ctr_crypt(&key, v->f[IV].p, 0, plain->p, scratch->a, plain->len);
  if (!is_field(scratch->a, plain->len, cipher)) return 0;
  fc_ctr_crypt(&key, v->f[IV].p, from, cipher->p + from, scratch->a + from, cipher->len - from);
  const struct field tail = {plain->p + from, plain->len - from};
  return is_field(scratch->a + from, cipher->len - from, &tail);
}

static int xts_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *plain = &v->f[PLAIN], *cipher = &v->f[CIPHER];
  struct fc_xts_key key;
  fc_xts_init(&key, v->f[KEY].p, v->f[KEY].len);
  fc_xts_encrypt(&key, v->f[IV].p, plain->p, scratch->a, plain->len);
  if (!is_field(scratch->a, plain->len, cipher)) return 0;
  fc_xts_decrypt(&key, v->f[IV].p, scratch->a, scratch->a, cipher->len);
  return is_field(scratch->a, cipher->len, plain);
}

/* Open the vector's ciphertext with its tag into scratch->b. */
static int open_vector(const struct vector *v, const struct scratch *scratch,
                       const struct fc_gcm_key *key, const uint8_t j0[BLOCK]) {
  uint8_t computed[FC_GCM_TAG_BYTES];
  const struct fc_gcm_message message = {
      j0, v->f[AAD].p, v->f[AAD].len, v->f[CIPHER].p, scratch->b, v->f[CIPHER].len, computed};
  return fc_gcm_open(key, &message, v->f[TAG].p, v->f[TAG].len);
}

static int gcm_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *plain = &v->f[PLAIN], *tag = &v->f[TAG];
  uint8_t j0[BLOCK], computed[FC_GCM_TAG_BYTES];
  struct fc_gcm_key key;
  fc_gcm_init(&key, v->f[KEY].p, v->f[KEY].len);
  fc_gcm_j0(&key, v->f[IV].p, v->f[IV].len, j0);
  const struct fc_gcm_message message = {j0,         v->f[AAD].p, v->f[AAD].len, plain->p,
                                         scratch->a, plain->len,  computed};
  FC_TABLE.aes.gcm_seal(&key, &message);
  return is_field(scratch->a, plain->len, &v->f[CIPHER]) && is_field(computed, tag->len, tag) &&
         open_vector(v, scratch, &key, j0) == 0 && is_field(scratch->b, plain->len, plain);
}

static int forged_ok(const struct vector *v, const struct scratch *scratch) {
  uint8_t j0[BLOCK];
  struct fc_gcm_key key;
  fc_gcm_init(&key, v->f[KEY].p, v->f[KEY].len);
  fc_gcm_j0(&key, v->f[IV].p, v->f[IV].len, j0);
  if (open_vector(v, scratch, &key, j0) != -1) return 0;
  for (size_t i = 0; i < v->f[CIPHER].len; i++) {
    if (scratch->b[i] != 0) return 0;
  }
  return 1;
}

static int compare_ok(const struct vector *v, const struct scratch *scratch) {
  const struct field *a = &v->f[PLAIN], *b = &v->f[CIPHER];
  const int order = (int8_t)v->f[TAG].p[0];
  (void)scratch;
  return FC_TABLE.timingsafe_bcmp(a->p, b->p, a->len) == (order != 0) &&
         FC_TABLE.timingsafe_memcmp(a->p, b->p, a->len) == order;
}

void check_sealed(const struct vector *v, const struct scratch *scratch,
                  struct tally tallies[VECTOR_KIND_COUNT]) {
  static int (*const checks[])(const struct vector *, const struct scratch *) = {
#define X(kind, ...) kind##_ok,
      VECTOR_KINDS(X)
#undef X
  };
  tally_add(&tallies[v->kind], v, checks[v->kind](v, scratch));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming against one shot, in pieces that the input chooses: SHA-256 contexts, CTR with an
 * offset, ECB and CBC in parts, and PKCS#7 against its definition; on the kernels of any CPU below
 * this one.
 */
#include <string.h>

#include "aes/modes.h"
#include "cpu/detect.h"
#include "cpu/dispatch.h"
#include "fuzz.h"
#include "hash/sha.h"

enum { MAX_N = 4096 };

static uint8_t text[MAX_N];

/* A length that leaves the rest for later; multiples of `unit` until the last. */
static size_t piece(struct fuzz_input *input, size_t left, size_t unit) {
  const size_t n = fuzz_length(input, left) / unit * unit;
  return n == 0 && left != 0 && input->left == 0 ? left : n;
}

static void sha256(struct fuzz_input *input, size_t len) {
  struct fc_sha256 context;
  uint8_t whole[32], parts[32], again[32];
  fc_sha256_oneshot(text, len, whole);
  fc_sha256_init(&context);
  for (size_t at = 0, n; at < len; at += n) {
    n = piece(input, len - at, 1);
    fc_sha256_update(&context, text + at, n);
    fc_sha256_digest(&context, again); /* must not change it */
    fc_sha256_oneshot(text, at + n, parts);
    fuzz_same("sha256 of a prefix", again, parts, 32);
  }
  fc_sha256_digest(&context, parts);
  fuzz_same("sha256 in parts", parts, whole, 32);
}

static void ctr(struct fuzz_input *input, const struct fc_aes_key *key, size_t len) {
  static uint8_t whole[MAX_N];
  uint8_t iv[16];
  fuzz_bytes(input, iv, 16);
  uint64_t start = fuzz_byte(input);
  if (start & 2) memset(iv + 8, 0xff, 7); /* carries into the high half */
  if (start & 1) start <<= 8 * (start >> 1 & 7);
  memset(whole, 0, sizeof whole);
  fc_ctr_crypt(key, iv, start, text, whole, len);
  for (size_t at = 0, n; at < len; at += n) {
    n = piece(input, len - at, 1);
    uint8_t *out = fuzz_place(0, n);
    if (n != 0) memcpy(out, text + at, n);
    fc_ctr_crypt(key, iv, start + at, out, out, n); /* in place */
    fuzz_same("ctr in parts", out, whole + at, n);
    fuzz_check_before(out);
  }
}

typedef void cbc_fn(const struct fc_aes_key *key, uint8_t iv[16], const uint8_t *in, uint8_t *out,
                    size_t nblocks);

/* Encrypt in parts, decrypt in other parts: the text again, and the same chaining value. */
static void cbc(struct fuzz_input *input, const struct fc_aes_key *key, size_t len) {
  static uint8_t out[MAX_N];
  cbc_fn *const way[2] = {FC_TABLE.aes.cbc_encrypt, FC_TABLE.aes.cbc_decrypt};
  uint8_t first[16], iv[2][16];
  fuzz_bytes(input, first, 16);
  len -= len % 16;
  memcpy(out, text, len);
  for (size_t w = 0; w < 2; w++) {
    memcpy(iv[w], first, 16);
    for (size_t at = 0, n; at < len; at += n) {
      n = piece(input, len - at, 16);
      way[w](key, iv[w], out + at, out + at, n / 16);
    }
  }
  fuzz_same("cbc there and back", out, text, len);
  fuzz_same("the last block of cbc", iv[0], iv[1], 16);
}

static void ecb(struct fuzz_input *input, const struct fc_aes_key *key, size_t len) {
  static uint8_t out[MAX_N], whole[MAX_N];
  len -= len % 16;
  FC_TABLE.aes.ecb_encrypt(key, text, whole, len / 16);
  for (size_t at = 0, n; at < len; at += n) {
    n = piece(input, len - at, 16);
    FC_TABLE.aes.ecb_encrypt(key, text + at, out + at, n / 16);
  }
  fuzz_same("ecb in parts", out, whole, len);
  FC_TABLE.aes.ecb_decrypt(key, out, out, len / 16);
  fuzz_same("ecb there and back", out, text, len);
}

static void pkcs7(struct fuzz_input *input, size_t len) {
  uint8_t block[16];
  fc_pkcs7_pad(block, text, len % 16);
  if (fc_pkcs7_unpad(block) != 16 - len % 16) fuzz_fail("padding of %zu bytes", len % 16);
  block[fuzz_byte(input) % 16] ^= fuzz_byte(input);
  const size_t got = fc_pkcs7_unpad(block);
  const size_t pad = block[15];
  int good = pad >= 1 && pad <= 16;
  for (size_t i = 0; good && i < pad; i++) good = block[15 - i] == pad;
  if (got != (good ? pad : 0)) fuzz_fail("unpad says %zu, not %zu", got, good ? pad : 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = fuzz_open(data, size);
  struct fc_aes_key key;
  uint8_t bytes[32];
  const uint8_t which = fuzz_byte(&input);
  /* The page is never sealed here, so that every CPU up to this one has its turn. */
  const unsigned level = which >> 4 & 3;
  fc_resolve(fc_cpu_detect() & fc_features_of_level(level == 3 ? 99 : level), &fc_sealed.table);
  const size_t len = fuzz_length(&input, MAX_N);
  fuzz_bytes(&input, bytes, 32);
  fuzz_bytes(&input, text, len);
  FC_TABLE.aes.expand_key(&key, bytes, 16 + 8 * (size_t)((which >> 6) % 3));
  switch (which % 5) {
    case 0: sha256(&input, len); break;
    case 1: ctr(&input, &key, len); break;
    case 2: cbc(&input, &key, len); break;
    case 3: ecb(&input, &key, len); break;
    default: pkcs7(&input, len); break;
  }
  return 0;
}

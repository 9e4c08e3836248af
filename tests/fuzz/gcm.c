/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GCM: a sealed message opens if nothing was touched; if any one byte of key, nonce, additional
 * data, ciphertext or tag was, it does not, and the output is zeros. GCM in parts gives the same
 * ciphertext as in one, and so does a stream in pieces of any length.
 */
#include "aes/gcm_stream.h"

#include <string.h>

#include "cpu/detect.h"
#include "cpu/dispatch.h"
#include "fuzz.h"

enum { MAX_N = 2048, MAX_AAD = 512, MAX_NONCE = 300 };

/* Everything that goes into the opening of a message. */
struct sealed {
  uint8_t bytes[32], nonce[MAX_NONCE], aad[MAX_AAD], text[MAX_N], tag[16];
  size_t key_len, nonce_len, aad_len, len, tag_len;
};

static void seal(struct sealed *s, const uint8_t *plain) {
  struct fc_gcm_key key;
  uint8_t j0[16];
  fc_gcm_init(&key, s->bytes, s->key_len);
  fc_gcm_j0(&key, s->nonce, s->nonce_len, j0);
  const struct fc_gcm_message m = {j0, s->aad, s->aad_len, plain, s->text, s->len, s->tag};
  FC_TABLE.aes.gcm_seal(&key, &m);
}

static int open(const struct sealed *s, uint8_t *out, int in_place) {
  struct fc_gcm_key key;
  uint8_t j0[16], computed[16];
  fc_gcm_init(&key, s->bytes, s->key_len);
  fc_gcm_j0(&key, s->nonce, s->nonce_len, j0);
  const uint8_t *in = s->text;
  if (in_place) {
    memcpy(out, s->text, s->len);
    in = out;
  }
  const struct fc_gcm_message m = {j0, s->aad, s->aad_len, in, out, s->len, computed};
  const int result = fc_gcm_open(&key, &m, s->tag, s->tag_len);
  for (size_t i = 0; i < 16; i++) {
    if (computed[i] != 0) fuzz_fail("the computed tag was not wiped");
  }
  return result;
}

/* Change one byte of something; 0 if what was chosen has none. */
static int touch(struct fuzz_input *input, struct sealed *s) {
  const uint8_t what = fuzz_byte(input) % 5, mask = fuzz_byte(input);
  uint8_t *const p[5] = {s->bytes, s->nonce, s->aad, s->text, s->tag};
  const size_t len[5] = {s->key_len, s->nonce_len, s->aad_len, s->len, s->tag_len};
  const size_t where = (size_t)fuzz_byte(input) << 8 | fuzz_byte(input);
  if (len[what] == 0) return 0;
  p[what][where % len[what]] ^= mask == 0 ? 1 : mask;
  return 1;
}

static void in_parts(struct fuzz_input *input, const struct sealed *s, const uint8_t *plain) {
  static uint8_t out[MAX_N];
  struct fc_gcm_key key;
  uint8_t counter[16], y[2][16] = {{0}};
  fc_gcm_init(&key, s->bytes, s->key_len);
  for (int decrypt = 0; decrypt < 2; decrypt++) {
    fc_gcm_j0(&key, s->nonce, s->nonce_len, counter);
    const uint32_t low = (uint32_t)counter[12] << 24 | (uint32_t)counter[13] << 16 |
                         (uint32_t)counter[14] << 8 | counter[15];
    for (int i = 0; i < 4; i++) counter[15 - i] = (uint8_t)((low + 1) >> (8 * i));
    for (size_t at = 0, n; at < s->len; at += n) {
      n = fuzz_length(input, s->len - at);
      if (n < s->len - at) n -= n % 16;
      if (n == 0 && input->left == 0) n = s->len - at;
      if (decrypt) {
        FC_TABLE.aes.gcm_decrypt(&key, counter, y[1], s->text + at, out + at, n);
      } else {
        FC_TABLE.aes.gcm_encrypt(&key, counter, y[0], plain + at, out + at, n);
      }
    }
    fuzz_same("gcm in parts", out, decrypt ? plain : s->text, s->len);
  }
  fuzz_same("GHASH of gcm in parts", y[0], y[1], 16);
}

/* Pieces that end inside blocks, in place; the tag too. */
static void in_a_stream(struct fuzz_input *input, const struct sealed *s, const uint8_t *plain) {
  static uint8_t out[MAX_N];
  struct fc_gcm_key key;
  uint8_t tag[16];
  fc_gcm_init(&key, s->bytes, s->key_len);
  for (int decrypt = 0; decrypt < 2; decrypt++) {
    struct fc_gcm_stream stream;
    fc_gcm_stream_begin(&stream, &key, s->nonce, s->nonce_len, s->aad, s->aad_len);
    memcpy(out, decrypt ? s->text : plain, s->len);
    for (size_t at = 0, n; at < s->len; at += n) {
      n = fuzz_length(input, s->len - at);
      if (n == 0 && input->left == 0) n = s->len - at;
      if (decrypt) {
        fc_gcm_stream_decrypt(&stream, &key, out + at, out + at, n);
      } else {
        fc_gcm_stream_encrypt(&stream, &key, out + at, out + at, n);
      }
    }
    fc_gcm_stream_finish(&stream, &key, tag);
    fuzz_same("a stream", out, decrypt ? plain : s->text, s->len);
    fuzz_same("the tag of a stream", tag, s->tag, 16);
  }
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct sealed s;
  static uint8_t plain[MAX_N];
  static const uint8_t zeros[MAX_N];
  struct fuzz_input input = fuzz_open(data, size);
  const uint8_t flags = fuzz_byte(&input);
  const unsigned level = flags & 3;
  fc_resolve(fc_cpu_detect() & fc_features_of_level(level == 3 ? 99 : level), &fc_sealed.table);
  s.key_len = 16 + 8 * (size_t)((flags >> 2) % 3);
  s.len = fuzz_length(&input, MAX_N);
  s.aad_len = fuzz_length(&input, MAX_AAD);
  s.nonce_len = flags & 64 ? 12 : 1 + fuzz_length(&input, MAX_NONCE - 1);
  s.tag_len = 12 + (size_t)(fuzz_byte(&input) % 5);
  fuzz_bytes(&input, s.bytes, 32);
  fuzz_bytes(&input, s.nonce, s.nonce_len);
  fuzz_bytes(&input, s.aad, s.aad_len);
  fuzz_bytes(&input, plain, s.len);

  seal(&s, plain);
  in_parts(&input, &s, plain);
  in_a_stream(&input, &s, plain);
  uint8_t *out = fuzz_place(0, s.len);
  if (open(&s, out, flags & 128) != 0) fuzz_fail("an untouched message did not open");
  fuzz_same("opened text", out, plain, s.len);
  for (int i = 0; i < 4; i++) {
    struct sealed touched = s;
    if (!touch(&input, &touched)) continue;
    memset(out, 0x5a, s.len);
    if (open(&touched, out, flags & 128) == 0) fuzz_fail("a touched message opened");
    fuzz_same("output of a touched message", out, zeros, s.len);
    fuzz_check_before(out);
  }
  return 0;
}

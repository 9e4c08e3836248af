/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels take whole blocks; what is begun and not ended waits here, its key stream in `pad` and
 * its ciphertext, which GHASH wants whole, in `text`.
 */
#include "aes/gcm_stream.h"

#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "portable/portable.h"

void fc_gcm_stream_begin(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                         const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
                         size_t aad_len) {
  memset(stream, 0, sizeof *stream);
  fc_gcm_j0(key, nonce, nonce_len, stream->j0);
  memcpy(stream->counter, stream->j0, 12);
  fc_store_be32(stream->counter + 12, fc_load_be32(stream->j0 + 12) + 1);
  stream->aad_len = aad_len;
  if (aad_len != 0) FC_TABLE.aes.ghash(&key->ghash, stream->y, aad, aad_len);
}

/* Key stream for a block that will not come whole. */
static void begin_block(struct fc_gcm_stream *stream, const struct fc_gcm_key *key) {
  FC_TABLE.aes.ecb_encrypt(&key->aes, stream->counter, stream->pad, 1);
  fc_store_be32(stream->counter + 12, fc_load_be32(stream->counter + 12) + 1);
}

/* Up to the end of the block begun; returns how many bytes that took. */
static size_t fill_block(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                         const uint8_t *in, uint8_t *out, size_t len, int decrypt) {
  const size_t held = stream->len % 16;
  const size_t n = len < 16 - held ? len : 16 - held;
  for (size_t i = 0; i < n; i++) {
    const uint8_t byte = in[i];
    const uint8_t result = byte ^ stream->pad[held + i];
    stream->text[held + i] = decrypt ? byte : result;
    out[i] = result;
  }
  if (held + n == 16) FC_TABLE.aes.ghash(&key->ghash, stream->y, stream->text, 16);
  stream->len += n;
  return n;
}

static void crypt_piece(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                        const uint8_t *in, uint8_t *out, size_t len, int decrypt) {
  if (stream->len % 16 != 0 && len != 0) {
    const size_t n = fill_block(stream, key, in, out, len, decrypt);
    in += n, out += n, len -= n;
  }
  const size_t whole = len / 16 * 16;
  if (whole != 0) {
    fc_aes_gcm_encrypt_fn *crypt = decrypt ? FC_TABLE.aes.gcm_decrypt : FC_TABLE.aes.gcm_encrypt;
    crypt(key, stream->counter, stream->y, in, out, whole);
    stream->len += whole;
    in += whole, out += whole, len -= whole;
  }
  if (len != 0) {
    begin_block(stream, key);
    fill_block(stream, key, in, out, len, decrypt);
  }
}

void fc_gcm_stream_encrypt(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                           const uint8_t *in, uint8_t *out, size_t len) {
  crypt_piece(stream, key, in, out, len, 0);
}

void fc_gcm_stream_decrypt(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                           const uint8_t *in, uint8_t *out, size_t len) {
  crypt_piece(stream, key, in, out, len, 1);
}

void fc_gcm_stream_finish(struct fc_gcm_stream *stream, const struct fc_gcm_key *key,
                          uint8_t tag[16]) {
  uint8_t lengths[16];
  const size_t held = stream->len % 16;
  if (held != 0) FC_TABLE.aes.ghash(&key->ghash, stream->y, stream->text, held);
  fc_store_be64(lengths, stream->aad_len << 3);
  fc_store_be64(lengths + 8, stream->len << 3);
  FC_TABLE.aes.ghash(&key->ghash, stream->y, lengths, 16);
  FC_TABLE.aes.ecb_encrypt(&key->aes, stream->j0, tag, 1);
  for (size_t i = 0; i < 16; i++) tag[i] ^= stream->y[i];
  fc_wipe(stream, sizeof *stream);
}

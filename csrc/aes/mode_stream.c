/* SPDX-License-Identifier: Apache-2.0 */
#include "aes/mode_stream.h"

#include <string.h>

#include "aes/modes.h"
#include "cpu/dispatch.h"
#include "ct/wipe.h"

enum { BLOCK = 16 };

void fc_mode_stream_begin(struct fc_mode_stream *stream, enum fc_stream_mode mode, int padded,
                          const uint8_t iv[16]) {
  memset(stream, 0, sizeof *stream);
  stream->mode = mode;
  stream->padded = padded;
  memcpy(stream->chain, iv, BLOCK);
}

/* ---- CTR --------------------------------------------------------------------------------------- */

/* Up to len bytes with the key stream that was held; returns how many. */
static size_t use_held(struct fc_mode_stream *stream, const uint8_t *in, uint8_t *out, size_t len) {
  const size_t n = len < stream->held_len ? len : stream->held_len;
  const uint8_t *key_stream = stream->held + BLOCK - stream->held_len;
  for (size_t i = 0; i < n; i++) out[i] = in[i] ^ key_stream[i];
  stream->held_len -= n;
  return n;
}

static void update_ctr(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                       const uint8_t *in, uint8_t *out, size_t len) {
  const size_t n = use_held(stream, in, out, len);
  in += n, out += n, len -= n;
  const size_t whole = len / BLOCK * BLOCK;
  if (whole != 0) {
    FC_TABLE.aes.ctr(key, stream->chain, in, out, whole);
    in += whole, out += whole, len -= whole;
  }
  if (len != 0) {
    memset(stream->held, 0, BLOCK);
    FC_TABLE.aes.ctr(key, stream->chain, stream->held, stream->held, BLOCK);
    stream->held_len = BLOCK;
    use_held(stream, in, out, len);
  }
}

/* ---- CBC --------------------------------------------------------------------------------------- */

/* How many bytes are held back at least: the last block may be padding, so it is not written yet. */
static size_t kept_back(const struct fc_mode_stream *stream) {
  return stream->padded && stream->mode == FC_STREAM_CBC_DECRYPT;
}

size_t fc_mode_stream_output(const struct fc_mode_stream *stream, size_t len) {
  if (stream->mode == FC_STREAM_CTR) return len;
  const size_t total = stream->held_len + len, kept = kept_back(stream);
  return total < kept ? 0 : (total - kept) / BLOCK * BLOCK;
}

static void run_blocks(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                       const uint8_t *in, uint8_t *out, size_t nblocks) {
  const int encrypts = stream->mode == FC_STREAM_CBC_ENCRYPT;
  (encrypts ? FC_TABLE.aes.cbc_encrypt : FC_TABLE.aes.cbc_decrypt)(key, stream->chain, in, out,
                                                                   nblocks);
}

static void update_cbc(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                       const uint8_t *in, uint8_t *out, size_t len) {
  size_t written = fc_mode_stream_output(stream, len);
  if (written != 0 && stream->held_len != 0) {
    const size_t n = BLOCK - stream->held_len;
    if (n != 0) memcpy(stream->held + stream->held_len, in, n);
    run_blocks(stream, key, stream->held, out, 1);
    stream->held_len = 0;
    in += n, len -= n;
    out += BLOCK, written -= BLOCK;
  }
  run_blocks(stream, key, in, out, written / BLOCK);
  if (len != written) {
    memcpy(stream->held + stream->held_len, in + written, len - written);
    stream->held_len += len - written;
  }
}

/* ------------------------------------------------------------------------------------------------ */

void fc_mode_stream_update(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                           const uint8_t *in, uint8_t *out, size_t len) {
  if (stream->mode == FC_STREAM_CTR) {
    update_ctr(stream, key, in, out, len);
  } else {
    update_cbc(stream, key, in, out, len);
  }
}

int fc_mode_stream_finish(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                          uint8_t last[16]) {
  if (stream->mode == FC_STREAM_CTR) return 0;
  if (!stream->padded) return stream->held_len == 0 ? 0 : FC_STREAM_PARTIAL;
  if (stream->mode == FC_STREAM_CBC_ENCRYPT) {
    fc_pkcs7_pad(last, stream->held, stream->held_len);
    run_blocks(stream, key, last, last, 1);
    return BLOCK;
  }
  if (stream->held_len != BLOCK)
    return stream->held_len == 0 ? FC_STREAM_BAD_PADDING : FC_STREAM_PARTIAL;
  run_blocks(stream, key, stream->held, last, 1);
  const size_t pad = fc_pkcs7_unpad(last);
  return pad == 0 ? FC_STREAM_BAD_PADDING : (int)(BLOCK - pad);
}

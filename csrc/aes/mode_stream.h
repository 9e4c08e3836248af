/* SPDX-License-Identifier: Apache-2.0 */
/* CBC and CTR in pieces of any length, on the sealed suite. */
#ifndef FC_AES_MODE_STREAM_H
#define FC_AES_MODE_STREAM_H

#include "kernels.h"

enum fc_stream_mode { FC_STREAM_CBC_ENCRYPT, FC_STREAM_CBC_DECRYPT, FC_STREAM_CTR };

struct fc_mode_stream {
  enum fc_stream_mode mode;
  int padded;        /* CBC with PKCS#7 */
  uint8_t chain[16]; /* chaining value, or the next counter */
  uint8_t held[16];  /* CBC: input that waits; CTR: key stream, the unused part at its end */
  size_t held_len;
};

FC_HIDDEN void fc_mode_stream_begin(struct fc_mode_stream *stream, enum fc_stream_mode mode,
                                    int padded, const uint8_t iv[16]);

/* How many bytes an update with len bytes writes. CBC: whole blocks, at most len + 15. */
FC_HIDDEN size_t fc_mode_stream_output(const struct fc_mode_stream *stream, size_t len);

/* The next piece. in == out works where the stream holds no input. */
FC_HIDDEN void fc_mode_stream_update(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                                     const uint8_t *in, uint8_t *out, size_t len);

/*
 * The end: writes at most a block to `last` and returns how many bytes of it count, or
 * FC_STREAM_PARTIAL: the input did not end with a block; FC_STREAM_BAD_PADDING: nor in padding.
 * The time of the look at the padding does not depend on it.
 */
enum { FC_STREAM_PARTIAL = -1, FC_STREAM_BAD_PADDING = -2 };
FC_HIDDEN int fc_mode_stream_finish(struct fc_mode_stream *stream, const struct fc_aes_key *key,
                                    uint8_t last[16]);

#endif

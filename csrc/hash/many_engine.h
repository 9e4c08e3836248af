/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One engine for many messages, as static functions of the file that includes this. The file defines
 *   CONTEXT, INIT            its struct of hash/sha.h, and what begins a message there
 *   WORD, STORE_WORD         the type of a word of the state, and what writes one big-endian
 *   BLOCKS, LANES, LANES_OP  its two kernels in the sealed table, and the op of the second
 *   MANY                     the name of its function
 *
 * A message is one or two runs of blocks: its whole blocks where they lie, then one or two blocks
 * of padding that are made for it. Each step hashes as many blocks of every busy lane as the shortest
 * run of them has, and a lane whose message ends takes the next one: a long message keeps one lane busy
 * and holds up no other. When the messages run out and fewer lanes than the row's min_fill are left, the
 * single-stream kernel finishes them one by one.
 */
#include <string.h>

#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "hash/many.h"
#include "hash/padding.h"
#include "hash/sha.h"
#include "portable/portable.h"

enum {
  WORDS = sizeof((CONTEXT *)0)->state / sizeof(WORD),
  BLOCK_BYTES = sizeof((CONTEXT *)0)->buffer,
  LENGTH_AT = BLOCK_BYTES - 2 * (int)sizeof(WORD), /* where a last block has the length */
  DIGEST_BYTES = WORDS * (int)sizeof(WORD)
};

struct lane {
  const uint8_t *next; /* of the run */
  size_t blocks;       /* left in the run; 0: the lane is idle */
  size_t tail_blocks;  /* of padding to come after the run */
  uint8_t *digest;
  uint64_t
      tail_holds; /* the length that the tail is the padding of, if it is padding alone; or 0 */
  uint8_t tail[2 * BLOCK_BYTES];
};

struct work {
  struct fc_batch *batch;
  size_t at, end; /* messages taken from the batch and not yet begun */
  size_t lane_count;
  WORD state[WORDS * FC_MAX_LANES];
  WORD start[WORDS * FC_MAX_LANES]; /* what the state is where every lane begins a message */
  struct lane lanes[FC_MAX_LANES];
};

/* As many messages at a time as there are lanes: threads share the counter. */
static int next_message(struct work *work, struct fc_message *message) {
  struct fc_batch *batch = work->batch;
  if (work->at == work->end) {
    work->at = __atomic_fetch_add(&batch->taken, work->lane_count, __ATOMIC_RELAXED);
    if (work->at >= batch->count) {
      work->at = work->end = batch->count;
      return 0;
    }
    const size_t left = batch->count - work->at;
    work->end = work->at + (left < work->lane_count ? left : work->lane_count);
  }
  const size_t i = work->at++;
  if (batch->messages != NULL) {
    *message = batch->messages[i];
    return 1;
  }
  const size_t begin = batch->offsets != NULL ? (size_t)batch->offsets[i] : i * batch->row_size;
  message->len = batch->offsets != NULL ? (size_t)batch->offsets[i + 1] - begin : batch->row_size;
  message->data = batch->data + begin;
  message->digest = batch->out + i * DIGEST_BYTES;
  return 1;
}

/* Rows of whole blocks have the same padding each time. */
static void make_tail(struct lane *lane, const uint8_t *rest, size_t n, uint64_t total) {
  lane->tail_blocks = n < LENGTH_AT ? 1 : 2;
  if (n == 0 && lane->tail_holds == total && total != 0) return;
  lane->tail_holds = n == 0 ? total : 0;
  fc_pad_block(lane->tail, BLOCK_BYTES, rest, n);
  if (n >= LENGTH_AT) memset(lane->tail + BLOCK_BYTES, 0, BLOCK_BYTES);
  fc_store_length(lane->tail + (lane->tail_blocks - 1) * BLOCK_BYTES, BLOCK_BYTES, total);
}

static void begin_tail(struct lane *lane) {
  lane->next = lane->tail;
  lane->blocks = lane->tail_blocks;
  lane->tail_blocks = 0;
}

static void begin_state(struct work *work, size_t j) {
  for (size_t at = j; at < WORDS * work->lane_count; at += work->lane_count) {
    work->state[at] = work->start[at];
  }
}

static void begin_message(struct work *work, size_t j, const struct fc_message *message) {
  struct lane *lane = &work->lanes[j];
  const size_t n = message->len % BLOCK_BYTES;
  lane->digest = message->digest;
  lane->next = message->data;
  lane->blocks = message->len / BLOCK_BYTES;
  make_tail(lane, message->data + (message->len - n), n, work->batch->start_bytes + message->len);
  if (lane->blocks == 0) begin_tail(lane);
}

static void end_message(const struct lane *lane, const WORD *state, size_t stride) {
  for (size_t i = 0; i < WORDS; i++) {
    STORE_WORD(lane->digest + i * sizeof(WORD), state[i * stride]);
  }
}

/* One call of the kernel; lanes whose message ended are idle after it. How many are busy. */
static size_t step(struct work *work) {
  const uint8_t *data[FC_MAX_LANES];
  const size_t lane_count = work->lane_count;
  struct lane *lanes = work->lanes, *any = NULL;
  size_t blocks = SIZE_MAX, busy = 0;
  for (size_t j = 0; j < lane_count; j++) {
    if (lanes[j].blocks == 0 || lanes[j].blocks > blocks) continue;
    any = &lanes[j];
    blocks = any->blocks;
  }
  for (size_t j = 0; j < lane_count; j++) {
    data[j] = lanes[j].blocks != 0 ? lanes[j].next : any->next;
  }
  LANES(work->state, data, blocks);
  for (size_t j = 0; j < lane_count; j++) {
    if (lanes[j].blocks == 0) continue;
    lanes[j].next += blocks * BLOCK_BYTES;
    lanes[j].blocks -= blocks;
    if (lanes[j].blocks == 0 && lanes[j].tail_blocks != 0) begin_tail(&lanes[j]);
    if (lanes[j].blocks == 0) end_message(&lanes[j], work->state + j, lane_count);
    busy += lanes[j].blocks != 0;
  }
  return busy;
}

static void finish_alone(struct work *work, size_t j) {
  struct lane *lane = &work->lanes[j];
  WORD state[WORDS];
  for (size_t i = 0; i < WORDS; i++) state[i] = work->state[i * work->lane_count + j];
  BLOCKS(state, lane->next, lane->blocks);
  if (lane->tail_blocks != 0) BLOCKS(state, lane->tail, lane->tail_blocks);
  lane->blocks = 0;
  end_message(lane, state, 1);
  fc_wipe(state, sizeof state);
}

_Static_assert(sizeof(struct work) <= sizeof(struct fc_many_scratch), "many.h");

void MANY(struct fc_batch *batch, struct fc_many_scratch *scratch) {
  const struct fc_row *row = FC_TABLE.chosen[LANES_OP];
  CONTEXT fresh;
  INIT(&fresh);
  const WORD *start = batch->start != NULL ? batch->start : fresh.state;
  struct work *work = (struct work *)(void *)scratch;
  struct fc_message message;
  work->batch = batch;
  work->at = work->end = 0;
  work->lane_count = row->lanes;
  for (size_t k = 0; k < WORDS * row->lanes; k++) work->start[k] = start[k / row->lanes];
  for (size_t j = 0; j < row->lanes; j++) {
    work->lanes[j].blocks = 0;
    work->lanes[j].tail_holds = 0;
  }
  for (size_t busy = 0;;) {
    /* Messages of one length begin together: their states are one copy, in stores that the kernel's
     * loads can be forwarded from. */
    const int all_begin = busy == 0;
    if (all_begin) memcpy(work->state, work->start, WORDS * sizeof(WORD) * row->lanes);
    busy = 0;
    for (size_t j = 0; j < row->lanes; j++) {
      if (work->lanes[j].blocks == 0 && next_message(work, &message)) {
        if (!all_begin) begin_state(work, j);
        begin_message(work, j, &message);
      }
      busy += work->lanes[j].blocks != 0;
    }
    if (busy == 0) break;
    if (busy >= row->min_fill) {
      busy = step(work);
      continue;
    }
    for (size_t j = 0; j < row->lanes; j++) {
      if (work->lanes[j].blocks != 0) finish_alone(work, j);
    }
    busy = 0;
  }
  fc_wipe(work->state, sizeof work->state + sizeof work->start);
  fc_wipe(work->lanes, sizeof work->lanes[0] * row->lanes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel wants chains of one length. Every lane has a message; all run for as long as the
 * shortest lasts, and the lanes that are done by then take the next messages. So lanes stand empty
 * only at the end, when there is nothing left to take.
 */
#include "aes/cbc_many.h"

#include "cpu/dispatch.h"

/* Several groups for a kernel of 8 lanes, one for the widest that there is. */
enum { LANES = 32 };

struct lanes {
  struct fc_cbc_chain chains[LANES];
  size_t left[LANES]; /* blocks */
  size_t used;
};

static void take(struct lanes *lanes, struct fc_cbc_message *message) {
  if (message->nblocks == 0) return;
  lanes->chains[lanes->used] = (struct fc_cbc_chain){message->iv, message->in, message->out};
  lanes->left[lanes->used++] = message->nblocks;
}

static size_t shortest(const struct lanes *lanes) {
  size_t least = lanes->left[0];
  for (size_t i = 1; i < lanes->used; i++) {
    if (lanes->left[i] < least) least = lanes->left[i];
  }
  return least;
}

/* nblocks of every lane are done; those that have no more are given up, the last ones move there. */
static void advance(struct lanes *lanes, size_t nblocks) {
  for (size_t i = lanes->used; i-- > 0;) {
    lanes->chains[i].in += 16 * nblocks;
    lanes->chains[i].out += 16 * nblocks;
    lanes->left[i] -= nblocks;
    if (lanes->left[i] != 0) continue;
    lanes->used--;
    lanes->chains[i] = lanes->chains[lanes->used];
    lanes->left[i] = lanes->left[lanes->used];
  }
}

void fc_cbc_encrypt_messages(const struct fc_aes_key *key, struct fc_cbc_message *messages,
                             size_t n) {
  struct lanes lanes = {.used = 0};
  for (size_t next = 0;;) {
    while (lanes.used < LANES && next < n) take(&lanes, &messages[next++]);
    if (lanes.used == 0) return;
    const size_t nblocks = shortest(&lanes);
    FC_TABLE.aes.cbc_encrypt_many(key, lanes.chains, lanes.used, nblocks);
    advance(&lanes, nblocks);
  }
}

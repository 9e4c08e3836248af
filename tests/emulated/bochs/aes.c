/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test of an AES suite: each function on guarded buffers against the portable suite, which has
 * a key of its own, since the layouts differ.
 */
#include <string.h>

#include "ops.h"
#include "runtime.h"

enum {
  MAX_LENGTH = 300,
  MAX_LENGTH_HERE_ALONE = 600,
  BUFFER = 2400,
  MAX_SHORT_AAD = 40,
  MAX_AAD = 600,
  MAX_CHAINS = 20
};

/* The argument lists of the functions, with `len` in blocks or bytes. */
enum shape {
  NONE,      /* tested as part of making a key */
  BLOCKS,    /* key, in, out, blocks */
  CHAINED,   /* key, iv or tweak, in, out, blocks */
  CHAINS,    /* key, chains, their number, blocks of each */
  STREAM,    /* key, counter, in, out, bytes */
  AEAD_PART, /* gcm key, counter, y, in, out, bytes */
  GHASH,     /* ghash key, y, in, bytes */
  MESSAGE    /* gcm key, message */
};

static const enum shape shapes[FC_AES_FUNCTION_COUNT] = {
    [FC_AES_expand_key] = NONE,
    [FC_AES_ghash_key] = NONE,
    [FC_AES_ecb_encrypt] = BLOCKS,
    [FC_AES_ecb_decrypt] = BLOCKS,
    [FC_AES_cbc_encrypt] = CHAINED,
    [FC_AES_cbc_decrypt] = CHAINED,
    [FC_AES_cbc_encrypt_many] = CHAINS,
    [FC_AES_ctr] = STREAM,
    [FC_AES_xts_encrypt] = CHAINED,
    [FC_AES_xts_decrypt] = CHAINED,
    [FC_AES_ghash] = GHASH,
    [FC_AES_gcm_encrypt] = AEAD_PART,
    [FC_AES_gcm_decrypt] = AEAD_PART,
    [FC_AES_gcm_seal] = MESSAGE,
    [FC_AES_gcm_open] = MESSAGE,
};

static int takes_blocks(enum shape shape) {
  return shape == BLOCKS || shape == CHAINED || shape == CHAINS;
}

/* How many chains `len` bytes make: the largest divisor of their blocks, so that each count occurs. */
static size_t chain_count(size_t len) {
  size_t count = MAX_CHAINS;
  while (len / 16 % count != 0) count--;
  return count;
}

/* The operands of any function. */
struct operands {
  struct fc_gcm_key *key;
  uint8_t *chain; /* 16 bytes: iv, counter, or the j0 of a message */
  uint8_t *y;     /* 16 bytes: y, or the tag */
  uint8_t *in, *out, *aad;
  size_t len, aad_len;
  struct fc_gcm_message *message;
  struct fc_cbc_chain *chains;
  uint8_t *ivs; /* 16 bytes for each chain */
};

static uint64_t call_function(const struct fc_row *row, enum fc_aes_function f,
                              enum stack_size stack, const uint64_t *args, size_t count) {
  return call_checked(row->kernels[f].symbol, row->kernels[f].fn, stack, args, count);
}

static void apply(const struct fc_row *row, enum fc_aes_function f, enum stack_size stack,
                  const struct operands *o) {
  const uint64_t aes = PTR(&o->key->aes), ghash = PTR(&o->key->ghash), gcm = PTR(o->key);
  const uint64_t chain = PTR(o->chain), y = PTR(o->y), in = PTR(o->in), out = PTR(o->out);
  const uint64_t len = o->len, count = chain_count(o->len);
  const struct {
    uint64_t args[6];
    size_t count;
  } lists[] = {
      [BLOCKS] = {{aes, in, out, len / 16}, 4},
      [CHAINED] = {{aes, chain, in, out, len / 16}, 5},
      [STREAM] = {{aes, chain, in, out, len}, 5},
      [AEAD_PART] = {{gcm, chain, y, in, out, len}, 6},
      [GHASH] = {{ghash, y, in, len}, 4},
      [MESSAGE] = {{gcm, PTR(o->message)}, 2},
      [CHAINS] = {{aes, PTR(o->chains), count, len / 16 / count}, 4},
  };
  *o->message = (struct fc_gcm_message){o->chain, o->aad, o->aad_len, o->in, o->out, len, o->y};
  for (size_t i = 0; i < count; i++) {
    const size_t at = len / count * i;
    o->chains[i] = (struct fc_cbc_chain){o->ivs + 16 * i, o->in + at, o->out + at};
  }
  call_function(row, f, stack, lists[shapes[f]].args, lists[shapes[f]].count);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static struct {
  struct fc_gcm_key row, reference;
} keys;

/* The key schedule and the GHASH key of one suite, at guard pages. */
static void make_key(const struct fc_row *row, struct fc_gcm_key *key, const uint8_t *bytes,
                     size_t key_len) {
  struct fc_aes_key *aes = (void *)guard_alloc(sizeof *aes, GUARD_AFTER);
  struct fc_ghash_key *ghash = (void *)guard_alloc(sizeof *ghash, GUARD_AFTER);
  uint8_t *k = guard_alloc(key_len, GUARD_AFTER), *h = guard_alloc(16, GUARD_BEFORE);
  memcpy(k, bytes, key_len);
  memset(aes, 0xee, sizeof *aes);
  memset(ghash, 0xee, sizeof *ghash);
  const uint64_t expand[] = {PTR(aes), PTR(k), key_len};
  const uint64_t encrypt[] = {PTR(aes), PTR(h), PTR(h), 1};
  const uint64_t derive[] = {PTR(ghash), PTR(h)};
  call_function(row, FC_AES_expand_key, STACK_KERNEL, expand, 3);
  call_function(row, FC_AES_ecb_encrypt, STACK_KERNEL, encrypt, 4);
  call_function(row, FC_AES_ghash_key, STACK_KERNEL, derive, 2);
  if (aes->rounds != key_len / 4 + 6) fail("%s: rounds", row->kernels[FC_AES_expand_key].symbol);
  key->aes = *aes;
  key->ghash = *ghash;
  guard_reset();
}

static void make_keys(const struct fc_row *row, const struct fc_row *reference, size_t key_len) {
  uint8_t bytes[32];
  random_fill(bytes, sizeof bytes);
  make_key(row, &keys.row, bytes, key_len);
  make_key(reference, &keys.reference, bytes, key_len);
  if (row->layout == reference->layout &&
      memcmp(&keys.row.aes, &keys.reference.aes, sizeof keys.row.aes) != 0) {
    fail("%s: not the portable schedule", row->kernels[FC_AES_expand_key].symbol);
  }
}

/* ---- One call of a function ------------------------------------------------------------------ */

/* The expected results, by the reference, in ordinary memory. */
static struct {
  uint8_t chain[16], y[16], in[BUFFER], out[BUFFER], aad[MAX_AAD];
  struct fc_gcm_message message;
  struct fc_cbc_chain chains[MAX_CHAINS];
  uint8_t ivs[16 * MAX_CHAINS];
} expected;

static void prepare_guarded(struct operands *o, enum guard_end end, size_t len, size_t aad_len,
                            int in_place) {
  /* Keys are aligned to 16 and their size is a multiple of 16: both ends of a page will do. */
  o->key = (void *)guard_alloc(sizeof *o->key, end);
  o->in = guard_alloc(len, end);
  o->aad = guard_alloc(aad_len, end);
  memcpy(o->key, &keys.row, sizeof *o->key);
  random_fill(o->in, len);
  random_fill(o->aad, aad_len);
  if (!in_place) guard_read_only();
  o->out = in_place ? o->in : guard_alloc(len, end);
  o->chain = guard_alloc(16, end);
  o->y = guard_alloc(16, end);
  o->message = (void *)guard_alloc(sizeof *o->message, GUARD_AFTER);
  o->chains = (void *)guard_alloc(chain_count(len) * sizeof *o->chains, GUARD_AFTER);
  o->ivs = guard_alloc(16 * chain_count(len), end);
  random_fill(o->ivs, 16 * chain_count(len));
  random_fill(o->chain, 16);
  random_fill(o->y, 16);
  /* Half of the counters carry soon, some through all bytes. */
  if ((random_word() & 1) != 0) memset(o->chain + (random_word() & 15), 0xff, 1);
  if ((random_word() & 1) != 0) memset(o->chain + 1 + (random_word() & 7), 0xff, 7);
  if ((random_word() & 3) == 0) memset(o->chain, 0xff, 15);
  o->len = len;
  o->aad_len = aad_len;
}

static void test_function(const struct fc_row *row, const struct fc_row *reference,
                          enum fc_aes_function f, size_t len, size_t aad_len, enum guard_end end,
                          int in_place) {
  const char *symbol = row->kernels[f].symbol;
  struct operands o;
  prepare_guarded(&o, end, len, aad_len, in_place);
  const struct operands e = {&keys.reference,   expected.chain,  expected.y,  expected.in,
                             expected.out,      expected.aad,    len,         aad_len,
                             &expected.message, expected.chains, expected.ivs};
  memcpy(e.chain, o.chain, 16);
  memcpy(e.y, o.y, 16);
  memcpy(e.in, o.in, len);
  memcpy(e.aad, o.aad, aad_len);
  memcpy(e.ivs, o.ivs, 16 * chain_count(len));
  memcpy(e.out, o.out, len);
  apply(reference, f, STACK_LARGE, &e);
  apply(row, f, STACK_KERNEL, &o);
  const uint8_t *out = shapes[f] == GHASH && in_place ? expected.in : e.out;
  if (memcmp(o.out, out, len) != 0) {
    fail("%s: not the portable output for %u bytes", symbol, (uint64_t)len);
  }
  if (memcmp(o.y, e.y, 16) != 0) {
    fail("%s: not the portable y or tag for %u bytes, %u of aad", symbol, (uint64_t)len,
         (uint64_t)aad_len);
  }
  if (memcmp(o.chain, e.chain, 16) != 0) {
    fail("%s: not the portable counter, iv or tweak for %u bytes", symbol, (uint64_t)len);
  }
  if (memcmp(o.ivs, e.ivs, 16 * chain_count(len)) != 0) {
    fail("%s: not the portable ivs for %u bytes", symbol, (uint64_t)len);
  }
  guard_reset();
}

static void test_function_residue(const struct fc_row *row, enum fc_aes_function f, size_t len,
                                  size_t key_len) {
  const size_t aad_len = len % MAX_SHORT_AAD;
  uint8_t counter[16], bytes[32];
  struct operands o;
  random_fill(counter, 16);
  for (unsigned pass = 0; pass < 2; pass++) {
    random_fill(bytes, key_len);
    make_key(row, &keys.row, bytes, key_len);
    prepare_guarded(&o, GUARD_AFTER, len, aad_len, 0);
    if (shapes[f] != CHAINED) memcpy(o.chain, counter, 16);
    apply(row, f, STACK_KERNEL, &o);
    guard_reset();
    if (pass == 0) residue_remember();
  }
  residue_check(row->kernels[f].symbol, 0);
}

static void test_key_residue(const struct fc_row *row, enum fc_aes_function f, size_t key_len) {
  for (unsigned pass = 0; pass < 2; pass++) {
    uint8_t *bytes = guard_alloc(32, GUARD_AFTER);
    void *key = guard_alloc(sizeof(struct fc_gcm_key), GUARD_AFTER);
    const uint64_t args[] = {PTR(key), PTR(bytes), key_len};
    random_fill(bytes, 32);
    call_function(row, f, STACK_KERNEL, args, f == FC_AES_expand_key ? 3 : 2);
    guard_reset();
    if (pass == 0) residue_remember();
  }
  residue_check(row->kernels[f].symbol, 0);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Long enough for every bulk loop, with and without a rest. Each meets one key length. */
static const size_t long_lengths[] = {512, 768, 1008, 1024, 1040, 1279, 2048, 2304, 2305};
#define LONG_LENGTHS (sizeof long_lengths / sizeof long_lengths[0])

/* Paths of a kernel: short, a rest, one bulk turn, several. */
static const size_t residue_lengths[] = {1, 16, 33, 100, 128, 256, 300, 1040};
#define RESIDUE_LENGTHS (sizeof residue_lengths / sizeof residue_lengths[0])

/* One in eight is long. */
static size_t random_aad_length(void) {
  return random_word() % (((random_word() >> 20 & 7) == 0 ? MAX_AAD : MAX_SHORT_AAD) + 1u);
}

static void test_one_length(const struct fc_row *row, const struct fc_row *reference, size_t len) {
  for (enum fc_aes_function f = 0; f < FC_AES_FUNCTION_COUNT; f++) {
    const enum guard_end end = random_word() >> 20 & 1 ? GUARD_AFTER : GUARD_BEFORE;
    const int in_place = (random_word() >> 20 & 1) != 0;
    if (shapes[f] == NONE || (takes_blocks(shapes[f]) && len % 16 != 0)) continue;
    test_function(row, reference, f, len, random_aad_length(), end, in_place);
    if (takes_blocks(shapes[f])) {
      test_function(row, reference, f, len, 0, end == GUARD_AFTER ? GUARD_BEFORE : GUARD_AFTER,
                    !in_place);
    }
  }
}

static void test_residues(const struct fc_row *row, size_t len, size_t key_len) {
  for (enum fc_aes_function f = 0; f < FC_AES_FUNCTION_COUNT; f++) {
    if (shapes[f] != NONE) test_function_residue(row, f, len, key_len);
  }
}

/* Rows for AVX-512 run nowhere else, and their batches are longer. */
static size_t max_length(const struct fc_row *row) {
  return (row->features & FC_F(AVX512F)) != 0 ? MAX_LENGTH_HERE_ALONE : MAX_LENGTH;
}

void test_aes(const struct fc_row *row, const struct fc_row *reference) {
  static const size_t key_lengths[] = {16, 24, 32};
  for (size_t k = 0; k < 3; k++) {
    make_keys(row, reference, key_lengths[k]);
    /* Whole blocks with every key length, other lengths with one of the three each. */
    for (size_t len = 0; len <= max_length(row); len++) {
      if (len % 16 == 0 || len % 3 == k) test_one_length(row, reference, len);
    }
    for (size_t i = k; i < LONG_LENGTHS; i += 3) test_one_length(row, reference, long_lengths[i]);
    test_key_residue(row, FC_AES_expand_key, key_lengths[k]);
    test_key_residue(row, FC_AES_ghash_key, key_lengths[k]);
    for (size_t i = 0; i < RESIDUE_LENGTHS; i++)
      test_residues(row, residue_lengths[i], key_lengths[k]);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/detect.h"

/* ---- ops.def as arrays ----------------------------------------------------------------------- */

#define N HARNESS_N
#define AAD_LEN HARNESS_AAD_LEN
#define KEY_LEN HARNESS_KEY_LEN
#define CHAINS_LEN HARNESS_CHAINS_LEN
#define IVS_LEN HARNESS_IVS_LEN
#define LANES_N HARNESS_LANES_N
#define PER_LANE HARNESS_PER_LANE
#define OPERAND(name, size, direction, secrecy, kind, alignment) \
  {#name, size, HARNESS_##direction, HARNESS_##secrecy, HARNESS_##kind, alignment},
#define POINTER(k) k,
#define BYTES HARNESS_BYTES,
#define BLOCKS HARNESS_BLOCKS,
#define KEY_LENGTH HARNESS_KEY_LENGTH,
#define CHAIN_COUNT HARNESS_CHAIN_COUNT,
#define CHAIN_BLOCKS HARNESS_CHAIN_BLOCKS,
static const struct harness_op ops[FC_OP_COUNT] = {
#define OP(op, unit, result, OPERANDS, WORDS)                                                    \
  [FC_OP_##op] = {#op,                                                                           \
                  unit,                                                                          \
                  HARNESS_##result,                                                              \
                  sizeof((struct harness_operand[]){OPERANDS}) / sizeof(struct harness_operand), \
                  {OPERANDS},                                                                    \
                  sizeof((int[]){WORDS}) / sizeof(int),                                          \
                  {WORDS}},
#define AES_OP(function, unit, result, OPERANDS, WORDS)
#include "ops.def"
#undef OP
#undef AES_OP
};

static const struct harness_op aes_ops[FC_AES_FUNCTION_COUNT] = {
#define OP(op, unit, result, OPERANDS, WORDS)
#define AES_OP(function, unit, result, OPERANDS, WORDS)                                           \
  [FC_AES_##                                                                                      \
      function] = {"aes_" #function,                                                              \
                   unit,                                                                          \
                   HARNESS_##result,                                                              \
                   sizeof((struct harness_operand[]){OPERANDS}) / sizeof(struct harness_operand), \
                   {OPERANDS},                                                                    \
                   sizeof((int[]){WORDS}) / sizeof(int),                                          \
                   {WORDS}},
#include "ops.def"
#undef OP
#undef AES_OP
};

/* ---- Targets --------------------------------------------------------------------------------- */

static void name_target(struct harness_target *target) {
  const char *symbol = target->kernel->symbol;
  const char *isa = target->row->name;
  const size_t symbol_len = strlen(symbol), isa_len = strlen(isa);
  const int own = symbol_len > isa_len && symbol[symbol_len - isa_len - 1] == '_' &&
                  strcmp(symbol + symbol_len - isa_len, isa) == 0;
  snprintf(target->id, sizeof target->id, own ? "%s" : "%s@%s", symbol, isa);
}

struct harness_target *harness_targets(const struct fc_row *rows, size_t row_count, size_t *count) {
  struct harness_target *targets = calloc(row_count * FC_AES_FUNCTION_COUNT, sizeof *targets);
  *count = 0;
  for (size_t i = 0; i < row_count; i++) {
    for (size_t j = 0; j < fc_row_kernel_count(&rows[i]); j++) {
      const struct harness_op *op = rows[i].op == FC_OP_aes ? &aes_ops[j] : &ops[rows[i].op];
      if (rows[i].kernels[j].symbol == NULL) continue;
      struct harness_target *target = &targets[(*count)++];
      target->row = &rows[i];
      target->index = j;
      target->kernel = &rows[i].kernels[j];
      target->op = op;
      name_target(target);
      if (op->name == NULL) {
        fprintf(stderr, "ops.def does not describe the op of %s\n", target->id);
        exit(2);
      }
    }
  }
  return targets;
}

struct harness_target *harness_all_targets(size_t *count) {
  if (harness_options.planted) {
    return harness_targets(harness_planted_rows, harness_planted_row_count, count);
  }
  return harness_targets(fc_rows, fc_row_count, count);
}

const char *harness_not_runnable(const struct harness_target *target) {
  static char reason[128];
  if (target->kernel->fn == NULL) return "not built";
  const fc_features missing = target->row->features & ~fc_cpu_detect();
  if (missing == 0) return NULL;
  for (size_t f = 0; f < FC_FEATURE_COUNT; f++) {
    if (missing >> f & 1) {
      snprintf(reason, sizeof reason, "this CPU lacks %s", fc_feature_infos[f].name);
      break;
    }
  }
  return reason;
}

static int has_size(const struct harness_op *op, size_t size) {
  for (size_t k = 0; k < op->operand_count; k++) {
    if (op->operands[k].size == size) return 1;
  }
  return 0;
}

int harness_has_n(const struct harness_op *op) {
  return has_size(op, HARNESS_N) || has_size(op, HARNESS_LANES_N);
}

int harness_has_aad(const struct harness_op *op) { return has_size(op, HARNESS_AAD_LEN); }

int harness_has_key_len(const struct harness_op *op) {
  for (size_t k = 0; k < op->operand_count; k++) {
    const enum harness_kind kind = op->operands[k].kind;
    if (kind == HARNESS_AES_KEY || kind == HARNESS_GCM_KEY) return 1;
  }
  return 0;
}

static int operand_by_direction(const struct harness_op *op, enum harness_direction direction) {
  for (size_t k = 0; k < op->operand_count; k++) {
    if (op->operands[k].direction == direction) return (int)k;
  }
  return -1;
}

int harness_has_in_place(const struct harness_op *op) {
  return operand_by_direction(op, HARNESS_OUT) >= 0;
}

int harness_operand_index(const struct harness_op *op, const char *name) {
  for (size_t k = 0; k < op->operand_count; k++) {
    if (strcmp(op->operands[k].name, name) == 0) return (int)k;
  }
  return -1;
}

int harness_points(const struct harness_operand *operand) {
  return operand->kind == HARNESS_MESSAGE || operand->kind == HARNESS_CHAINS ||
         operand->kind == HARNESS_LANE_POINTERS;
}

int harness_pointers_index(const struct harness_op *op) {
  for (size_t k = 0; k < op->operand_count; k++) {
    if (harness_points(&op->operands[k])) return (int)k;
  }
  return -1;
}

size_t harness_chain_count(size_t n) {
  const size_t nblocks = n / 16;
  size_t count = 20;
  if (nblocks == 0) return 3;
  while (nblocks % count != 0) count--;
  return count;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

size_t harness_size(const struct harness_call *call, size_t k) {
  const size_t size = call->target->op->operands[k].size;
  if (size == HARNESS_N) return call->sizes.n;
  if (size == HARNESS_AAD_LEN) return call->sizes.aad_len;
  if (size == HARNESS_KEY_LEN) return call->sizes.key_len;
  const size_t chains = harness_chain_count(call->sizes.n);
  if (size == HARNESS_CHAINS_LEN) return chains * sizeof(struct fc_cbc_chain);
  if (size == HARNESS_IVS_LEN) return chains * 16;
  const size_t lanes = call->target->row->lanes, n = call->sizes.n;
  if (size == HARNESS_LANES_N) return n == 0 ? 0 : n + (lanes - 1) * HARNESS_LANE_STEP;
  if (size >= HARNESS_PER_LANE(0)) return (size - HARNESS_PER_LANE(0)) * lanes;
  return size;
}

/* splitmix64: a fixed sequence per seed. */
void harness_random(void *context, const char *name, uint8_t *p, size_t len) {
  uint64_t *state = context;
  (void)name;
  for (size_t i = 0; i < len; i += 8) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    z ^= z >> 31;
    memcpy(p + i, &z, len - i < 8 ? len - i : 8);
  }
}

void harness_constant(void *context, const char *name, uint8_t *p, size_t len) {
  (void)name;
  if (len != 0) memset(p, *(const uint8_t *)context, len);
}

static fc_any_fn *suite_function(const struct harness_target *target, enum fc_aes_function f) {
  return target->row->kernels[f].fn;
}

static int prepare_aes(const struct harness_target *target, struct fc_aes_key *key,
                       const uint8_t *bytes, size_t key_len) {
  fc_aes_expand_key_fn *expand = (fc_aes_expand_key_fn *)suite_function(target, FC_AES_expand_key);
  if (expand == NULL) return -1;
  expand(key, bytes, key_len);
  return 0;
}

static int prepare_ghash(const struct harness_target *target, struct fc_ghash_key *ghash,
                         const uint8_t h[16]) {
  fc_aes_ghash_key_fn *make = (fc_aes_ghash_key_fn *)suite_function(target, FC_AES_ghash_key);
  if (make == NULL) return -1;
  make(ghash, h);
  return 0;
}

static int prepare_gcm(const struct harness_target *target, struct fc_gcm_key *key,
                       const uint8_t *bytes, size_t key_len) {
  fc_aes_ecb_encrypt_fn *ecb = (fc_aes_ecb_encrypt_fn *)suite_function(target, FC_AES_ecb_encrypt);
  uint8_t h[16] = {0};
  if (ecb == NULL || prepare_aes(target, &key->aes, bytes, key_len) != 0) return -1;
  ecb(&key->aes, h, h, 1);
  return prepare_ghash(target, &key->ghash, h);
}

/* The message's pointers lead to the operands after it: j0, aad, in, out, tag. */
static void fill_message(struct harness_call *call, size_t k) {
  struct fc_gcm_message message;
  memset(&message, 0, sizeof message);
  message.j0 = call->at[k + 1];
  message.aad = call->at[k + 2];
  message.aad_len = call->sizes.aad_len;
  message.in = call->at[k + 3];
  message.out = call->at[k + 4];
  message.len = call->sizes.n;
  message.tag = call->at[k + 5];
  memcpy(call->at[k], &message, sizeof message);
}

/* The chains lie side by side in the operands after them: ivs, in, out. */
static void fill_chains(struct harness_call *call, size_t k) {
  const size_t count = harness_chain_count(call->sizes.n), bytes = call->sizes.n / count;
  for (size_t i = 0; i < count; i++) {
    struct fc_cbc_chain chain = {call->at[k + 1] + 16 * i, call->at[k + 2], call->at[k + 3]};
    if (bytes != 0) chain.in += bytes * i, chain.out += bytes * i;
    memcpy(call->at[k] + i * sizeof chain, &chain, sizeof chain);
  }
}

/* Which lane has the first bytes of the operand and which the last: others with each length. */
static void fill_lanes(struct harness_call *call, size_t k) {
  const size_t lanes = call->target->row->lanes, first = call->sizes.n / call->target->op->unit;
  const uint8_t *data[FC_MAX_LANES];
  for (size_t j = 0; j < lanes; j++) {
    /* As numbers: the operand may be empty and at NULL. */
    data[j] =
        (const uint8_t *)((uintptr_t)call->at[k + 1] + (first + j) % lanes * HARNESS_LANE_STEP);
  }
  memcpy(call->at[k], data, lanes * sizeof data[0]);
}

void harness_fill_pointers(struct harness_call *call, size_t k) {
  if (call->target->op->operands[k].kind == HARNESS_MESSAGE) fill_message(call, k);
  if (call->target->op->operands[k].kind == HARNESS_CHAINS) fill_chains(call, k);
  if (call->target->op->operands[k].kind == HARNESS_LANE_POINTERS) fill_lanes(call, k);
}

static int fill_operand(struct harness_call *call, size_t k, harness_source_fn *source,
                        void *context) {
  const struct harness_operand *operand = &call->target->op->operands[k];
  uint8_t raw[32];
  switch (operand->kind) {
    case HARNESS_RAW:
      source(context, operand->name, call->at[k], harness_size(call, k));
      return 0;
    case HARNESS_AES_KEY:
      source(context, "key", raw, call->sizes.key_len);
      return prepare_aes(call->target, (void *)call->at[k], raw, call->sizes.key_len);
    case HARNESS_GHASH_KEY:
      source(context, "h", raw, 16);
      return prepare_ghash(call->target, (void *)call->at[k], raw);
    case HARNESS_GCM_KEY:
      source(context, "key", raw, call->sizes.key_len);
      return prepare_gcm(call->target, (void *)call->at[k], raw, call->sizes.key_len);
    case HARNESS_MESSAGE:
    case HARNESS_CHAINS:
    case HARNESS_LANE_POINTERS:
      harness_fill_pointers(call, k);
      return 0;
  }
  return -1;
}

int harness_fill(struct harness_call *call, harness_source_fn *source, void *context) {
  const struct harness_op *op = call->target->op;
  for (size_t k = 0; k < op->operand_count; k++) {
    const enum harness_direction direction = op->operands[k].direction;
    if (direction == HARNESS_OUTPUT || direction == HARNESS_OUT) continue;
    if (fill_operand(call, k, source, context) != 0) return -1;
  }
  return 0;
}

void harness_set_words(struct harness_call *call) {
  const struct harness_op *op = call->target->op;
  for (size_t i = 0; i < HARNESS_MAX_WORDS; i++) {
    const int word = i < op->word_count ? op->words[i] : 0;
    if (i >= op->word_count) {
      call->words[i] = 0x5a5a5a5a5a5a5a5b; /* no argument: must not matter */
    } else if (word == HARNESS_BYTES) {
      call->words[i] = call->sizes.n;
    } else if (word == HARNESS_BLOCKS) {
      call->words[i] = call->sizes.n / op->unit;
    } else if (word == HARNESS_KEY_LENGTH) {
      call->words[i] = call->sizes.key_len;
    } else if (word == HARNESS_CHAIN_COUNT) {
      call->words[i] = harness_chain_count(call->sizes.n);
    } else if (word == HARNESS_CHAIN_BLOCKS) {
      call->words[i] = call->sizes.n / op->unit / harness_chain_count(call->sizes.n);
    } else {
      call->words[i] = (uintptr_t)call->at[word];
    }
  }
}

uint64_t harness_invoke(fc_any_fn *fn, const uint64_t words[HARNESS_MAX_WORDS]) {
  typedef uint64_t six_words(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
  return ((six_words *)fn)(words[0], words[1], words[2], words[3], words[4], words[5]);
}

int harness_run(struct harness_call *call) {
  harness_set_words(call);
  const uint64_t result = harness_invoke(call->target->kernel->fn, call->words);
  return call->target->op->result == HARNESS_NONE ? 0 : (int)(uint32_t)result;
}

size_t harness_secret_ranges(const struct harness_call *call, size_t k,
                             struct harness_range ranges[2]) {
  const struct harness_operand *operand = &call->target->op->operands[k];
  if (operand->secrecy == HARNESS_PUBLIC) return 0;
  ranges[0] = (struct harness_range){0, harness_size(call, k)};
  if (operand->kind != HARNESS_AES_KEY && operand->kind != HARNESS_GCM_KEY) return 1;
  ranges[0].len = FC_AES_SCHEDULE_BYTES; /* the number of rounds after it is public */
  if (operand->kind == HARNESS_AES_KEY) return 1;
  ranges[1] = (struct harness_range){offsetof(struct fc_gcm_key, ghash), FC_GHASH_KEY_BYTES};
  return 2;
}

void harness_place_plainly(struct harness_call *call) {
  static _Alignas(4096) uint8_t places[HARNESS_MAX_OPERANDS][HARNESS_PLAIN_MAX];
  for (size_t k = 0; k < HARNESS_MAX_OPERANDS; k++) call->at[k] = places[k];
}

/* ---- The report ------------------------------------------------------------------------------ */

struct harness_options harness_options;
static int any_failed;

static void list_targets(void) {
  size_t count;
  struct harness_target *targets = harness_all_targets(&count);
  for (size_t i = 0; i < count; i++) {
    const char *reason = harness_not_runnable(&targets[i]);
    if (harness_selected(&targets[i])) {
      printf("target %s %s\n", targets[i].id, reason == NULL ? "runnable" : reason);
    }
  }
  free(targets);
}

void harness_parse(int argc, char **argv) {
  int list = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0) {
      harness_options.json = 1;
    } else if (strcmp(argv[i], "--quick") == 0) {
      harness_options.quick = 1;
    } else if (strcmp(argv[i], "--planted") == 0) {
      harness_options.planted = 1;
    } else if (strcmp(argv[i], "--list") == 0) {
      list = 1;
    } else if (strcmp(argv[i], "--row") == 0 && i + 1 < argc) {
      harness_options.row = argv[++i];
    } else if (strcmp(argv[i], "--op") == 0 && i + 1 < argc) {
      harness_options.op = argv[++i];
    } else {
      fprintf(stderr, "usage: %s [--row NAME] [--op OP] [--json] [--quick] [--planted] [--list]\n",
              argv[0]);
      exit(2);
    }
  }
  if (list) {
    list_targets();
    exit(0);
  }
}

int harness_selected(const struct harness_target *target) {
  const char *row = harness_options.row, *op = harness_options.op;
  if (row != NULL && strcmp(row, target->id) != 0 && strcmp(row, target->kernel->symbol) != 0 &&
      strcmp(row, target->row->name) != 0) {
    return 0;
  }
  return op == NULL || strcmp(op, target->op->name) == 0 ||
         strcmp(op, fc_op_names[target->row->op]) == 0;
}

/* Details are our own text: quotes and backslashes do not occur in them. */
void harness_report(enum harness_status status, const char *id, const char *check,
                    const char *format, ...) {
  static const char *const words[] = {"pass", "fail", "undecidable"};
  char detail[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  if (status == HARNESS_FAIL) any_failed = 1;
  if (harness_options.json) {
    printf("{\"status\": \"%s\", \"symbol\": \"%s\", \"check\": \"%s\", \"detail\": \"%s\"}\n",
           words[status], id, check, detail);
  } else {
    printf("%s %s %s %s\n", words[status], id, check, detail);
  }
  fflush(stdout);
}

int harness_failed(void) { return any_failed; }

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each row against the portable one of its op, through the description of the ops in ops.def. A
 * new row comes under it by itself.
 */
#include <string.h>

#include "fuzz.h"
#include "harness.h"

enum { MAX_N = 8192, MAX_AAD = 2048 };

struct pair {
  const struct harness_target *row, *portable;
  uint16_t name; /* FNV-1a of the row's id, folded */
};
static struct pair *pairs;
static size_t pair_count;

static uint16_t hash_of(const char *id) {
  uint32_t hash = 2166136261u;
  for (; *id != '\0'; id++) hash = (hash ^ (uint8_t)*id) * 16777619u;
  return (uint16_t)(hash ^ hash >> 16);
}

/*
 * An input says by name which kernel it is for, so that a file of the corpus stays with its kernel
 * whatever rows are added: the one whose hash is the next from these two bytes on.
 */
static const struct pair *pair_of(struct fuzz_input *input) {
  const unsigned low = fuzz_byte(input), wanted = low | (unsigned)fuzz_byte(input) << 8;
  const struct pair *best = &pairs[0];
  for (size_t i = 1; i < pair_count; i++) {
    if ((uint16_t)(pairs[i].name - wanted) < (uint16_t)(best->name - wanted)) best = &pairs[i];
  }
  return best;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static struct pair found[1024];
  size_t count;
  struct harness_target *targets = harness_targets(fc_rows, fc_row_count, &count);
  (void)argc, (void)argv;
  for (size_t i = 0; i < count; i++) {
    if (harness_not_runnable(&targets[i]) != NULL) continue;
    for (size_t j = 0; j < count; j++) {
      if (strcmp(targets[j].row->name, "portable") == 0 && targets[j].op == targets[i].op &&
          j != i && pair_count < 1024) {
        found[pair_count++] = (struct pair){&targets[i], &targets[j], hash_of(targets[i].id)};
      }
    }
  }
  pairs = found;
  return 0;
}

/* The same bytes for both kernels, however often they are asked for. */
static void source(void *context, const char *name, uint8_t *p, size_t len) {
  (void)name;
  fuzz_bytes(context, p, len);
}

/* Operands at the ends of pages, shifted down by what their alignment asks. */
static void place(struct harness_call *call, size_t first, uint8_t shift, int in_place) {
  const struct harness_op *op = call->target->op;
  for (size_t k = 0; k < op->operand_count; k++) {
    const size_t size = harness_size(call, k), alignment = op->operands[k].alignment;
    call->at[k] = fuzz_place(first + k, size + (alignment == 1 ? (shift >> k) & 1 : 0));
    call->at[k] -= (uintptr_t)call->at[k] % alignment;
    if (in_place && op->operands[k].direction == HARNESS_OUT) call->at[k] = call->at[k - 1];
  }
}

/* Counters that carry into their last bytes but one, and so on: one in 2^32 of the random ones. */
static void make_carry(struct harness_call *call, uint8_t kind, uint8_t where) {
  const struct harness_op *op = call->target->op;
  const int counter = harness_operand_index(op, "counter"), j0 = harness_operand_index(op, "j0");
  uint8_t *p = counter >= 0 ? call->at[counter] : j0 >= 0 ? call->at[j0] : NULL;
  const size_t ones = kind >> 4;
  if (p == NULL || kind % 4 < 2) return;
  memset(p + 15 - ones, 0xff, ones);
  p[15] = where;
}

/* Strings that differ in nothing or in one bit say more about a compare than random ones. */
static void make_similar(struct harness_call *call, uint8_t kind, uint8_t where) {
  const size_t n = call->sizes.n;
  if (call->target->op->result != HARNESS_SECRET || n == 0 || kind % 4 == 0) return;
  memcpy(call->at[1], call->at[0], n);
  if (kind % 4 != 1) call->at[1][(n - 1) * where / 255] ^= (uint8_t)(1u << (kind >> 5));
}

static int is_output(const struct harness_operand *operand) {
  return operand->direction == HARNESS_OUTPUT || operand->direction == HARNESS_OUT ||
         operand->direction == HARNESS_INOUT;
}

/* A kernel of several lanes against the portable one, which has one: lane by lane, from the states
 * before the call. A word is as long as the state's alignment. */
static void compare_lanes(const struct pair *pair, const struct harness_call *call,
                          const uint8_t *before) {
  const struct harness_op *op = call->target->op;
  const size_t lanes = pair->row->row->lanes, word = op->operands[0].alignment;
  const size_t bytes = harness_size(call, 0) / lanes;
  const uint8_t *data[FC_MAX_LANES];
  memcpy(data, call->at[1], lanes * sizeof data[0]);
  for (size_t j = 0; j < lanes; j++) {
    _Alignas(8) uint8_t right[64], found[64];
    for (size_t i = 0; i < bytes / word; i++) {
      memcpy(right + i * word, before + (i * lanes + j) * word, word);
      memcpy(found + i * word, call->at[0] + (i * lanes + j) * word, word);
    }
    ((fc_lanes_fn *)pair->portable->kernel->fn)(right, &data[j], call->sizes.n / op->unit);
    fuzz_same(pair->row->id, found, right, bytes);
  }
}

static void fuzz_lanes(const struct pair *pair, struct harness_call *call, struct fuzz_input *input,
                       uint8_t shift) {
  uint8_t before[8 * 8 * FC_MAX_LANES];
  place(call, 0, shift, 0);
  harness_fill(call, source, input);
  memcpy(before, call->at[0], harness_size(call, 0));
  harness_run(call);
  for (size_t k = 0; k < call->target->op->operand_count; k++) fuzz_check_before(call->at[k]);
  compare_lanes(pair, call, before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = fuzz_open(data, size);
  const struct pair *pair = pair_of(&input);
  const uint8_t flags = fuzz_byte(&input);
  const uint8_t shift = fuzz_byte(&input), where = fuzz_byte(&input);
  const struct harness_op *op = pair->row->op;
  const size_t n = fuzz_length(&input, MAX_N) / op->unit * op->unit;
  const struct harness_sizes sizes = {n, harness_has_aad(op) ? fuzz_length(&input, MAX_AAD) : 0,
                                      16 + 8 * (size_t)((flags >> 2) % 3)};
  struct harness_call calls[2] = {{.target = pair->row, .sizes = sizes},
                                  {.target = pair->portable, .sizes = sizes}};
  if (pair->row->row->lanes != 0) {
    fuzz_lanes(pair, &calls[0], &input, shift);
    return 0;
  }
  int results[2];
  for (size_t i = 0; i < 2; i++) {
    struct fuzz_input copy = input;
    place(&calls[i], i * HARNESS_MAX_OPERANDS, i == 0 ? shift : 0, i == 0 && (flags & 1));
    if (harness_fill(&calls[i], source, &copy) != 0) return 0;
    make_similar(&calls[i], flags, where);
    make_carry(&calls[i], flags, where);
    results[i] = harness_run(&calls[i]);
  }
  if (results[0] != results[1])
    fuzz_fail("%s returned %d, not %d", pair->row->id, results[0], results[1]);
  for (size_t k = 0; k < op->operand_count; k++) {
    const int own_layout = op->operands[k].kind != HARNESS_RAW;
    fuzz_check_before(calls[0].at[k]);
    if (is_output(&op->operands[k]) && !own_layout) {
      fuzz_same(pair->row->id, calls[0].at[k], calls[1].at[k], harness_size(&calls[0], k));
    }
  }
  return 0;
}

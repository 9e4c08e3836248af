/* SPDX-License-Identifier: Apache-2.0 */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Secrets -----------------------------------------------------------------------------------
 */

enum { RANDOM_PATTERNS = 16, QUICK_RANDOM_PATTERNS = 3 };

static struct pattern *add_pattern(struct patterns *patterns, enum pattern_kind kind) {
  if (patterns->count == MAX_PATTERNS) abort();
  struct pattern *p = &patterns->list[patterns->count++];
  memset(p, 0, sizeof *p);
  p->kind = kind;
  return p;
}

static const char *const place_names[] = {"first", "middle", "last"};

static void add_one_bit(struct patterns *patterns, const char *operand) {
  for (int place = FIRST; place <= LAST; place++) {
    struct pattern *p = add_pattern(patterns, ONE_BIT);
    p->operand = operand;
    p->place = (enum place)place;
    snprintf(p->name, sizeof p->name, "one bit, %s of %s", place_names[place], operand);
  }
}

static void add_differences(struct patterns *patterns) {
  struct pattern *p = add_pattern(patterns, EQUAL);
  p->seed = 1;
  strcpy(p->name, "equal operands");
  for (int place = FIRST; place <= LAST; place++) {
    for (int larger = 0; larger < 2; larger++) {
      p = add_pattern(patterns, DIFFERS);
      p->seed = 1;
      p->place = (enum place)place;
      p->operand = larger ? "b" : "a";
      snprintf(p->name, sizeof p->name, "%s larger in the %s byte", p->operand, place_names[place]);
    }
  }
}

static int is_compare(const struct harness_op *op) {
  return harness_operand_index(op, "a") >= 0 && harness_operand_index(op, "b") >= 0;
}

/* The names that harness_fill asks its source for, and that are secret. */
static size_t secret_names(const struct harness_op *op, const char *names[HARNESS_MAX_OPERANDS]) {
  size_t count = 0;
  for (size_t k = 0; k < op->operand_count; k++) {
    const struct harness_operand *o = &op->operands[k];
    if (o->secrecy != HARNESS_SECRET) continue;
    if (o->direction == HARNESS_OUTPUT || o->direction == HARNESS_OUT) continue;
    names[count++] = o->kind == HARNESS_RAW ? o->name : o->kind == HARNESS_GHASH_KEY ? "h" : "key";
  }
  return count;
}

void make_patterns(const struct harness_op *op, struct patterns *patterns) {
  const char *names[HARNESS_MAX_OPERANDS];
  const size_t name_count = secret_names(op, names);
  patterns->count = 0;
  strcpy(add_pattern(patterns, CONSTANT)->name, "all zero");
  for (uint64_t i = 0; i < (harness_options.quick ? QUICK_RANDOM_PATTERNS : RANDOM_PATTERNS); i++) {
    struct pattern *p = add_pattern(patterns, RANDOM);
    p->seed = i + 1;
    snprintf(p->name, sizeof p->name, "random secret %d", (int)i + 1);
  }
  struct pattern *ones = add_pattern(patterns, CONSTANT);
  ones->byte = 0xff;
  strcpy(ones->name, "all one");
  for (size_t i = 0; i < name_count; i++) add_one_bit(patterns, names[i]);
  if (is_compare(op)) add_differences(patterns);
}

static size_t offset_of(enum place place, size_t len) {
  return place == FIRST ? 0 : place == MIDDLE ? len / 2 : len - 1;
}

static int is_public(const struct harness_op *op, const char *name) {
  const int k = harness_operand_index(op, name);
  return k >= 0 && op->operands[k].secrecy == HARNESS_PUBLIC;
}

/* Both operands of a compare hold the same random bytes, but for one byte of one of them. */
static void fill_nearly_equal(const struct pattern *p, const char *name, uint8_t *out, size_t len) {
  uint64_t state = p->seed;
  harness_random(&state, name, out, len);
  if (p->kind != DIFFERS || len == 0) return;
  uint8_t *byte = out + offset_of(p->place, len);
  *byte = strcmp(name, p->operand) == 0 ? 0x80 : 0x7f;
}

static void fill_secret(struct pattern_source *s, const char *name, uint8_t *out, size_t len) {
  const struct pattern *p = s->pattern;
  if (p->kind == RANDOM) {
    harness_random(&s->random, name, out, len);
  } else if (p->kind == EQUAL || p->kind == DIFFERS) {
    fill_nearly_equal(p, name, out, len);
  } else {
    memset(out, p->byte, len);
    if (p->kind != ONE_BIT || len == 0 || strcmp(name, p->operand) != 0) return;
    out[offset_of(p->place, len)] = p->place == LAST ? 0x80 : 0x01;
  }
}

/*
 * Public operands are the same whatever the pattern. At odd numbers of blocks a counter wraps
 * halfway through the call: in turn as a whole and in its last byte alone.
 */
static void fill_public(const struct harness_sizes *sizes, uint8_t *out, size_t len) {
  const size_t blocks = (sizes->n + 15) / 16;
  uint64_t fixed = 0x5eed;
  harness_random(&fixed, "", out, len);
  if (blocks % 2 == 0 || len != 16) return;
  if (blocks % 4 == 1) memset(out, 0xff, len);
  out[len - 1] = (uint8_t)(0xff - blocks / 2);
}

void fill_by_pattern(void *context, const char *name, uint8_t *out, size_t len) {
  struct pattern_source *s = context;
  if (is_public(s->op, name)) {
    fill_public(s->sizes, out, len);
  } else {
    fill_secret(s, name, out, len);
  }
}

/* ---- Lengths -----------------------------------------------------------------------------------
 */

static const size_t compare_lengths[] = {
    0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  15,  16,  17,  18,
    20,  23,  24,  25,  28,  31,  32,  33,  34,  36,  40,  47,  48,  49,  50,  56,  60,
    63,  64,  65,  72,  80,  95,  96,  97,  112, 127, 128, 129, 130, 159, 160, 161, 191,
    192, 193, 224, 255, 256, 257, 300, 383, 384, 385, 511, 512, 513, 600};

/* In units of a block of 16 or 64 bytes: every count up to 17, then around the powers of two. */
static const size_t block_counts[] = {1,  0,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                      13, 14, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65};

static const size_t stream_lengths[] = {
    1,   0,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  14,   15,   16,   17,  31,
    32,  33,  47,  48,  49,  63,  64,  65,  79,  80,  81,  95,  96,  97,   112,  113,  127, 128,
    129, 143, 144, 145, 159, 160, 176, 191, 192, 193, 208, 224, 239, 240,  241,  255,  256, 257,
    272, 288, 304, 320, 336, 383, 384, 385, 511, 512, 513, 600, 768, 1023, 1024, 1025, 1040};

static const size_t aad_lengths[] = {0,  1,  13,  16,  17,  20,  32,  48,  64, 65,
                                     80, 96, 112, 128, 129, 144, 200, 256, 300};
static const size_t key_lengths[] = {16, 24, 32};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static size_t *base_lengths(const struct harness_op *op, size_t *count) {
  static size_t list[MAX_LENGTHS];
  const size_t *from = is_compare(op) ? compare_lengths
                       : op->unit > 1 ? block_counts
                                      : stream_lengths;
  *count = is_compare(op)      ? COUNT(compare_lengths)
           : op->unit > 1      ? COUNT(block_counts)
           : harness_has_n(op) ? COUNT(stream_lengths)
                               : 1;
  if (harness_options.quick && *count > 20 && !is_compare(op)) *count = 15;
  for (size_t i = 0; i < *count; i++) list[i] = from[i] * op->unit;
  return list;
}

size_t lengths_of(const struct harness_op *op, struct harness_sizes sizes[MAX_LENGTHS]) {
  size_t n_count, count = 0;
  const size_t *n = base_lengths(op, &n_count);
  const int keys = harness_has_key_len(op), aad = harness_has_aad(op);
  for (size_t i = 0; keys && i < COUNT(key_lengths); i++) {
    sizes[count++] = (struct harness_sizes){n[0], 0, key_lengths[i]};
  }
  for (size_t i = keys != 0; i < n_count; i++) {
    const size_t aad_len = aad ? aad_lengths[i % COUNT(aad_lengths)] : 0;
    sizes[count++] = (struct harness_sizes){n[i], aad_len, key_lengths[i % COUNT(key_lengths)]};
  }
  for (size_t i = 0; aad && i < COUNT(aad_lengths); i++) {
    sizes[count++] = (struct harness_sizes){i % 3 * 8, aad_lengths[i], 16};
  }
  return count;
}

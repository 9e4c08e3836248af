/* SPDX-License-Identifier: Apache-2.0 */
/* The secrets and lengths under which traces of a kernel are compared, natively and under Bochs. */
#ifndef FC_PATTERNS_H
#define FC_PATTERNS_H

#include "harness.h"

enum pattern_kind { CONSTANT, RANDOM, ONE_BIT, EQUAL, DIFFERS };
enum place { FIRST, MIDDLE, LAST };

struct pattern {
  char name[64];
  enum pattern_kind kind;
  uint8_t byte;        /* CONSTANT */
  uint64_t seed;       /* RANDOM, EQUAL, DIFFERS */
  const char *operand; /* ONE_BIT: which holds the bit; DIFFERS: which of a and b is larger */
  enum place place;
};

enum { MAX_PATTERNS = 64 };

struct patterns {
  size_t count;
  struct pattern list[MAX_PATTERNS];
};

void make_patterns(const struct harness_op *op, struct patterns *patterns);

/* What fill_by_pattern takes as its context; random: the pattern's seed. */
struct pattern_source {
  const struct harness_op *op;
  const struct pattern *pattern;
  uint64_t random;
  const struct harness_sizes *sizes;
};

harness_source_fn fill_by_pattern;

enum { MAX_LENGTHS = 256 };

/* Each length with one key length and one length of AAD, in turn; the shortest with all key lengths. */
size_t lengths_of(const struct harness_op *op, struct harness_sizes sizes[MAX_LENGTHS]);

#endif

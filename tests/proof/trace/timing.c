/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing of every kernel with fixed against random secrets, interleaved at random, and Welch's t. A
 * report, never a gate: it depends on the machine and on what else runs there, and a large t says
 * only where to look.
 *
 *   timing [--row NAME] [--op OP] [--quick]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "harness.h"

enum { FIXED, RANDOM, CLASSES };
enum { ROUNDS = 40000, QUICK_ROUNDS = 2000, WARM_UP = 500, LENGTH = 256, CROP_PERCENT = 90 };

/* Running mean and variance (Welford). */
struct sample {
  double count, mean, m2;
};

static void add(struct sample *s, double x) {
  s->count += 1;
  const double before = x - s->mean;
  s->mean += before / s->count;
  s->m2 += before * (x - s->mean);
}

/* Without libm. */
static double square_root(double x) { return _mm_cvtsd_f64(_mm_sqrt_pd(_mm_set1_pd(x))); }

static double welch(const struct sample *a, const struct sample *b) {
  const double variance = a->m2 / (a->count - 1) / a->count + b->m2 / (b->count - 1) / b->count;
  return variance == 0 ? 0 : (a->mean - b->mean) / square_root(variance);
}

static uint64_t measure(struct harness_call *call) {
  unsigned core;
  _mm_lfence();
  const uint64_t begin = __rdtsc();
  _mm_lfence();
  harness_invoke(call->target->kernel->fn, call->words);
  const uint64_t end = __rdtscp(&core);
  _mm_lfence();
  return end - begin;
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Interruptions are cut off above a percentile of all measurements of both classes. */
static uint64_t crop(const uint64_t *times, size_t count) {
  uint64_t *sorted = malloc(count * sizeof *sorted);
  if (sorted == NULL) abort();
  memcpy(sorted, times, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, ascending);
  const uint64_t limit = sorted[count * CROP_PERCENT / 100];
  free(sorted);
  return limit;
}

/* The same bytes in every operand: what a compare finds equal. */
static void fixed_bytes(void *context, const char *name, uint8_t *p, size_t len) {
  uint64_t fixed = 42;
  (void)context;
  harness_random(&fixed, name, p, len);
}

static void fill(struct harness_call *call, int class, uint64_t *random) {
  harness_fill(call, class == FIXED ? fixed_bytes : harness_random, random);
}

static void time_target(const struct harness_target *target) {
  static uint64_t times[ROUNDS];
  static uint8_t classes[ROUNDS];
  const size_t rounds = harness_options.quick ? QUICK_ROUNDS : ROUNDS;
  struct harness_call call = {.target = target, .sizes = {LENGTH, 16, 16}};
  struct sample samples[CLASSES] = {{0, 0, 0}, {0, 0, 0}};
  uint64_t random = 1, choice = 2;
  harness_place_plainly(&call);
  for (size_t i = 0; i < rounds + WARM_UP; i++) {
    uint8_t coin;
    harness_random(&choice, "", &coin, 1);
    const int class = coin & 1;
    fill(&call, class, &random);
    harness_set_words(&call);
    const uint64_t time = measure(&call);
    if (i < WARM_UP) continue;
    times[i - WARM_UP] = time;
    classes[i - WARM_UP] = (uint8_t)class;
  }
  const uint64_t limit = crop(times, rounds);
  for (size_t i = 0; i < rounds; i++) {
    if (times[i] <= limit) add(&samples[classes[i]], (double)times[i]);
  }
  printf("timing %-36s fixed %8.1f random %8.1f cycles, t = %6.2f\n", target->id,
         samples[FIXED].mean, samples[RANDOM].mean, welch(&samples[FIXED], &samples[RANDOM]));
}

static void time_rows(const struct fc_row *rows, size_t row_count) {
  size_t count;
  struct harness_target *targets = harness_targets(rows, row_count, &count);
  for (size_t i = 0; i < count; i++) {
    if (harness_selected(&targets[i]) && harness_not_runnable(&targets[i]) == NULL)
      time_target(&targets[i]);
  }
  free(targets);
}

int main(int argc, char **argv) {
  harness_parse(argc, argv);
  time_rows(harness_leak_rows, harness_leak_row_count);
  time_rows(fc_rows, fc_row_count);
  return 0;
}

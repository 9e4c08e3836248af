/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles per block of the sha256_blocks kernels, called directly: on one block, on four, on 16 KiB.
 *
 *   cc -O2 -Icsrc -Iasm bench/native/sha256_blocks.c asm/x86_64/sha256_blocks_shani.S \
 *     csrc/portable/sha256.c -o sha256_blocks
 *   ./sha256_blocks [isa ...]
 *
 * It runs the rows of kernels.def that were linked in, or those named, such as `portable` (the only
 * one for a CPU without the SHA extensions: this program does not ask the CPU). Every call works on
 * the state that the call before it left, so a figure for one block is the latency of a call.
 *
 * The clock comes from the run itself: a chain of multiplications, each waiting for the one before
 * it, three cycles each. Chain and kernels take turns for ROUNDS rounds; shown are the minimum and
 * the median, each over the clock of the same kind.
 */
#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

#define ROUNDS 301
#define MAX_ROWS 16
#define BUFFER_BLOCKS 256
#define CYCLES_PER_MULTIPLICATION 3

/* Every row is declared weak: those of other ops, and those not linked in, are null. */
#define FC_AES_SUITE(isa, layout, features, functions)
#define FC_KERNEL(op, isa, features) \
  extern __attribute__((weak)) FC_HIDDEN fc_##op##_fn fc_##op##_##isa;
#include "kernels.def"
#undef FC_KERNEL

struct row {
  enum fc_op op;
  const char *isa;
  fc_any_fn *fn;
};

static const struct row rows[] = {
#define FC_KERNEL(op, isa, features) {FC_OP_##op, #isa, (fc_any_fn *)fc_##op##_##isa},
#include "kernels.def"
#undef FC_KERNEL
};

static const size_t sizes[] = {1, 4, BUFFER_BLOCKS}; /* in blocks */
#define SIZES (sizeof sizes / sizeof sizes[0])

struct candidate {
  const char *isa;
  fc_sha256_blocks_fn *fn;
  double ns_per_block[SIZES][ROUNDS];
};

static struct candidate candidates[MAX_ROWS];
static double ns_per_cycle[ROUNDS];

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure_cycle(void) {
  enum { MULTIPLICATIONS = 8000 };
  uint64_t x = 3;
  double start = now_ns();
  for (int i = 0; i < MULTIPLICATIONS; i += 8) {
    x *= x, x *= x, x *= x, x *= x, x *= x, x *= x, x *= x, x *= x;
    __asm__ volatile("" : "+r"(x));
  }
  return (now_ns() - start) / (MULTIPLICATIONS * CYCLES_PER_MULTIPLICATION);
}

/* About one buffer's worth of blocks, in calls of nblocks. */
static double measure_block(fc_sha256_blocks_fn *fn, size_t nblocks) {
  static const uint8_t data[64 * BUFFER_BLOCKS];
  uint32_t state[8] = {0};
  fn(state, data, nblocks);
  double start = now_ns();
  for (size_t done = 0; done < BUFFER_BLOCKS; done += nblocks) fn(state, data, nblocks);
  return (now_ns() - start) / BUFFER_BLOCKS;
}

static int is_wanted(const char *isa, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], isa) == 0) return 1;
  }
  return argc < 2;
}

static size_t choose(int argc, char **argv) {
  size_t n = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].op != FC_OP_sha256_blocks || rows[i].fn == NULL || n == MAX_ROWS) continue;
    if (!is_wanted(rows[i].isa, argc, argv)) continue;
    candidates[n].isa = rows[i].isa;
    candidates[n++].fn = (fc_sha256_blocks_fn *)rows[i].fn;
  }
  return n;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void sort_samples(double samples[ROUNDS]) {
  qsort(samples, ROUNDS, sizeof samples[0], compare);
}

static void report(struct candidate *c, size_t size) {
  double *ns = c->ns_per_block[size];
  sort_samples(ns);
  printf("%-10s %8zu %9.1f %9.1f %11.1f %11.1f\n", c->isa, sizes[size], ns[0], ns[ROUNDS / 2],
         ns[0] / ns_per_cycle[0], ns[ROUNDS / 2] / ns_per_cycle[ROUNDS / 2]);
}

int main(int argc, char **argv) {
  size_t n = choose(argc, argv);
  if (n == 0) {
    fprintf(stderr, "no such row\n");
    return 2;
  }
  for (int round = 0; round < ROUNDS; round++) {
    ns_per_cycle[round] = measure_cycle();
    for (size_t i = 0; i < n; i++) {
      for (size_t size = 0; size < SIZES; size++) {
        candidates[i].ns_per_block[size][round] = measure_block(candidates[i].fn, sizes[size]);
      }
    }
  }
  sort_samples(ns_per_cycle);
  printf("clock: %.3f GHz at best, %.3f GHz in the median of %d rounds\n", 1 / ns_per_cycle[0],
         1 / ns_per_cycle[ROUNDS / 2], ROUNDS);
  printf("%-10s %8s %9s %9s %11s %11s   (ns and cycles per block)\n", "row", "blocks", "ns min",
         "ns median", "cycles min", "cyc. median");
  for (size_t i = 0; i < n; i++) {
    for (size_t size = 0; size < SIZES; size++) report(&candidates[i], size);
  }
  return 0;
}

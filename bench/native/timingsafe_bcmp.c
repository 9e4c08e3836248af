/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every built row of timingsafe_bcmp and timingsafe_memcmp against a byte loop in C, over the three
 * length mixes of FreeBSD's benchmark of timingsafe_bcmp and over fixed lengths.
 *
 *   timingsafe_bcmp [--raw] [--rounds N] [row...]
 *
 * All implementations take turns within a round, so that a slow moment of the machine hits all of
 * them. A figure is the median of the rounds; the percentage after it is half the distance between
 * the quartiles. "vs base" compares with the byte loop that is not vectorised. --raw prints a line
 * per sample in the format of Go's benchmarks instead, for benchstat.
 *
 * The byte loops are this file too, compiled on its own with REFERENCE naming the function. (At -O2
 * clang vectorises the first, gcc 12 neither.)
 *
 *   bench=bench/native/timingsafe_bcmp.c
 *   cc -O2 -DREFERENCE=reference_vectorized -c $bench -o vectorized.o
 *   cc -O2 -fno-tree-vectorize -DREFERENCE=reference_plain -c $bench -o plain.o
 *   cc -O2 -Icsrc -Iasm $(printf " -DFC_HAVE_timingsafe_%s=1" bcmp_avx512 bcmp_avx2 bcmp_sse2 \
 *       bcmp_gpr bcmp_portable memcmp_gpr memcmp_portable) $bench vectorized.o plain.o \
 *     csrc/kernels.c csrc/cpu/detect.c csrc/cpu/features.c csrc/portable/timingsafe.c \
 *     asm/x86_64/timingsafe_*.S -o timingsafe_bcmp
 */
#define _XOPEN_SOURCE 600 /* erand48, posix_memalign */

#include <stddef.h>
#include <stdint.h>

typedef int compare_fn(const void *a, const void *b, size_t len);

#ifdef REFERENCE

compare_fn REFERENCE;

int REFERENCE(const void *a, const void *b, size_t len) {
  const unsigned char *x = a;
  const unsigned char *y = b;
  unsigned char diff = 0;
  for (size_t i = 0; i < len; i++) diff |= x[i] ^ y[i];
  return diff != 0;
}

#else

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/detect.h"
#include "kernels.h"

compare_fn reference_plain;
compare_fn reference_vectorized;

enum {
  BUFFER_BYTES = 1 << 17,
  FIXED_CALLS = 64, /* in a pass over a fixed length */
  MAX_IMPLEMENTATIONS = 16,
  MAX_ROUNDS = 101,
  SAMPLE_NS = 500000, /* what one sample takes, about */
};

struct implementation {
  const char *op;
  const char *name;
  compare_fn *fn;
};

/* One pass calls once with each length. A mix walks through the buffers, a fixed length does not.
 */
struct workload {
  char name[16];
  size_t calls;
  size_t bytes; /* of all lengths */
  uint32_t *lengths;
  bool walks;
};

static struct implementation implementations[MAX_IMPLEMENTATIONS];
static size_t implementation_count;
static size_t rounds = 31;
static bool raw;
static uint8_t *buffer_a, *buffer_b;
static volatile int sink;

static void *allocate(size_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 4096, bytes) != 0) {
    fputs("out of memory\n", stderr);
    exit(2);
  }
  return p;
}

/*
 * The lengths of FreeBSD's mixes. Each byte but the last of a buffer of BUFFER_BYTES ends a string
 * if erand48 draws at most 1 / (mean + 1); if it does not, one more draw (there, the byte's value)
 * is thrown away. The last byte ends a string. A length counts the byte that ends the string.
 */
static struct workload freebsd_mix(const char *name, double mean, const unsigned short seed[3]) {
  struct workload mix = {.walks = true, .bytes = BUFFER_BYTES};
  unsigned short state[3] = {seed[0], seed[1], seed[2]};
  uint32_t len = 0;
  snprintf(mix.name, sizeof mix.name, "%s", name);
  mix.lengths = allocate(BUFFER_BYTES * sizeof(uint32_t));
  for (size_t i = 0; i < BUFFER_BYTES; i++) {
    len++;
    if (i < BUFFER_BYTES - 1 && erand48(state) > 1 / (mean + 1)) {
      (void)erand48(state);
    } else {
      mix.lengths[mix.calls++] = len;
      len = 0;
    }
  }
  return mix;
}

static struct workload fixed_length(uint32_t len) {
  struct workload fixed = {.calls = FIXED_CALLS, .bytes = (size_t)len * FIXED_CALLS};
  snprintf(fixed.name, sizeof fixed.name, "%u", len);
  fixed.lengths = allocate(FIXED_CALLS * sizeof(uint32_t));
  for (size_t i = 0; i < FIXED_CALLS; i++) fixed.lengths[i] = len;
  return fixed;
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The time that `passes` passes take. */
static double run(compare_fn *fn, const struct workload *work, size_t passes) {
  int result = 0;
  double start = now_ns();
  for (size_t pass = 0; pass < passes; pass++) {
    /* 16 and 48: where a bytes object of CPython may start within a cache line. */
    const uint8_t *a = buffer_a + (work->walks ? 0 : 16);
    const uint8_t *b = buffer_b + (work->walks ? 0 : 48);
    for (size_t i = 0; i < work->calls; i++) {
      size_t len = work->lengths[i];
      result += fn(a, b, len);
      if (work->walks) {
        a += len;
        b += len;
      }
    }
  }
  double elapsed = now_ns() - start;
  sink = result;
  return elapsed;
}

static size_t passes_per_sample(compare_fn *fn, const struct workload *work) {
  size_t passes = 1;
  while (run(fn, work, passes) < SAMPLE_NS / 2) passes *= 2;
  return passes * 2;
}

static int by_value(const void *x, const void *y) {
  double a = *(const double *)x;
  double b = *(const double *)y;
  return (a > b) - (a < b);
}

static int by_length(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x;
  uint32_t b = *(const uint32_t *)y;
  return (a > b) - (a < b);
}

static void describe(const struct workload *work) {
  if (!work->walks) {
    printf("\n%s bytes\n", work->name);
    return;
  }
  uint32_t *sorted = allocate(work->calls * sizeof *sorted);
  memcpy(sorted, work->lengths, work->calls * sizeof *sorted);
  qsort(sorted, work->calls, sizeof *sorted, by_length);
  printf("\n%s: %zu calls, mean %.2f bytes, median %u, 90%% %u, max %u\n", work->name, work->calls,
         (double)work->bytes / (double)work->calls, sorted[work->calls / 2],
         sorted[work->calls * 9 / 10], sorted[work->calls - 1]);
  free(sorted);
}

/* One line per implementation, its samples sorted. */
static void print_table(const struct workload *work, double samples[][MAX_ROUNDS]) {
  double base = samples[0][rounds / 2];
  describe(work);
  printf("  %-17s %-14s %15s %9s %8s %8s\n", "", "", "ns/call", "vs base", "ratio", "GB/s");
  for (size_t i = 0; i < implementation_count; i++) {
    double median = samples[i][rounds / 2];
    double spread = (samples[i][rounds * 3 / 4] - samples[i][rounds / 4]) / 2;
    printf("  %-17s %-14s %9.2f ± %2.0f%% %+8.2f%% %7.2fx %8.2f\n", implementations[i].op,
           implementations[i].name, median, 100 * spread / median, 100 * (median / base - 1),
           base / median, (double)work->bytes / (double)work->calls / median);
  }
}

static void print_raw(const struct workload *work, size_t i, size_t passes, double ns) {
  printf("Benchmark/op=%s/impl=%s/size=%s %zu %.4f ns/op\n", implementations[i].op,
         implementations[i].name, work->name, passes * work->calls, ns);
}

static void measure(const struct workload *work) {
  static double samples[MAX_IMPLEMENTATIONS][MAX_ROUNDS];
  size_t passes[MAX_IMPLEMENTATIONS];
  for (size_t i = 0; i < implementation_count; i++) {
    passes[i] = passes_per_sample(implementations[i].fn, work);
  }
  for (size_t round = 0; round < rounds; round++) {
    for (size_t i = 0; i < implementation_count; i++) {
      double ns = run(implementations[i].fn, work, passes[i]);
      samples[i][round] = ns / (double)(passes[i] * work->calls);
      if (raw) print_raw(work, i, passes[i], samples[i][round]);
    }
  }
  for (size_t i = 0; i < implementation_count; i++) {
    qsort(samples[i], rounds, sizeof samples[i][0], by_value);
  }
  if (!raw) print_table(work, samples);
  fflush(stdout);
}

static void add(const char *op, const char *name, compare_fn *fn) {
  if (implementation_count == MAX_IMPLEMENTATIONS) return;
  implementations[implementation_count++] = (struct implementation){op, name, fn};
}

static bool wanted(const char *name, int names, char **argv) {
  for (int i = 0; i < names; i++) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return names == 0;
}

static void add_rows(enum fc_op op, int names, char **argv) {
  fc_features features = fc_cpu_detect();
  for (size_t i = 0; i < fc_row_count; i++) {
    const struct fc_row *row = &fc_rows[i];
    if (row->op == op && fc_row_runnable(row, features) && wanted(row->name, names, argv)) {
      add(fc_op_names[op], row->name, (compare_fn *)row->kernels[0].fn);
    }
  }
}

int main(int argc, char **argv) {
  static const uint32_t lengths[] = {0,  1,  8,  15,  16,  17,  31,  32,  33,  47,   48,   49,
                                     63, 64, 65, 127, 128, 129, 255, 256, 257, 1024, 65536};
  int arg = 1;
  for (; arg < argc && argv[arg][0] == '-'; arg++) {
    if (strcmp(argv[arg], "--raw") == 0) {
      raw = true;
    } else if (strcmp(argv[arg], "--rounds") == 0 && arg + 1 < argc) {
      rounds = strtoul(argv[++arg], NULL, 10);
    } else {
      rounds = 0;
    }
  }
  if (rounds < 1 || rounds > MAX_ROUNDS) {
    fprintf(stderr, "usage: %s [--raw] [--rounds 1..%d] [row...]\n", argv[0], MAX_ROUNDS);
    return 2;
  }

  buffer_a = memset(allocate(BUFFER_BYTES), 0x5a, BUFFER_BYTES);
  buffer_b = memset(allocate(BUFFER_BYTES), 0x5a, BUFFER_BYTES);
  add("byte loop", "not vectorized", reference_plain);
  add("byte loop", "vectorized", reference_vectorized);
  add_rows(FC_OP_timingsafe_bcmp, argc - arg, argv + arg);
  add_rows(FC_OP_timingsafe_memcmp, argc - arg, argv + arg);

  struct workload mixes[] = {
      freebsd_mix("Short", 16, (const unsigned short[]){123, 456, 789}),
      freebsd_mix("Mid", 64, (const unsigned short[]){234, 567, 890}),
      freebsd_mix("Long", 1 << 30, (const unsigned short[]){345, 678, 910}),
  };
  for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) measure(&mixes[i]);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    struct workload fixed = fixed_length(lengths[i]);
    measure(&fixed);
  }
  return 0;
}

#endif

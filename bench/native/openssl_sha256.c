/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sha256_blocks kernels named (default: portable) against the SHA-256 of the system's libcrypto,
 * in one process, on 16 KiB at a time.
 *
 *   openssl_sha256 [row...]
 *
 * OPENSSL_ia32cap takes instruction sets from libcrypto. With SSSE3, AVX, AVX2, BMI and the SHA
 * extensions gone,
 *
 *   OPENSSL_ia32cap='~0x1000020000000000:~0x20000128' openssl_sha256
 *
 * it runs its code for general registers, which is what a C kernel can be held against. libcrypto
 * is loaded when the program runs: it needs no headers, and none is linked to anything we ship.
 * A context in the middle of a message is updated by whole blocks, so that what is timed is the
 * block function and not the set-up of a message.
 *
 * All take turns within a round; figures are nanoseconds a block, minimum and median of the rounds,
 * and the ratio of the medians. One line an implementation:
 *   NAME MINIMUM MEDIAN RATIO
 */
#define _POSIX_C_SOURCE 199309L

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/detect.h"
#include "kernels.h"

enum { ROUNDS = 101, CALLS = 8, BLOCKS = 256, BYTES = 64 * BLOCKS, MAX_IMPLEMENTATIONS = 8 };

/* SHA256_CTX is 112 bytes and begins with the state, in libcrypto 1.1 and 3 alike. */
union context {
  uint32_t state[8];
  uint8_t whole[256];
};

typedef int init_fn(union context *);
typedef int update_fn(union context *, const void *, size_t);

struct implementation {
  const char *name;
  fc_sha256_blocks_fn *blocks; /* NULL: libcrypto */
  union context context;
  double ns_per_block[ROUNDS];
};

static struct implementation implementations[MAX_IMPLEMENTATIONS];
static size_t count;
static init_fn *libcrypto_init;
static update_fn *libcrypto_update;
static uint8_t data[BYTES];

static void give_up(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(2);
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) give_up(dlerror());
  return found;
}

static void load_libcrypto(void) {
  static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1"};
  void *library = NULL;
  for (size_t i = 0; i < 2 && library == NULL; i++) library = dlopen(names[i], RTLD_NOW);
  if (library == NULL) give_up("no libcrypto");
  *(void **)&libcrypto_init = symbol(library, "SHA256_Init");
  *(void **)&libcrypto_update = symbol(library, "SHA256_Update");
}

static void run(struct implementation *it) {
  if (it->blocks != NULL) {
    it->blocks(it->context.state, data, BLOCKS);
  } else {
    libcrypto_update(&it->context, data, BYTES);
  }
}

static void add(const char *name, fc_sha256_blocks_fn *blocks) {
  if (count == MAX_IMPLEMENTATIONS) give_up("too many rows");
  struct implementation *it = &implementations[count++];
  it->name = name;
  it->blocks = blocks;
  libcrypto_init(&it->context);
}

static int is_wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) return 1;
  }
  return argc < 2 && strcmp(name, "portable") == 0;
}

static void add_rows(int argc, char **argv) {
  fc_features features = fc_cpu_detect();
  for (size_t i = 0; i < fc_row_count; i++) {
    const struct fc_row *row = &fc_rows[i];
    if (row->op != FC_OP_sha256_blocks || !fc_row_runnable(row, features)) continue;
    if (is_wanted(row->name, argc, argv)) {
      add(row->name, (fc_sha256_blocks_fn *)row->kernels[0].fn);
    }
  }
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(struct implementation *it, int round) {
  run(it);
  double start = now_ns();
  for (int i = 0; i < CALLS; i++) run(it);
  it->ns_per_block[round] = (now_ns() - start) / (CALLS * BLOCKS);
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  load_libcrypto();
  for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7);
  add("libcrypto", NULL);
  add_rows(argc, argv);
  if (count < 2) give_up("no such row");
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < count; i++) measure(&implementations[i], round);
  }
  for (size_t i = 0; i < count; i++) {
    struct implementation *it = &implementations[i];
    if (memcmp(it->context.state, implementations[0].context.state, 32) != 0) give_up("disagree");
    qsort(it->ns_per_block, ROUNDS, sizeof(double), by_value);
    printf("%s %.2f %.2f %.3f\n", it->name, it->ns_per_block[0], it->ns_per_block[ROUNDS / 2],
           implementations[0].ns_per_block[ROUNDS / 2] / it->ns_per_block[ROUNDS / 2]);
  }
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of the AES suites, called directly: per byte for the modes, GHASH and whole GCM messages,
 * per call for what is done once a key.
 *
 *   cc -O3 -Icsrc -Iasm -DFC_HAVE_aes_portable=1 -DFC_HAVE_aes_aesni=1 \
 *     -DFC_HAVE_aes_vaes256=1 -DFC_HAVE_aes_vperm=1 -DFC_HAVE_aes_vperm_pclmul=1 \
 *     bench/native/aes_modes.c csrc/kernels.c csrc/cpu/features.c csrc/cpu/detect.c \
 *     csrc/portable/aes_*.c asm/x86_64/aes_*.S -o aes_modes
 *   ./aes_modes [isa ...]
 *
 * It runs the suites of kernels.def that were linked in and that this CPU can run, or of those the
 * ones named. For the C suite as it is shipped, with entries that clear its stack, add
 * -DFC_HAVE_portable_entries=1, asm/x86_64/portable_entries.S and the rest of csrc/portable/.
 *
 * The clock comes from the run itself: a chain of multiplications, each waiting for the one before
 * it, three cycles each. In each of ROUNDS rounds the chain and every measurement of every suite
 * take turns; shown are medians of the ratio within a round.
 */
#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/detect.h"
#include "kernels.h"

enum { ROUNDS = 101, MAX_SUITES = 8, LARGE = 16384, CYCLES_PER_MULTIPLICATION = 3 };

/* One suite with a key of each length, and what every measurement of it took, in cycles. */
struct suite {
  const struct fc_row *row;
  struct fc_gcm_key *key; /* of the measurement under way */
  struct fc_gcm_key keys[3];
};

static struct suite suites[MAX_SUITES];
static _Alignas(64) uint8_t data[LARGE];

#define CALL(suite, function) \
  ((fc_aes_##function##_fn *)(suite)->row->kernels[FC_AES_##function].fn)

/* ---- What is measured ------------------------------------------------------------------------ */

static void run_expand_key(struct suite *s, size_t len) {
  struct fc_aes_key key;
  CALL(s, expand_key)(&key, data, len);
}

static void run_ghash_key(struct suite *s, size_t len) {
  (void)len;
  struct fc_ghash_key key;
  CALL(s, ghash_key)(&key, data);
}

static void run_ecb_encrypt(struct suite *s, size_t len) {
  CALL(s, ecb_encrypt)(&s->key->aes, data, data, len / 16);
}

static void run_ecb_decrypt(struct suite *s, size_t len) {
  CALL(s, ecb_decrypt)(&s->key->aes, data, data, len / 16);
}

static void run_cbc_encrypt(struct suite *s, size_t len) {
  uint8_t iv[16] = {0};
  CALL(s, cbc_encrypt)(&s->key->aes, iv, data, data, len / 16);
}

static void run_cbc_decrypt(struct suite *s, size_t len) {
  uint8_t iv[16] = {0};
  CALL(s, cbc_decrypt)(&s->key->aes, iv, data, data, len / 16);
}

static void run_ctr(struct suite *s, size_t len) {
  uint8_t counter[16] = {0};
  CALL(s, ctr)(&s->key->aes, counter, data, data, len);
}

/* 8 chains, the blocks of each side by side. */
static void run_cbc_encrypt_many(struct suite *s, size_t len) {
  enum { CHAINS = 8 };
  static uint8_t ivs[CHAINS][16];
  struct fc_cbc_chain chains[CHAINS];
  for (size_t i = 0; i < CHAINS; i++) {
    uint8_t *at = data + len / CHAINS * i;
    chains[i] = (struct fc_cbc_chain){ivs[i], at, at};
  }
  CALL(s, cbc_encrypt_many)(&s->key->aes, chains, CHAINS, len / CHAINS / 16);
}

static void run_xts_encrypt(struct suite *s, size_t len) {
  uint8_t tweak[16] = {1};
  CALL(s, xts_encrypt)(&s->key->aes, tweak, data, data, len / 16);
}

static void run_xts_decrypt(struct suite *s, size_t len) {
  uint8_t tweak[16] = {1};
  CALL(s, xts_decrypt)(&s->key->aes, tweak, data, data, len / 16);
}

static void run_ghash(struct suite *s, size_t len) {
  uint8_t y[16] = {0};
  CALL(s, ghash)(&s->key->ghash, y, data, len);
}

static struct fc_gcm_message message_in_place(size_t len, uint8_t tag[16]) {
  static const uint8_t j0[16] = {[15] = 1};
  static const uint8_t aad[16];
  return (struct fc_gcm_message){j0, aad, sizeof aad, data, data, len, tag};
}

static void run_gcm_seal(struct suite *s, size_t len) {
  uint8_t tag[16];
  struct fc_gcm_message message = message_in_place(len, tag);
  CALL(s, gcm_seal)(s->key, &message);
}

static void run_gcm_open(struct suite *s, size_t len) {
  uint8_t tag[16];
  struct fc_gcm_message message = message_in_place(len, tag);
  CALL(s, gcm_open)(s->key, &message);
}

enum { ALL_KEYS = 3, ONE_KEY = 1 };

static const struct measurement {
  const char *name;
  void (*run)(struct suite *s, size_t len);
  size_t len;
  int keys;     /* whether it depends on the length of the key */
  int per_call; /* cycles per call, not per byte */
} measurements[] = {
    {"expand_key 128", run_expand_key, 16, ONE_KEY, 1},
    {"expand_key 256", run_expand_key, 32, ONE_KEY, 1},
    {"ghash_key", run_ghash_key, 16, ONE_KEY, 1},
    {"ecb_encrypt 16 KiB", run_ecb_encrypt, LARGE, ALL_KEYS, 0},
    {"ecb_decrypt 16 KiB", run_ecb_decrypt, LARGE, ALL_KEYS, 0},
    {"cbc_encrypt 16 KiB", run_cbc_encrypt, LARGE, ALL_KEYS, 0},
    {"cbc_decrypt 16 KiB", run_cbc_decrypt, LARGE, ALL_KEYS, 0},
    {"cbc 8 chains of 2 KiB", run_cbc_encrypt_many, LARGE, ALL_KEYS, 0},
    {"xts_encrypt 16 KiB", run_xts_encrypt, LARGE, ALL_KEYS, 0},
    {"xts_decrypt 16 KiB", run_xts_decrypt, LARGE, ALL_KEYS, 0},
    {"ctr 16 KiB", run_ctr, LARGE, ALL_KEYS, 0},
    {"ghash 16 KiB", run_ghash, LARGE, ONE_KEY, 0},
    {"gcm_seal 16 B", run_gcm_seal, 16, ALL_KEYS, 0},
    {"gcm_seal 64 B", run_gcm_seal, 64, ALL_KEYS, 0},
    {"gcm_seal 1 KiB", run_gcm_seal, 1024, ALL_KEYS, 0},
    {"gcm_seal 16 KiB", run_gcm_seal, LARGE, ALL_KEYS, 0},
    {"gcm_open 16 KiB", run_gcm_open, LARGE, ALL_KEYS, 0},
};
enum { MEASUREMENTS = sizeof measurements / sizeof measurements[0] };

static double cycles[MAX_SUITES][MEASUREMENTS][ALL_KEYS][ROUNDS];

/* ---- Clock ----------------------------------------------------------------------------------- */

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double ns_per_cycle(void) {
  enum { MULTIPLICATIONS = 8000 };
  uint64_t x = 3;
  double start = now_ns();
  for (int i = 0; i < MULTIPLICATIONS; i += 8) {
    x *= x, x *= x, x *= x, x *= x, x *= x, x *= x, x *= x, x *= x;
    __asm__ volatile("" : "+r"(x));
  }
  return (now_ns() - start) / (MULTIPLICATIONS * CYCLES_PER_MULTIPLICATION);
}

/* One long call, or as many short ones as make a time worth reading; the first is not counted. */
static double measure(struct suite *s, const struct measurement *m, int key) {
  int calls = m->len < LARGE ? 32 : 1;
  s->key = &s->keys[key];
  m->run(s, m->len);
  double clock = ns_per_cycle();
  double start = now_ns();
  for (int i = 0; i < calls; i++) m->run(s, m->len);
  double units = calls * (m->per_call ? 1.0 : (double)m->len);
  return (now_ns() - start) / clock / units;
}

static void measure_suite(size_t index, int round) {
  for (int i = 0; i < MEASUREMENTS; i++) {
    for (int key = 0; key < measurements[i].keys; key++) {
      cycles[index][i][key][round] = measure(&suites[index], &measurements[i], key);
    }
  }
}

/* ---- Suites and report ----------------------------------------------------------------------- */

static int is_wanted(const char *isa, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], isa) == 0) return 1;
  }
  return argc < 2;
}

static void make_keys(struct suite *s) {
  static const uint8_t bytes[32] = {1, 2, 3};
  for (size_t i = 0; i < 3; i++) {
    uint8_t h[16] = {0};
    CALL(s, expand_key)(&s->keys[i].aes, bytes, 16 + 8 * i);
    CALL(s, ecb_encrypt)(&s->keys[i].aes, h, h, 1);
    CALL(s, ghash_key)(&s->keys[i].ghash, h);
  }
}

static size_t choose(int argc, char **argv) {
  fc_features features = fc_cpu_detect();
  size_t n = 0;
  for (size_t i = 0; i < fc_row_count && n < MAX_SUITES; i++) {
    const struct fc_row *row = &fc_rows[i];
    if (row->op != FC_OP_aes || !fc_row_runnable(row, features)) continue;
    if (!is_wanted(row->name, argc, argv)) continue;
    suites[n].row = row;
    make_keys(&suites[n++]);
  }
  return n;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double samples[ROUNDS]) {
  qsort(samples, ROUNDS, sizeof samples[0], compare);
  return samples[ROUNDS / 2];
}

static void report(size_t index) {
  printf("%-24s %9s %9s %9s   cycles per byte; of the keys, per call\n", suites[index].row->name,
         "128", "192", "256");
  for (int i = 0; i < MEASUREMENTS; i++) {
    printf("  %-22s", measurements[i].name);
    for (int key = 0; key < measurements[i].keys; key++) {
      printf(" %9.2f", median(cycles[index][i][key]));
    }
    printf("\n");
  }
}

int main(int argc, char **argv) {
  size_t n = choose(argc, argv);
  if (n == 0) {
    fprintf(stderr, "no such suite\n");
    return 2;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (size_t i = 0; i < n; i++) measure_suite(i, round);
  }
  for (size_t i = 0; i < n; i++) report(i);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no test through Python reaches: the ends of GCM's lengths and of the sequence numbers.
 *
 *   cc -D_GNU_SOURCE -Icsrc tests/native/records.c csrc/aes/gcm.c csrc/aes/gcm_stream.c \
 *     csrc/aes/record_number.c -pthread -o records && ./records
 *
 * The table is one of ours, whose GHASH keeps what it is given: the block of lengths.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aes/gcm_stream.h"
#include "aes/record_number.h"
#include "cpu/dispatch.h"

struct fc_page fc_sealed;

static int failures;

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      printf("line %d: " #condition " does not hold\n", __LINE__); \
      failures++;                                                  \
    }                                                              \
  } while (0)

/* ---- Lengths --------------------------------------------------------------------------------- */

static uint8_t hashed[16];

static void keep_hashed(const struct fc_ghash_key *key, uint8_t y[16], const uint8_t *data,
                        size_t len) {
  (void)key, (void)y;
  CHECK(len == 16);
  memcpy(hashed, data, 16);
}

static void no_encryption(const struct fc_aes_key *key, const uint8_t *in, uint8_t *out,
                          size_t nblocks) {
  (void)key, (void)in;
  memset(out, 0, 16 * nblocks);
}

/* The last block of GHASH: [len(A)] in bits, [len(C)] in bits, each in 64 bits, big-endian. */
static void check_lengths(uint64_t aad_len, uint64_t len, const char *expected) {
  static struct fc_gcm_key key;
  struct fc_gcm_stream stream = {.aad_len = aad_len, .len = len};
  uint8_t tag[16];
  char text[33];
  fc_gcm_stream_finish(&stream, &key, tag);
  for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", hashed[i]);
  if (strcmp(text, expected) != 0) {
    printf("lengths %" PRIu64 " and %" PRIu64 ": %s, not %s\n", aad_len, len, text, expected);
    failures++;
  }
}

static void test_lengths(void) {
  fc_sealed.table.aes.ghash = keep_hashed;
  fc_sealed.table.aes.ecb_encrypt = no_encryption;
  CHECK(FC_GCM_MAX_BYTES == 68719476704);
  CHECK(FC_GCM_MAX_AAD_BYTES == 2305843009213693951);
  check_lengths(0, 0, "00000000000000000000000000000000");
  check_lengths(1, 16, "00000000000000080000000000000080");
  check_lengths((UINT64_C(1) << 29) - 1, UINT64_C(1) << 29, "00000000fffffff80000000100000000");
  check_lengths(UINT64_C(1) << 32, UINT64_C(1) << 32, "00000008000000000000000800000000");
  check_lengths(UINT64_C(2305843009213693951), UINT64_C(68719476704),
                "fffffffffffffff80000007fffffff00");
}

/* ---- Sequence numbers ------------------------------------------------------------------------ */

static void test_last_numbers(void) {
  struct fc_record_numbers numbers;
  fc_record_numbers_init(&numbers);
  CHECK(fc_record_numbers_peek(&numbers) == 0);
  numbers.next = UINT64_MAX - 2;
  for (uint64_t expected = UINT64_MAX - 2; expected != UINT64_MAX; expected++) {
    CHECK(fc_record_numbers_peek(&numbers) == expected);
    CHECK(fc_record_numbers_take(&numbers, expected) == FC_TAKE_DONE);
    CHECK(fc_record_numbers_take(&numbers, expected) == FC_TAKE_LOST);
  }
  for (int i = 0; i < 3; i++) CHECK(fc_record_numbers_peek(&numbers) == FC_NUMBERS_USED_UP);
}

enum { THREADS = 4, TAKES = 50000 };

static struct fc_record_numbers shared;
static uint8_t taken[THREADS * TAKES];

static void *take_some(void *unused) {
  for (int i = 0; i < TAKES;) {
    const uint64_t number = fc_record_numbers_peek(&shared);
    if (fc_record_numbers_take(&shared, number) != FC_TAKE_DONE) continue;
    __atomic_add_fetch(&taken[number], 1, __ATOMIC_RELAXED);
    i++;
  }
  return unused;
}

static void test_threads(void) {
  pthread_t threads[THREADS];
  fc_record_numbers_init(&shared);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, take_some, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS * TAKES; i++) CHECK(taken[i] == 1);
}

/* What `numbers` of the parent and new ones give here, as an exit status. */
static int in_child(struct fc_record_numbers *numbers) {
  struct fc_record_numbers own;
  fc_record_numbers_init(&own);
  const int inherited = fc_record_numbers_take(numbers, fc_record_numbers_peek(numbers));
  return 16 * inherited + (int)fc_record_numbers_take(&own, 0);
}

static int fork_and_run(struct fc_record_numbers *numbers, int depth) {
  const pid_t child = fork();
  int status;
  if (child == 0) _exit(depth > 1 ? fork_and_run(numbers, depth - 1) : in_child(numbers));
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_forks(void) {
  struct fc_record_numbers numbers;
  CHECK(fc_watch_forks() == 0);
  CHECK(fc_watch_forks() == 0);
  fc_record_numbers_init(&numbers);
  CHECK(fork_and_run(&numbers, 1) == 16 * FC_TAKE_FORKED + FC_TAKE_DONE);
  CHECK(fork_and_run(&numbers, 2) == 16 * FC_TAKE_FORKED + FC_TAKE_DONE);
  CHECK(fc_record_numbers_take(&numbers, 0) == FC_TAKE_DONE);
}

int main(void) {
  test_lengths();
  test_last_numbers();
  test_threads();
  test_forks();
  puts(failures ? "failed" : "passed");
  return failures != 0;
}

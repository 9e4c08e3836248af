/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads SETTING [--planted], built with ThreadSanitizer: eight threads seal the table at once, then
 * use one key and one hash state that all read. Exits 0 unless ThreadSanitizer or an answer objects.
 * With --planted every thread writes one shared word, which must be reported.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aes/gcm.h"
#include "aes/modes.h"
#include "cpu/dispatch.h"
#include "hash/sha.h"

enum { THREADS = 8, ROUNDS = 200, BYTES = 1000 };

static pthread_barrier_t barrier;
static uint8_t data[BYTES];
static struct fc_gcm_key shared_key;
static struct fc_sha256 shared_hash;
static const char *setting;
static long planted;
static int plants;

struct answer {
  enum fc_seal_result sealed;
  uint8_t digest[32], one_shot[32], tag[16], text[BYTES], counted[BYTES];
  int opened, equal;
};

static struct answer answers[THREADS];

static void use_shared(struct answer *a) {
  uint8_t counter[16] = {0}, plain[BYTES], tag[16];
  fc_sha256_digest(&shared_hash, a->digest);
  fc_sha256_oneshot(data, BYTES, a->one_shot);
  uint8_t j0[16];
  fc_gcm_j0(&shared_key, data, 12, j0);
  struct fc_gcm_message message = {j0, data, 20, data, a->text, BYTES, a->tag};
  FC_TABLE.aes.gcm_seal(&shared_key, &message);
  message.in = a->text;
  message.out = plain;
  message.tag = tag;
  a->opened = fc_gcm_open(&shared_key, &message, a->tag, 16);
  a->equal = FC_TABLE.timingsafe_bcmp(plain, data, BYTES);
  fc_ctr_crypt(&shared_key.aes, counter, 3, data, a->counted, BYTES);
}

static void *run(void *argument) {
  struct answer *a = argument;
  struct fc_seal_error error;
  pthread_barrier_wait(&barrier);
  a->sealed = fc_seal(setting, &error);
  if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
    const uint8_t key[32] = {1, 2, 3};
    fc_gcm_init(&shared_key, key, sizeof key);
    fc_sha256_init(&shared_hash);
    fc_sha256_update(&shared_hash, data, 99);
  }
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < ROUNDS; i++) {
    use_shared(a);
    if (plants) planted++;
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  setting = argc > 1 ? argv[1] : "native";
  plants = argc > 2 && strcmp(argv[2], "--planted") == 0;
  for (size_t i = 0; i < BYTES; i++) data[i] = (uint8_t)(7 * i);
  pthread_barrier_init(&barrier, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, run, &answers[i]) != 0) return 2;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) {
    const struct answer *a = &answers[i];
    if (a->sealed != FC_SEAL_OK || a->opened != 0 || a->equal != 0 ||
        memcmp(a, &answers[0], sizeof *a) != 0) {
      fprintf(stderr, "thread %d has other answers\n", i);
      return 1;
    }
  }
  return 0;
}

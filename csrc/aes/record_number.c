/* SPDX-License-Identifier: Apache-2.0 */
#include "aes/record_number.h"

/*
 * How many forks lie between the first process and this one. Only the handler writes it, in a child
 * that has one thread yet, and so to the child's own copy of the page: nothing shared is written.
 */
static uint64_t process_generation;

#if defined(_WIN32)

int fc_watch_forks(void) { return 0; }

#else

#include <pthread.h>

static void count_fork(void) { process_generation++; }

static int watch_error;

static void watch(void) { watch_error = pthread_atfork(NULL, NULL, count_fork); }

int fc_watch_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
  return watch_error;
}

#endif

void fc_record_numbers_init(struct fc_record_numbers *numbers) {
  numbers->next = 0;
  numbers->generation = process_generation;
}

uint64_t fc_record_numbers_peek(const struct fc_record_numbers *numbers) {
  return __atomic_load_n(&numbers->next, __ATOMIC_RELAXED);
}

/* Not a fetch-and-add: that would wrap some time after the last number has been refused. */
enum fc_take_result fc_record_numbers_take(struct fc_record_numbers *numbers, uint64_t number) {
  if (numbers->generation != process_generation) return FC_TAKE_FORKED;
  const int taken = __atomic_compare_exchange_n(&numbers->next, &number, number + 1, 0,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return taken ? FC_TAKE_DONE : FC_TAKE_LOST;
}

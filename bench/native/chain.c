/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chained hashes of 32 bytes in several threads, through the sealed table: what a look-up per call
 * costs, and whether threads get in each other's way.
 *
 *   chain [--threads T] [--hashes N] [--instructions]
 *
 * Each thread begins with 32 zero bytes and hashes its last digest N times with fc_sha256_oneshot,
 * the function under fastcrypt.sha256_digest, which loads the kernel's address from the table every
 * time. Prints the digest (that of 10,000,000 hashes is 6b4ab10d...1166199), each thread's
 * nanoseconds a hash by the wall clock and by its CPU time, and the whole rate.
 *
 * --instructions single-steps a child through INSTRUCTION_HASHES hashes and prints how many
 * instructions one takes, the loop's own two or three included.
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu/dispatch.h"
#include "hash/sha.h"

enum { MAX_THREADS = 256, INSTRUCTION_HASHES = 100 };

struct worker {
  pthread_t thread;
  uint8_t digest[32];
  double wall_ns, cpu_ns; /* a hash */
};

static struct worker workers[MAX_THREADS];
static unsigned long hashes = 10000000;
static pthread_barrier_t start_line;

static double now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void chain(uint8_t digest[32], unsigned long n) {
  for (unsigned long i = 0; i < n; i++) fc_sha256_oneshot(digest, 32, digest);
}

static void *work(void *argument) {
  struct worker *self = argument;
  pthread_barrier_wait(&start_line);
  double wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
  chain(self->digest, hashes);
  self->wall_ns = (now_ns(CLOCK_MONOTONIC) - wall) / (double)hashes;
  self->cpu_ns = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)hashes;
  return NULL;
}

static void fail(const char *what) {
  fprintf(stderr, "chain: %s\n", what);
  exit(2);
}

static void run_threads(unsigned long threads) {
  pthread_barrier_init(&start_line, NULL, (unsigned)threads);
  for (unsigned long i = 0; i < threads; i++) {
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) fail("no thread");
  }
  for (unsigned long i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
}

static void report(unsigned long threads) {
  double slowest = 0;
  for (unsigned long i = 0; i < threads; i++) {
    const struct worker *w = &workers[i];
    if (memcmp(w->digest, workers[0].digest, 32) != 0) fail("threads disagree");
    if (w->wall_ns > slowest) slowest = w->wall_ns;
    printf("thread %lu: %.2f ns wall %.2f ns cpu\n", i, w->wall_ns, w->cpu_ns);
  }
  printf("digest: ");
  for (int i = 0; i < 32; i++) printf("%02x", workers[0].digest[i]);
  printf("\nrate: %.0f hashes/s\n", 1e9 * (double)threads / slowest);
}

/* The child stops itself before and after the chain; in between its parent counts steps. */
static void child_chain(void) {
  uint8_t digest[32] = {0};
  chain(digest, 1); /* the first call binds what is bound lazily */
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  raise(SIGSTOP);
  chain(digest, INSTRUCTION_HASHES);
  raise(SIGSTOP);
  _exit(0);
}

static unsigned long steps_between_stops(pid_t child) {
  unsigned long steps = 0;
  int status;
  waitpid(child, &status, 0);
  do {
    if (!WIFSTOPPED(status) || ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) fail("ptrace");
    waitpid(child, &status, 0);
    steps++;
  } while (!(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP));
  ptrace(PTRACE_KILL, child, NULL, NULL);
  return steps;
}

static void count_instructions(void) {
  pid_t child = fork();
  if (child == 0) child_chain();
  if (child < 0) fail("fork");
  double steps = (double)steps_between_stops(child);
  printf("instructions: %.1f a hash\n", steps / (double)INSTRUCTION_HASHES);
}

int main(int argc, char **argv) {
  unsigned long threads = 1;
  int instructions = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--instructions") == 0) {
      instructions = 1;
    } else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      threads = strtoul(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--hashes") == 0 && i + 1 < argc) {
      hashes = strtoul(argv[++i], NULL, 10);
    } else {
      threads = 0;
      break;
    }
  }
  if (threads < 1 || threads > MAX_THREADS || hashes < 1) {
    fail("usage: chain [--threads 1..256] [--hashes N] [--instructions]");
  }
  struct fc_seal_error error;
  if (fc_seal(getenv("FASTCRYPT_CPU"), &error) != FC_SEAL_OK) fail("the table was not sealed");
  if (instructions) {
    count_instructions();
  } else {
    run_threads(threads);
    report(threads);
  }
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long one AES round takes at the widest that this CPU has, when nothing waits for anything: the
 * limit for every mode of AES. Prints the bytes a round works on, and nanoseconds of CPU time.
 *
 *   cc -O2 -Icsrc bench/native/aes_rounds.c csrc/cpu/detect.c csrc/cpu/features.c -o aes_rounds
 *   ./aes_rounds
 *   16 0.1471
 *   32 0.1473
 *
 * Twelve states, each of which waits for itself alone: more than the latency of the instruction times
 * its throughput on any CPU so far. The minimum of many short runs; each width takes its turn.
 */
#define _POSIX_C_SOURCE 199309L

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "cpu/detect.h"

enum { RUNS = 400, PASSES = 2000, STATES = 12 };

#define STATES_XMM(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define AESENC_XMM(n) "aesenc %%xmm15, %%xmm" #n "\n\t"
#define VAESENC_YMM(n) "vaesenc %%ymm15, %%ymm" #n ", %%ymm" #n "\n\t"
#define VAESENC_ZMM(n) "vaesenc %%zmm15, %%zmm" #n ", %%zmm" #n "\n\t"

#define DEFINE_ROUNDS(name, instructions, end)                                               \
  static void name(void) {                                                                   \
    uint64_t passes = PASSES;                                                                \
    __asm__ volatile(".p2align 6\n1:\n\t" instructions "decq %0\n\tjnz 1b\n\t" end           \
                     : "+r"(passes)                                                          \
                     :                                                                       \
                     : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm15");                           \
  }

DEFINE_ROUNDS(rounds_16, STATES_XMM(AESENC_XMM), "")
DEFINE_ROUNDS(rounds_32, STATES_XMM(VAESENC_YMM), "vzeroupper\n\t")
DEFINE_ROUNDS(rounds_64, STATES_XMM(VAESENC_ZMM), "vzeroupper\n\t")

struct width {
  unsigned bytes;
  fc_features needs;
  void (*run)(void);
  double best; /* ns a round */
};

static struct width widths[] = {
    {16, FC_F(AES), rounds_16, 1e9},
    {32, FC_F(VAES) | FC_F(AVX2), rounds_32, 1e9},
    {64, FC_F(VAES) | FC_F(AVX512F), rounds_64, 1e9},
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void) {
  const fc_features have = fc_cpu_detect();
  for (int run = 0; run < RUNS; run++) {
    for (struct width *w = widths; w < widths + sizeof widths / sizeof *widths; w++) {
      if (w->needs & ~have) continue;
      const double start = now();
      w->run();
      const double a_round = (now() - start) / PASSES / STATES;
      if (a_round < w->best) w->best = a_round;
    }
  }
  for (struct width *w = widths; w < widths + sizeof widths / sizeof *widths; w++) {
    if (!(w->needs & ~have)) printf("%u %.4f\n", w->bytes, w->best);
  }
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill [--answers] SYMBOL ...: exit 0 if the native checks find nothing wrong with these kernels, which are then
 * as good as the original; 1 at the first check that fails. A mutant may also crash or not return:
 * the timer counts processor time, so that a busy machine kills nothing.
 *
 * The cheapest checks come first: answers at a few lengths, then the quick parts of the programs of
 * tests/native, linked in with their main renamed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "reference.h"

int bounds_main(int argc, char **argv);
int wiped_main(int argc, char **argv);
int abi_main(int argc, char **argv);
int bitflip_main(int argc, char **argv);

typedef int main_fn(int argc, char **argv);

/* Lengths on both sides of every boundary that a kernel here has. */
static const size_t lengths[] = {0,  1,  2,  3,  4,  5,   7,   8,   9,   12,  15,  16,  17,  23,
                                 31, 32, 33, 47, 48, 63,  64,  65,  80,  97,  112, 113, 127, 128,
                                 129, 144, 160, 191, 200, 240, 256, 257, 272, 384, 400, 1040, 4100};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int answer_differs(struct harness_call *call, uint64_t seed) {
  static struct reference_result expected;
  struct reference_raw raw = {.source = harness_random, .context = &seed};
  const struct harness_op *op = call->target->op;
  harness_place_plainly(call);
  harness_fill(call, reference_source, &raw);
  const int counter = harness_operand_index(op, "counter");
  if (counter >= 0 && seed % 2 == 0) {
    memset(call->at[counter] + 8, 0xff, 7);
    call->at[counter][15] |= 0xf0; /* the low 64 bits overflow within 16 blocks */
  }
  if (op->result == HARNESS_SECRET && seed % 4 != 0 && call->sizes.n != 0) {
    memcpy(call->at[1], call->at[0], call->sizes.n);
    if (seed % 4 == 1) call->at[1][call->sizes.n - 1] ^= 1;
  }
  reference_run(call, &raw, &expected);
  if (harness_run(call) != expected.result) return 1;
  for (size_t k = 0; k < op->operand_count; k++) {
    if (expected.known[k] && op->operands[k].direction != HARNESS_INPUT &&
        op->operands[k].direction != HARNESS_IN &&
        memcmp(call->at[k], expected.bytes[k], harness_size(call, k)) != 0) {
      return 1;
    }
  }
  return 0;
}

static int answers_differ(const struct harness_target *target) {
  for (size_t i = 0; i < COUNT(lengths); i++) {
    struct harness_call call = {.target = target};
    const size_t n = lengths[i] / target->op->unit * target->op->unit;
    call.sizes = (struct harness_sizes){n, harness_has_aad(target->op) ? lengths[i] * 5 % 53 : 0,
                                        16 + 8 * (i % 3)};
    if (answer_differs(&call, i + 1)) return 1;
  }
  return 0;
}

static int check_answers(int count, char **symbols) {
  size_t target_count;
  struct harness_target *targets = harness_all_targets(&target_count);
  for (size_t i = 0; i < target_count; i++) {
    for (int s = 0; s < count; s++) {
      if (strcmp(targets[i].kernel->symbol, symbols[s]) != 0) continue;
      if (answers_differ(&targets[i])) {
        printf("fail %s answers\n", symbols[s]);
        return 1;
      }
    }
  }
  free(targets);
  return 0;
}

static int run_program(main_fn *program, const char *name, char *symbol) {
  char row[] = "--row", quick[] = "--quick", text[32];
  char *arguments[] = {text, row, symbol, quick, NULL};
  snprintf(text, sizeof text, "%s", name);
  return program(4, arguments);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    main_fn *run;
  } programs[] = {{"wiped", wiped_main}, {"bitflip", bitflip_main}, {"bounds", bounds_main},
                  {"abi", abi_main}};
  struct itimerval limit = {.it_value = {.tv_sec = 2}};
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  setitimer(ITIMER_PROF, &limit, NULL);
  const int answers_alone = argc > 1 && strcmp(argv[1], "--answers") == 0;
  if (check_answers(argc - 1, argv + 1)) return 1;
  if (answers_alone) return 0;
  for (size_t p = 0; p < COUNT(programs); p++) {
    for (int s = 1; s < argc; s++) {
      /* A check of one kernel takes a third of a second at most. */
      setitimer(ITIMER_PROF, &limit, NULL);
      if (run_program(programs[p].run, programs[p].name, argv[s]) != 0) return 1;
    }
  }
  puts("all held"); /* so that a kernel that returns into exit is no survivor */
  return 0;
}

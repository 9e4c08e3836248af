/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A payload for traces.py: call kernels under the secrets and lengths of tests/proof/trace/patterns.c.
 * Each call is between two marks at which Bochs' debugger begins and ends to print every instruction
 * and every memory access. A line before it says what is called; traces.py compares.
 *
 * The planted leaks come first, then the rows named by FC_TRACED_ROWS ("op-name op-name ").
 */
#include <string.h>

#include "cpu/detect.h"
#include "harness.h"
#include "patterns.h"
#include "runtime.h"

extern void trace_call(fc_any_fn *fn, const uint64_t words[HARNESS_MAX_WORDS]);

int main(void);

static void trace_length(const struct harness_target *target, struct harness_sizes sizes,
                         const struct patterns *patterns) {
  struct harness_call call = {.target = target, .sizes = sizes};
  harness_place_plainly(&call);
  const int in = harness_operand_index(target->op, "in");
  const int out = harness_operand_index(target->op, "out");
  if (sizes.n % 4 == 3 && harness_has_in_place(target->op)) call.at[out] = call.at[in];
  for (size_t i = 0; i < patterns->count; i++) {
    const struct pattern *pattern = &patterns->list[i];
    struct pattern_source source = {target->op, pattern, pattern->seed, &sizes};
    if (harness_fill(&call, fill_by_pattern, &source) != 0) fail("%s: cannot fill", target->id);
    harness_set_words(&call);
    say("call %s n=%u aad=%u key=%u %s", target->id, (uint64_t)sizes.n, (uint64_t)sizes.aad_len,
        (uint64_t)sizes.key_len, pattern->name);
    trace_call(target->kernel->fn, call.words);
  }
}

enum { ALL_LENGTHS = MAX_LENGTHS, LEAK_LENGTHS = 4 };

static void trace_target(const struct harness_target *target, size_t limit) {
  static struct harness_sizes sizes[MAX_LENGTHS];
  static struct patterns patterns;
  const size_t count = lengths_of(target->op, sizes);
  make_patterns(target->op, &patterns);
  for (size_t i = 0; i < count && i < limit; i++) trace_length(target, sizes[i], &patterns);
}

static int wanted(const struct fc_row *row) {
  const char *at = FC_TRACED_ROWS;
  char name[80];
  const size_t op_len = strlen(fc_op_names[row->op]), len = op_len + 1 + strlen(row->name);
  strcpy(name, fc_op_names[row->op]);
  name[op_len] = '-';
  strcpy(name + op_len + 1, row->name);
  for (; *at != 0; at++) {
    if (memcmp(at, name, len) == 0 && at[len] == ' ') return 1;
    while (*at != ' ') at++;
  }
  return 0;
}

static void trace_rows(const struct fc_row *rows, size_t row_count, int leaks) {
  size_t count;
  const struct harness_target *targets = harness_targets(rows, row_count, &count);
  for (size_t i = 0; i < count; i++) {
    if (!leaks && !wanted(targets[i].row)) continue;
    const char *reason = harness_not_runnable(&targets[i]);
    if (reason == NULL) {
      trace_target(&targets[i], leaks ? LEAK_LENGTHS : ALL_LENGTHS);
    } else {
      fail("%s: %s", targets[i].id, reason);
    }
  }
}

int main(void) {
  harness_options.quick = FC_QUICK;
  trace_rows(harness_leak_rows, harness_leak_row_count, 1);
  trace_rows(fc_rows, fc_row_count, 0);
  return 0;
}

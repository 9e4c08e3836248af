/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors FILE                   what the CPU has, what was chosen, every row that it can run
 * vectors FILE --force OP-NAME   this row alone, whatever the CPU says: for seeing it die
 *
 * Lines: `features NAME...`, `chosen OP NAME`, `row OP-NAME` before a row is run (the last of them
 * is where a program that died was), `pass|fail|undecidable SYMBOL vectors DETAIL`, and `end` last.
 * FASTCRYPT_CPU holds. Exit status 1 if anything failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/detect.h"
#include "cpu/dispatch.h"
#include "cpu/self_test.h"
#include "vectors.h"

static int any_failed;

static void report(const char *symbol, const char *suffix, const struct tally *tally) {
  if (tally->failed == 0 && tally->passed > 0) {
    printf("pass %s%s vectors %u\n", symbol, suffix, tally->passed);
    return;
  }
  any_failed = 1;
  printf("fail %s%s vectors %u of %u wrong, first on line %u\n", symbol, suffix, tally->failed,
         tally->passed + tally->failed, tally->first_failed);
}

static struct scratch allocate(size_t longest) {
  uint8_t *p = malloc(2 * (longest + SCRATCH_EXTRA) + 1);
  if (p == NULL) abort();
  return (struct scratch){p + 1, p + 1 + longest + SCRATCH_EXTRA};
}

/* A suite that uses another's function: symbol@row, as everywhere in the proof. */
static void suffix_of(const struct fc_row *row, size_t k, char *suffix, size_t size) {
  const char *symbol = row->kernels[k].symbol;
  const size_t len = strlen(symbol), name_len = strlen(row->name);
  const int own = len > name_len && symbol[len - name_len - 1] == '_' &&
                  strcmp(symbol + len - name_len, row->name) == 0;
  snprintf(suffix, size, own ? "" : "@%s", row->name);
}

static void run_row(const struct fc_row *row, const struct vectors *vectors,
                    const struct scratch *scratch) {
  struct tally tallies[FC_AES_FUNCTION_COUNT] = {0};
  printf("row %s-%s\n", fc_op_names[row->op], row->name);
  const char *failed = fc_self_test_row(row);
  if (failed != NULL) {
    any_failed = 1;
    printf("fail %s self-test gives wrong answers\n", failed);
  }
  for (size_t i = 0; i < vectors->count; i++) {
    check_row(row, &vectors->at[i], scratch, tallies);
  }
  for (size_t k = 0; k < fc_row_kernel_count(row); k++) {
    char suffix[32];
    suffix_of(row, k, suffix, sizeof suffix);
    report(row->kernels[k].symbol, suffix, &tallies[k]);
  }
}

static void cannot_run(const struct fc_row *row, fc_features features) {
  for (size_t k = 0; k < fc_row_kernel_count(row); k++) {
    char suffix[32];
    suffix_of(row, k, suffix, sizeof suffix);
    printf("undecidable %s%s vectors ", row->kernels[k].symbol, suffix);
    if (!fc_row_built(row)) {
      puts("not built");
      continue;
    }
    printf("this CPU lacks");
    for (int id = 0; id < FC_FEATURE_COUNT; id++) {
      if ((row->features & ~features) >> id & 1) printf(" %s", fc_feature_infos[id].name);
    }
    putchar('\n');
  }
}

/* The sealed table: what it chose, that it is read-only, and the vectors through it. */
static int run_sealed(const struct vectors *vectors, const struct scratch *scratch) {
  static const char *const kinds[] = {
#define X(kind, ...) #kind,
      VECTOR_KINDS(X)
#undef X
  };
  struct tally tallies[VECTOR_KIND_COUNT] = {0};
  struct fc_seal_error error = {""};
  puts("row sealed");
  if (fc_seal(getenv("FASTCRYPT_CPU"), &error) != FC_SEAL_OK) {
    printf("fail sealed vectors cannot seal: %s\n", error.detail);
    return -1;
  }
  for (size_t op = 0; op < FC_OP_COUNT; op++) {
    printf("chosen %s %s\n", fc_op_names[op], FC_TABLE.chosen[op]->name);
  }
  printf("%s sealed-page vectors read-only memory\n", fc_sealed.read_only ? "pass" : "fail");
  any_failed |= !fc_sealed.read_only;
  for (size_t i = 0; i < vectors->count; i++) check_sealed(&vectors->at[i], scratch, tallies);
  for (size_t i = 0; i < VECTOR_KIND_COUNT; i++) {
    if (tallies[i].passed + tallies[i].failed == 0) {
      printf("undecidable sealed-%s vectors the file has none\n", kinds[i]);
    } else {
      report("sealed-", kinds[i], &tallies[i]);
    }
  }
  return 0;
}

static void print_features(fc_features features) {
  printf("features");
  for (int id = 0; id < FC_FEATURE_COUNT; id++) {
    if (features >> id & 1) printf(" %s", fc_feature_infos[id].name);
  }
  putchar('\n');
}

/* Exit status 2 if there is no such row; else what the row's vectors say, if it lives. */
static int force(const char *wanted, const struct vectors *vectors, const struct scratch *scratch) {
  for (size_t i = 0; i < fc_row_count; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s-%s", fc_op_names[fc_rows[i].op], fc_rows[i].name);
    if (strcmp(name, wanted) == 0 && fc_row_built(&fc_rows[i])) {
      run_row(&fc_rows[i], vectors, scratch);
      return any_failed;
    }
  }
  fprintf(stderr, "no row %s is built\n", wanted);
  return 2;
}

int main(int argc, char **argv) {
  struct vectors vectors;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* what was said before a death must have been said */
  const int forced = argc == 4 && strcmp(argv[2], "--force") == 0;
  if (argc != 2 && !forced) {
    fprintf(stderr, "usage: vectors FILE [--force OP-NAME]\n");
    return 2;
  }
  if (vectors_read(argv[1], &vectors) != 0) return 2;
  const struct scratch scratch = allocate(vectors.longest);
  if (forced) return force(argv[3], &vectors, &scratch);

  const fc_features features = fc_cpu_detect();
  print_features(features);
  if (run_sealed(&vectors, &scratch) != 0) return 1;
  for (size_t i = 0; i < fc_row_count; i++) {
    if (fc_row_runnable(&fc_rows[i], features)) {
      run_row(&fc_rows[i], &vectors, &scratch);
    } else {
      cannot_run(&fc_rows[i], features);
    }
  }
  puts("end");
  return any_failed;
}

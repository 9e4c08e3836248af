/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every native check shares: the kernels as targets, their arguments as data (ops.def),
 * filling and calling them, and the lines of the report. A check decides where operands lie and
 * what they hold; a new row of kernels.def needs nothing here.
 */
#ifndef FC_HARNESS_H
#define FC_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

#define HARNESS_MAX_OPERANDS 8
#define HARNESS_MAX_WORDS 6

/* The size of an operand in a test: bytes, or one of these. */
#define HARNESS_N ((size_t)-1)
#define HARNESS_AAD_LEN ((size_t)-2)
#define HARNESS_KEY_LEN ((size_t)-3)
#define HARNESS_CHAINS_LEN ((size_t)-4)
#define HARNESS_IVS_LEN ((size_t)-5)
#define HARNESS_LANES_N ((size_t)-6)
#define HARNESS_PER_LANE(bytes) (((size_t)1 << 32) + (bytes))

/* Messages of lanes begin so many bytes apart: an odd number, so that they have every alignment. */
#define HARNESS_LANE_STEP 37

/* IN and OUT are the pair that may be one buffer. */
enum harness_direction {
  HARNESS_INPUT,
  HARNESS_OUTPUT,
  HARNESS_INOUT,
  HARNESS_IN,
  HARNESS_OUT,
};
enum harness_secrecy { HARNESS_NONE, HARNESS_PUBLIC, HARNESS_SECRET, HARNESS_CIPHERTEXT };
enum harness_kind {
  HARNESS_RAW,
  HARNESS_AES_KEY,
  HARNESS_GHASH_KEY,
  HARNESS_GCM_KEY,
  HARNESS_MESSAGE,
  HARNESS_CHAINS,
  HARNESS_LANE_POINTERS,
};

struct harness_operand {
  const char *name;
  size_t size;
  enum harness_direction direction;
  enum harness_secrecy secrecy;
  enum harness_kind kind;
  size_t alignment;
};

/* An argument word: the number of the operand it points to, or one of these. */
enum {
  HARNESS_BYTES = -1,
  HARNESS_BLOCKS = -2,
  HARNESS_KEY_LENGTH = -3,
  HARNESS_CHAIN_COUNT = -4,
  HARNESS_CHAIN_BLOCKS = -5,
};

struct harness_op {
  const char *name; /* "sha256_blocks", "aes_ctr" */
  size_t unit;
  enum harness_secrecy result;
  size_t operand_count;
  struct harness_operand operands[HARNESS_MAX_OPERANDS];
  size_t word_count;
  int words[HARNESS_MAX_WORDS];
};

/* One function of one row. */
struct harness_target {
  const struct fc_row *row;
  size_t index; /* of the function in its row */
  const struct fc_kernel *kernel;
  const struct harness_op *op;
  char id[80]; /* the symbol; symbol@row where a suite borrows another's function */
};

/* The lengths of one test. n is a multiple of op->unit. */
struct harness_sizes {
  size_t n, aad_len, key_len;
};

/* One call: the check sets target, sizes and where each operand lies; the rest follows. */
struct harness_call {
  const struct harness_target *target;
  struct harness_sizes sizes;
  uint8_t *at[HARNESS_MAX_OPERANDS];
  uint64_t words[HARNESS_MAX_WORDS];
};

/* ---- Targets --------------------------------------------------------------------------------- */

/* Every function of rows[0..count): built or not. Returned array is malloc'ed. */
struct harness_target *harness_targets(const struct fc_row *rows, size_t row_count, size_t *count);

/* The planted leaks as rows: leak_early_exit, leak_jump (compares), leak_table_aes (a suite with
 * only expand_key and ecb_encrypt). */
extern const struct fc_row harness_leak_rows[];
extern const size_t harness_leak_row_count;

/* Faulty kernels, one for each thing that a check must see (planted/). */
extern const struct fc_row harness_planted_rows[];
extern const size_t harness_planted_row_count;

/* The targets that a program checks: those of fc_rows, or with --planted of harness_planted_rows.
 */
struct harness_target *harness_all_targets(size_t *count);

/* NULL if this CPU can run the target, else why not: "not built", "this CPU lacks avx512f". */
const char *harness_not_runnable(const struct harness_target *target);

/* Whether the op has an operand of these kinds or sizes. */
int harness_has_key_len(const struct harness_op *op);
int harness_has_aad(const struct harness_op *op);
int harness_has_in_place(const struct harness_op *op);
int harness_has_n(const struct harness_op *op);

/* The operand called name, or -1. */
int harness_operand_index(const struct harness_op *op, const char *name);

/* Whether the operand points to the operands after it. The op's one such operand, or -1. */
int harness_points(const struct harness_operand *operand);
int harness_pointers_index(const struct harness_op *op);

/* Into how many chains n bytes are cut: the largest divisor of the blocks up to 20, so that every
 * count up to there occurs; 3 empty ones for none. */
size_t harness_chain_count(size_t n);

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Bytes of operand k in this call. */
size_t harness_size(const struct harness_call *call, size_t k);

/* Where the content of the inputs comes from: fill p[0..len), raw bytes of the operand called name.
 * Prepared operands ask for "key" (key_len bytes) and "h" (16 bytes, GHASH alone). */
typedef void harness_source_fn(void *context, const char *name, uint8_t *p, size_t len);

/* Random bytes; context is a uint64_t, the state of the generator. */
harness_source_fn harness_random;

/* One byte everywhere; context is a uint8_t. */
harness_source_fn harness_constant;

/*
 * Fill every input: raw operands from the source, prepared ones by the suite's own functions, the
 * message's pointers. Returns 0, or -1 if the suite lacks a function that prepares. If a message
 * has OUT at the place of IN, that is an in-place call.
 */
int harness_fill(struct harness_call *call, harness_source_fn *source, void *context);

/* Write operand k, which points, from the places of the operands after it. */
void harness_fill_pointers(struct harness_call *call, size_t k);

/* Set call->words from the operands' places. */
void harness_set_words(struct harness_call *call);

/* Call fn with six words. */
uint64_t harness_invoke(fc_any_fn *fn, const uint64_t words[HARNESS_MAX_WORDS]);

/* harness_invoke of the call's kernel; 0 if the op returns nothing, else its int. */
int harness_run(struct harness_call *call);

/* The parts of operand k that are secret or ciphertext: at most two ranges of it, as offset and length. */
struct harness_range {
  size_t offset, len;
};
size_t harness_secret_ranges(const struct harness_call *call, size_t k,
                             struct harness_range ranges[2]);

/* A page-aligned scratch place for every operand, kept between calls: simplest way to place them.
 */
#define HARNESS_PLAIN_MAX 20480
void harness_place_plainly(struct harness_call *call);

/* ---- The report ------------------------------------------------------------------------------ */

/* `prog [--row NAME] [--op OP] [--json] [--quick] [--planted] [--list]`: NAME is an id, a symbol or
 * a row's name
 * ("sse2"); OP is "sha256_blocks", "aes" or "aes_ctr". --list prints `target <id> <runnable or why
 * not>` for each target and exits. */
struct harness_options {
  const char *row, *op;
  int json, quick, planted;
};
extern struct harness_options harness_options;
void harness_parse(int argc, char **argv);
int harness_selected(const struct harness_target *target);

/* One line: `pass|fail|undecidable <id> <check> <detail>`. */
enum harness_status { HARNESS_PASS, HARNESS_FAIL, HARNESS_UNDECIDABLE };
void harness_report(enum harness_status status, const char *id, const char *check,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* 1 if any fail was reported, else 0: the exit status. */
int harness_failed(void);

#endif

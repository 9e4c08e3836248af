/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of chosen kernels: resolved by a pure function, sealed once per process in a page that
 * is then read-only memory. Every call of the library goes through FC_TABLE; there is no setter.
 */
#ifndef FC_CPU_DISPATCH_H
#define FC_CPU_DISPATCH_H

#include "kernels.h"

struct fc_aes_suite {
#define X(function) fc_aes_##function##_fn *function;
  FC_AES_FUNCTIONS(X)
#undef X
};

struct fc_table {
#define X(op) fc_##op##_fn *op;
  FC_OPS(X)
#undef X
  struct fc_aes_suite aes;
  const struct fc_row *chosen[FC_OP_COUNT];
  fc_features features; /* usable and not narrowed away */
};

/* Pure: for each op the first row that a CPU with these features can run. */
FC_HIDDEN void fc_resolve(fc_features features, struct fc_table *table);

/* 4 KiB pages on x86-64; elsewhere systems with 16 KiB pages exist. A system whose pages are larger
 * still is left unsealed, and info says so. */
#if defined(__x86_64__)
#define FC_PAGE_BYTES 4096
#else
#define FC_PAGE_BYTES 16384
#endif

enum fc_seal_state { FC_EMPTY, FC_FILLING, FC_SEALED };

struct fc_page {
  FC_ALIGNAS(FC_PAGE_BYTES) struct fc_table table;
  int read_only; /* the page is read-only memory */
  int state;     /* enum fc_seal_state, atomic */
};

/* Reached directly, RIP-relative; padded to whole pages by its alignment. */
extern FC_HIDDEN struct fc_page fc_sealed;
#define FC_TABLE (fc_sealed.table)

enum fc_seal_result { FC_SEAL_OK, FC_SEAL_UNKNOWN_WORD, FC_SEAL_SELF_TEST };

/* Why sealing failed, for the exception: the word of FASTCRYPT_CPU, or the kernel's symbol. */
struct fc_seal_error {
  char detail[64];
};

/*
 * Detect, narrow by `setting` (the value of FASTCRYPT_CPU or NULL), resolve, self-test the chosen
 * kernels, make the page read-only. The first caller does it; later ones find it sealed, and their
 * setting is not looked at. After a failure the table is empty again.
 */
FC_HIDDEN enum fc_seal_result fc_seal(const char *setting, struct fc_seal_error *error);

#endif

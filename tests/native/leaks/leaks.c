/* SPDX-License-Identifier: Apache-2.0 */
#include "leaks/leaks.h"

#include "harness.h"

int leak_early_exit(const void *a, const void *b, size_t len) {
  const uint8_t *x = a, *y = b;
  for (size_t i = 0; i < len; i++) {
    if (x[i] != y[i]) return 1;
  }
  return 0;
}

/* The leaks as rows, so that a check treats them like any kernel. */
static const struct fc_kernel early_exit[] = {{(fc_any_fn *)leak_early_exit, "leak_early_exit"}};
static const struct fc_kernel jump[] = {{(fc_any_fn *)leak_jump, "leak_jump"}};
static const struct fc_kernel table_aes[FC_AES_FUNCTION_COUNT] = {
    [FC_AES_expand_key] = {(fc_any_fn *)leak_table_expand_key, "leak_table_expand_key"},
    [FC_AES_ecb_encrypt] = {(fc_any_fn *)leak_table_ecb_encrypt, "leak_table_ecb_encrypt"},
};

/* Named so that the identifier of a target is the symbol alone. */
const struct fc_row harness_leak_rows[] = {
    {FC_OP_timingsafe_bcmp, "exit", 0, FC_AES_LAYOUT_NONE, early_exit, 0, 0},
    {FC_OP_timingsafe_bcmp, "jump", 0, FC_AES_LAYOUT_NONE, jump, 0, 0},
    {FC_OP_aes, "table", 0, FC_AES_LAYOUT_FIPS, table_aes, 0, 0},
};
const size_t harness_leak_row_count = sizeof harness_leak_rows / sizeof harness_leak_rows[0];

/* SPDX-License-Identifier: Apache-2.0 */
/* One test per op of kernels.h, over any row of that op. */
#ifndef FC_BOCHS_OPS_H
#define FC_BOCHS_OPS_H

#include "kernels.h"

/* `reference` is the op's portable row; the expected value wherever a test cannot know it itself.
 */
typedef void op_test(const struct fc_row *row, const struct fc_row *reference);

#define X(op) op_test test_##op;
FC_OPS(X)
#undef X
op_test test_aes;

#endif

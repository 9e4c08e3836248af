/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers for any row, run over the chosen ones at import and over all by self_test(). */
#ifndef FC_CPU_SELF_TEST_H
#define FC_CPU_SELF_TEST_H

#include "kernels.h"

/* NULL if every function of a runnable row gives the known answers, else the symbol that does not. */
FC_HIDDEN const char *fc_self_test_row(const struct fc_row *row);

#endif

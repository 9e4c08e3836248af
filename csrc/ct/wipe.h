/* SPDX-License-Identifier: Apache-2.0 */
/* The one wipe function. */
#ifndef FC_CT_WIPE_H
#define FC_CT_WIPE_H

#include <stddef.h>

#include "kernels.h"

/* Store zeros over p[0..len) in a way that no optimiser, link-time ones included, may drop. */
FC_HIDDEN void fc_wipe(void *p, size_t len);

#endif

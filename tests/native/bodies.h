/* SPDX-License-Identifier: Apache-2.0 */
/* The C kernels behind the entries of asm/x86_64/portable_entries.S. */
#ifndef FC_BODIES_H
#define FC_BODIES_H

#include "kernels.h"

struct body {
  struct fc_kernel kernel; /* symbol: that of the entry; fn: the body */
  size_t cleared;          /* bytes of stack that the entry clears after it */
};

/* The body behind an entry; NULL for kernels that have none. */
const struct body *body_of(const struct fc_kernel *kernel);

#endif

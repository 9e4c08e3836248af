/* SPDX-License-Identifier: Apache-2.0 */
/* The one wipe function. */
#ifndef FC_CT_WIPE_H
#define FC_CT_WIPE_H

#include <stddef.h>
#include <string.h>

/*
 * Store zeros over p[0..len) in a way that no optimiser, link-time ones included, may drop: memset,
 * then a statement that might read the memory. Inline, since most wipes are of small constant sizes
 * on hot paths: a call of libc's memset is 6 ns of a 50 ns hash. explicit_bzero would be such a call
 * too, and needs a newer libc than manylinux2014 promises.
 */
static inline void fc_wipe(void *p, size_t len) {
  if (len == 0) return; /* p may then be NULL */
#if defined(__GNUC__) || defined(__clang__)
  memset(p, 0, len);
  __asm__ volatile("" : : "r"(p) : "memory");
#else
  volatile unsigned char *bytes = (volatile unsigned char *)p;
  for (size_t i = 0; i < len; i++) bytes[i] = 0;
#endif
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "ct/wipe.h"

#include <string.h>

/*
 * memset followed by a statement that might read the memory: the stores stay, and memset is the
 * fastest way to make them. explicit_bzero would need a newer libc than manylinux2014 promises.
 */
void fc_wipe(void *p, size_t len) {
  if (len == 0) return;
  memset(p, 0, len);
#if defined(__GNUC__) || defined(__clang__)
  __asm__ volatile("" : : "r"(p) : "memory");
#else
  volatile unsigned char *bytes = p;
  for (size_t i = 0; i < len; i++) bytes[i] = 0;
#endif
}

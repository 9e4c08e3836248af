/* SPDX-License-Identifier: Apache-2.0 */
/* What the native harness (tests/native/harness.c) wants of a C library, as far as traces.c reaches. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

FILE *stderr;

size_t strlen(const char *s) {
  size_t len = 0;
  while (s[len] != 0) len++;
  return len;
}

char *strcpy(char *restrict to, const char *restrict from) {
  return memcpy(to, from, strlen(from) + 1);
}

void *calloc(size_t count, size_t size) {
  static _Alignas(16) uint8_t arena[1 << 16];
  static size_t used;
  uint8_t *p = arena + used;
  used += (count * size + 15) & ~(size_t)15;
  if (used > sizeof arena) abort();
  return p;
}

_Noreturn void abort(void) { exit(1); }

/* A fault, so that the runtime says where and ends the run as failed. */
_Noreturn void exit(int status) {
  fail("exit(%u)", (uint64_t)(unsigned)status);
  for (;;) __asm__ volatile("ud2");
}

int fprintf(FILE *restrict stream, const char *restrict format, ...) {
  (void)stream;
  fail("%s", format);
  return 0;
}

static size_t digits_of(int n, char text[12]) {
  char reversed[12];
  size_t count = 0;
  for (unsigned rest = (unsigned)n; rest != 0 || count == 0; rest /= 10) {
    reversed[count++] = (char)('0' + rest % 10);
  }
  for (size_t i = 0; i < count; i++) text[i] = reversed[count - 1 - i];
  text[count] = 0;
  return count;
}

/* %s and %d of numbers that are not negative. */
int snprintf(char *restrict out, size_t size, const char *restrict format, ...) {
  va_list list;
  size_t used = 0;
  va_start(list, format);
  for (; *format != 0; format++) {
    char one[12] = {*format, 0};
    const char *text = one;
    if (*format == '%' && *++format == 's') text = va_arg(list, const char *);
    if (*format == 'd' && format[-1] == '%') digits_of(va_arg(list, int), one);
    for (; *text != 0 && used + 1 < size; text++) out[used++] = *text;
  }
  va_end(list);
  if (size != 0) out[used] = 0;
  return (int)used;
}

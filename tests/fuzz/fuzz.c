/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"

enum { PAGE = 4096, BEFORE = 64 };

struct fuzz_input fuzz_open(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size, size};
  for (size_t i = 0; i < size; i++) input.beyond = (input.beyond ^ data[i]) * 0x100000001b3;
  return input;
}

void fuzz_bytes(struct fuzz_input *input, uint8_t *p, size_t len) {
  const size_t n = len < input->left ? len : input->left;
  if (n != 0) memcpy(p, input->data, n);
  input->data += n;
  input->left -= n;
  if (n < len) harness_random(&input->beyond, "beyond", p + n, len - n);
}

uint8_t fuzz_byte(struct fuzz_input *input) {
  uint8_t byte;
  fuzz_bytes(input, &byte, 1);
  return byte;
}

size_t fuzz_length(struct fuzz_input *input, size_t max) {
  const uint8_t kind = fuzz_byte(input), value = fuzz_byte(input);
  size_t n = value;
  if (kind % 4 == 1) n = (size_t)(value >> 2) * 16 + (value & 3) - 1;
  if (kind % 4 == 2) n = (size_t)(value >> 2) * 64 + (value & 3) - 1;
  if (kind % 4 == 3) n = (size_t)value << 8 | kind;
  return n > max ? max : n; /* -1 becomes max */
}

uint8_t *fuzz_place(size_t number, size_t len) {
  static uint8_t *places[FUZZ_PLACES];
  if (number >= FUZZ_PLACES || len > FUZZ_PLACE_BYTES) fuzz_fail("no such place");
  if (places[number] == NULL) {
    uint8_t *p = mmap(NULL, FUZZ_PLACE_BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, FUZZ_PLACE_BYTES + PAGE, PROT_READ | PROT_WRITE) != 0) {
      fuzz_fail("mmap");
    }
    places[number] = p + PAGE;
  }
  uint8_t *at = places[number] + FUZZ_PLACE_BYTES - len;
  memset(at - BEFORE, 0, BEFORE);
  return at;
}

void fuzz_check_before(const uint8_t *at) {
  for (size_t i = 1; i <= BEFORE; i++) {
    if (at[-(ptrdiff_t)i] != 0) fuzz_fail("the byte %zu before an operand was written", i);
  }
}

void fuzz_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  abort();
}

void fuzz_same(const char *what, const uint8_t *a, const uint8_t *b, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (a[i] != b[i]) fuzz_fail("%s: byte %zu of %zu is %02x, not %02x", what, i, len, a[i], b[i]);
  }
}

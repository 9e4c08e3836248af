/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets share: reading the input, memory with its end guarded, and giving up. */
#ifndef FC_FUZZ_H
#define FC_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The input, read from its beginning; past its end come pseudo-random bytes that depend on it. */
struct fuzz_input {
  const uint8_t *data;
  size_t left;
  uint64_t beyond;
};
struct fuzz_input fuzz_open(const uint8_t *data, size_t size);
void fuzz_bytes(struct fuzz_input *input, uint8_t *p, size_t len);
uint8_t fuzz_byte(struct fuzz_input *input);

/* A length 0 to max, small ones and those near multiples of 16 and 64 more often. */
size_t fuzz_length(struct fuzz_input *input, size_t max);

/* len bytes that end at an unmapped page, one place for each number; sanitizers do not see
 * assembly. The bytes before them are zero; fuzz_check_before aborts if they are not. */
enum { FUZZ_PLACES = 16, FUZZ_PLACE_BYTES = 1 << 16 };
uint8_t *fuzz_place(size_t number, size_t len);
void fuzz_check_before(const uint8_t *at);

/* Print why and abort. */
_Noreturn void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Abort unless two strings are equal. */
void fuzz_same(const char *what, const uint8_t *a, const uint8_t *b, size_t len);

#endif

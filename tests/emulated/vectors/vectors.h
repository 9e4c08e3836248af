/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known answers on a CPU that need not be this one: no Python, no C++, nothing but the core and
 * libc.
 *
 * The file (generate.py) has one vector a line, its fields in hexadecimal, `-` for an empty one.
 * The expected values are the standards' and Wycheproof's.
 */
#ifndef FC_EMULATED_VECTORS_H
#define FC_EMULATED_VECTORS_H

#include "kernels.h"

/* The kinds and the fields that each has, in the file's order. A digest is a TAG; a compare has its
 * operands in PLAIN and CIPHER, and in TAG one byte: 0, 1 or ff for -1. */
#define VECTOR_KINDS(X)                                             \
  X(sha1, PLAIN, TAG)                                               \
  X(sha224, PLAIN, TAG)                                             \
  X(sha256, PLAIN, TAG)                                             \
  X(sha384, PLAIN, TAG)                                             \
  X(sha512, PLAIN, TAG)                                             \
  X(sha512_224, PLAIN, TAG)                                         \
  X(sha512_256, PLAIN, TAG)                                         \
  X(ecb, KEY, PLAIN, CIPHER)                                        \
  X(cbc, KEY, IV, PLAIN, CIPHER)                                    \
  X(pkcs7, KEY, IV, PLAIN, CIPHER) /* cbc, padded */                \
  X(badpad, KEY, IV, CIPHER)       /* no padding */                 \
  X(ctr, KEY, IV, PLAIN, CIPHER)                                    \
  X(xts, KEY, IV, PLAIN, CIPHER) /* both keys; the tweak */         \
  X(gcm, KEY, IV, AAD, PLAIN, CIPHER, TAG)                          \
  X(forged, KEY, IV, AAD, CIPHER, TAG) /* gcm that must not open */ \
  X(compare, PLAIN, CIPHER, TAG)

enum kind {
#define X(kind, ...) VECTOR_##kind,
  VECTOR_KINDS(X)
#undef X
      VECTOR_KIND_COUNT
};

enum field_name { KEY, IV, AAD, PLAIN, CIPHER, TAG, FIELD_COUNT };

/* p is NULL where len is 0: the kernels allow that, so the vectors try it. */
struct field {
  uint8_t *p;
  size_t len;
};

struct vector {
  enum kind kind;
  unsigned line;
  struct field f[FIELD_COUNT];
};

struct vectors {
  struct vector *at;
  size_t count;
  size_t longest; /* field, in bytes */
};

/* Read a file. Returns 0, or -1 with a line on stderr. */
int vectors_read(const char *path, struct vectors *vectors);

/* How one function did. */
struct tally {
  unsigned passed, failed;
  unsigned first_failed; /* line */
};

void tally_add(struct tally *tally, const struct vector *v, int ok);

/* Where a check puts its results: two buffers of longest + SCRATCH_EXTRA bytes, not aligned. The extra
 * bytes are for padding, and for a vector of CBC in many chains. */
enum { SCRATCH_EXTRA = 4096 };
struct scratch {
  uint8_t *a, *b;
};

/* Whether p[0..len) is the field. */
int is_field(const uint8_t *p, size_t len, const struct field *field);

/* Run the vector through a row; tallies has one entry per function of the row. */
void check_row(const struct fc_row *row, const struct vector *v, const struct scratch *scratch,
               struct tally *tallies);

/* Run the vector through what stands above the kernels, on the sealed table. */
void check_sealed(const struct vector *v, const struct scratch *scratch,
                  struct tally tallies[VECTOR_KIND_COUNT]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Read the file of vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

/* A line's fields end where the list does. */
enum { END = FIELD_COUNT };
static const struct {
  const char *word;
  enum field_name fields[FIELD_COUNT + 1];
} kinds[VECTOR_KIND_COUNT] = {
#define X(kind, ...) {#kind, {__VA_ARGS__, (enum field_name)END}},
    VECTOR_KINDS(X)
#undef X
};

static char *read_all(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  size_t len = 0, got;
  do {
    char *more = realloc(text, len + 65537);
    if (more == NULL) abort();
    text = more;
    got = fread(text + len, 1, 65536, file);
    len += got;
  } while (got != 0);
  fclose(file);
  text[len] = '\0';
  return text;
}

static int nibble(char c) {
  const char *digits = "0123456789abcdef";
  const char *at = c == '\0' ? NULL : strchr(digits, c);
  return at == NULL ? -1 : (int)(at - digits);
}

/* Decode a word in its own place. */
static int decode(char *word, struct field *field) {
  field->p = NULL;
  field->len = 0;
  if (strcmp(word, "-") == 0) return 0;
  uint8_t *out = (uint8_t *)word;
  for (const char *c = word; *c != '\0'; c += 2) {
    const int high = nibble(c[0]), low = nibble(c[1]);
    if (high < 0 || low < 0) return -1;
    out[field->len++] = (uint8_t)(high << 4 | low);
  }
  field->p = out;
  return 0;
}

static int parse(char *line, struct vector *v) {
  char *rest = line;
  const char *word = strtok_r(line, " ", &rest);
  size_t kind = 0;
  while (kind < VECTOR_KIND_COUNT && (word == NULL || strcmp(word, kinds[kind].word) != 0)) kind++;
  if (kind == VECTOR_KIND_COUNT) return -1;
  v->kind = (enum kind)kind;
  for (const enum field_name *name = kinds[kind].fields; (int)*name != END; name++) {
    char *digits = strtok_r(NULL, " ", &rest);
    if (digits == NULL || decode(digits, &v->f[*name]) != 0) return -1;
  }
  return strtok_r(NULL, " ", &rest) == NULL ? 0 : -1;
}

static void add(struct vectors *vectors, const struct vector *v) {
  if ((vectors->count & (vectors->count - 1)) == 0) { /* a power of two is full */
    const size_t room = vectors->count == 0 ? 1 : 2 * vectors->count;
    vectors->at = realloc(vectors->at, room * sizeof *v);
    if (vectors->at == NULL) abort();
  }
  vectors->at[vectors->count++] = *v;
  for (int i = 0; i < FIELD_COUNT; i++) {
    if (v->f[i].len > vectors->longest) vectors->longest = v->f[i].len;
  }
}

int vectors_read(const char *path, struct vectors *vectors) {
  char *text = read_all(path);
  memset(vectors, 0, sizeof *vectors);
  if (text == NULL) {
    perror(path);
    return -1;
  }
  unsigned number = 0;
  char *rest = text;
  for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    struct vector v = {.line = ++number};
    if (line[0] == '#') continue;
    if (parse(line, &v) != 0) {
      fprintf(stderr, "%s:%u: not a vector\n", path, number);
      return -1;
    }
    add(vectors, &v);
  }
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct decode_function *functions; /* by address */
static size_t function_count;

static void give_up(const char *path, const char *why) {
  fprintf(stderr, "%s: %s\n", path, why);
  exit(2);
}

static void *grown(void *array, size_t count, size_t size) {
  if ((count & (count - 1)) != 0) return array; /* room until the next power of two */
  void *larger = realloc(array, (count == 0 ? 1 : 2 * count) * size);
  if (larger == NULL) abort();
  return larger;
}

static int read_operands(FILE *file, struct decode_instruction *i) {
  if (i->operand_count > DECODE_MAX_OPERANDS) return 0;
  for (size_t k = 0; k < i->operand_count; k++) {
    struct decode_operand *o = &i->operands[k];
    int64_t displacement;
    if (fscanf(file, "%d %d %" SCNu64 " %" SCNd64, &o->base, &o->index, &o->scale, &displacement) !=
        4)
      return 0;
    o->displacement = (uint64_t)displacement;
  }
  return 1;
}

static int read_instruction(FILE *file) {
  if (function_count == 0) return 0;
  struct decode_function *f = &functions[function_count - 1];
  f->instructions = grown(f->instructions, f->count, sizeof *f->instructions);
  struct decode_instruction *i = &f->instructions[f->count++];
  memset(i, 0, sizeof *i);
  return fscanf(file, "%" SCNx64 " %d %zu", &i->address, &i->padding, &i->operand_count) == 3 &&
         read_operands(file, i);
}

static int read_function(FILE *file) {
  functions = grown(functions, function_count, sizeof *functions);
  struct decode_function *f = &functions[function_count++];
  memset(f, 0, sizeof *f);
  return fscanf(file, "%95s %" SCNx64 " %" SCNx64, f->name, &f->start, &f->size) == 3;
}

void decode_load(const char *path) {
  char kind[2];
  FILE *file = fopen(path, "r");
  if (file == NULL) give_up(path, "cannot open");
  while (fscanf(file, "%1s", kind) == 1) {
    const int good = kind[0] == 'F'   ? read_function(file)
                     : kind[0] == 'I' ? read_instruction(file)
                                      : 0;
    if (!good) give_up(path, "not a table of decoded instructions");
  }
  fclose(file);
}

static int compare_function(const void *key, const void *element) {
  const uint64_t address = *(const uint64_t *)key;
  const struct decode_function *f = element;
  return address < f->start ? -1 : address >= f->start + f->size;
}

static int compare_instruction(const void *key, const void *element) {
  const uint64_t address = *(const uint64_t *)key;
  const struct decode_instruction *i = element;
  return address < i->address ? -1 : address > i->address;
}

struct decode_function *decode_function_at(uint64_t address) {
  return bsearch(&address, functions, function_count, sizeof *functions, compare_function);
}

struct decode_instruction *decode_at(uint64_t address) {
  struct decode_function *f = decode_function_at(address);
  if (f == NULL) return NULL;
  return bsearch(&address, f->instructions, f->count, sizeof *f->instructions, compare_instruction);
}

struct decode_function *decode_functions(size_t *count) {
  *count = function_count;
  return functions;
}

uint64_t decode_effective_address(const struct decode_operand *o,
                                  const struct user_regs_struct *regs) {
  const unsigned long long *values = (const unsigned long long *)regs;
  uint64_t address = o->displacement;
  if (o->base >= 0) address += values[o->base];
  if (o->index >= 0) address += values[o->index] * o->scale;
  return address;
}

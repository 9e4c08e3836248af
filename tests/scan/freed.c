/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one Python call frees, and the stack it leaves behind, searched for secrets. Loaded with
 * ctypes.PyDLL into an interpreter that runs with PYTHONMALLOC=malloc, so that malloc_usable_size
 * knows the size of every block, those made before the hook was set included.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

enum { WINDOW = 8, DEAD_STACK = 65536, WATCHED = 4096 };

/* Eight-byte pieces of secrets, and one bit for the low 16 bits of each. */
static const uint8_t *windows;
static size_t window_count;
static uint8_t maybe[65536 / 8];

static uint8_t dead_stack[DEAD_STACK];

/* The block whose bytes at its death are wanted. */
static const void *watched_block;
static uint8_t watched[WATCHED];
static size_t watched_size;

static long freed_blocks, found_in_freed, found_on_stack;

static long count_windows(const uint8_t *memory, size_t size) {
  long found = 0;
  for (size_t at = 0; at + WINDOW <= size; at++) {
    const unsigned low = memory[at] | (unsigned)memory[at + 1] << 8;
    if ((maybe[low / 8] >> low % 8 & 1) == 0) continue;
    for (size_t i = 0; i < window_count; i++) {
      found += memcmp(memory + at, windows + WINDOW * i, WINDOW) == 0;
    }
  }
  return found;
}

static void look_at(void *memory) {
  const size_t size = malloc_usable_size(memory);
  freed_blocks++;
  found_in_freed += count_windows(memory, size);
  if (memory == watched_block) {
    watched_size = size < WATCHED ? size : WATCHED;
    memcpy(watched, memory, watched_size);
  }
}

struct domain {
  PyMemAllocatorEx original;
};

static void *pass_malloc(void *context, size_t size) {
  const struct domain *domain = context;
  return domain->original.malloc(domain->original.ctx, size);
}

static void *pass_calloc(void *context, size_t count, size_t size) {
  const struct domain *domain = context;
  return domain->original.calloc(domain->original.ctx, count, size);
}

/* Blocks that grow or shrink hold results; no object with a secret in it is ever resized. */
static void *pass_realloc(void *context, void *memory, size_t size) {
  const struct domain *domain = context;
  return domain->original.realloc(domain->original.ctx, memory, size);
}

static void search_free(void *context, void *memory) {
  const struct domain *domain = context;
  if (memory != NULL) look_at(memory);
  domain->original.free(domain->original.ctx, memory);
}

void set_windows(const uint8_t *bytes, size_t count) {
  windows = bytes;
  window_count = count;
  memset(maybe, 0, sizeof maybe);
  for (size_t i = 0; i < count; i++) {
    const unsigned low = bytes[WINDOW * i] | (unsigned)bytes[WINDOW * i + 1] << 8;
    maybe[low / 8] |= (uint8_t)(1 << low % 8);
  }
}

/*
 * callable(*arguments) without arguments by name. What it freed and the stack below this frame are
 * searched; `block` (an address or NULL) is the block to watch.
 */
PyObject *search_call(PyObject *callable, PyObject *arguments, const void *block) {
  static const PyMemAllocatorDomain kinds[3] = {PYMEM_DOMAIN_OBJ, PYMEM_DOMAIN_MEM,
                                                PYMEM_DOMAIN_RAW};
  struct domain domains[3];
  freed_blocks = found_in_freed = found_on_stack = 0;
  watched_block = block;
  watched_size = 0;
  for (int i = 0; i < 3; i++) {
    PyMem_GetAllocator(kinds[i], &domains[i].original);
    PyMemAllocatorEx searching = {&domains[i], pass_malloc, pass_calloc, pass_realloc, search_free};
    PyMem_SetAllocator(kinds[i], &searching);
  }
  PyObject *result = PyObject_CallObject(callable, arguments);
  /* Before any other call writes there. */
  const volatile uint8_t *below = (const volatile uint8_t *)__builtin_frame_address(0) - DEAD_STACK;
  for (size_t i = 0; i < DEAD_STACK; i++) dead_stack[i] = below[i];
  for (int i = 0; i < 3; i++) PyMem_SetAllocator(kinds[i], &domains[i].original);
  found_on_stack = count_windows(dead_stack, DEAD_STACK);
  return result;
}

/* numbers: blocks freed, pieces of secrets found in them, pieces found on the stack. */
void search_results(long numbers[3]) {
  numbers[0] = freed_blocks;
  numbers[1] = found_in_freed;
  numbers[2] = found_on_stack;
}

/* The watched block as it was when it was freed; its size is 0 if it was not. */
size_t watched_bytes(uint8_t *out) {
  memcpy(out, watched, watched_size);
  return watched_size;
}

/* Leaves the first window on the dead stack: the search must see it. */
PyObject *leave_on_stack(void) {
  volatile uint8_t local[4096];
  for (size_t i = 0; i < WINDOW; i++) local[2048 + i] = windows[i];
  return PyLong_FromLong(local[0] & 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts allocations for tests. Preloaded (LD_PRELOAD) it counts every call of malloc and its like in
 * the process; loaded with ctypes.PyDLL it counts what one Python call takes from CPython's allocators.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- malloc ------------------------------------------------------------------------------------ */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long mallocs;

void *malloc(size_t size) {
  mallocs++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  mallocs++;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  mallocs++;
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  mallocs++;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  mallocs++;
  *memory = __libc_memalign(alignment, size);
  return *memory != NULL ? 0 : ENOMEM;
}

long malloc_calls(void) { return mallocs; }

/* ---- CPython's allocators ---------------------------------------------------------------------- */

struct domain {
  PyMemAllocatorEx original;
  long allocations;
};

/* Allocators are built on each other: only the outermost call counts. */
static int depth;

static void *count_malloc(void *context, size_t size) {
  struct domain *domain = context;
  domain->allocations += depth++ == 0;
  void *memory = domain->original.malloc(domain->original.ctx, size);
  depth--;
  return memory;
}

static void *count_calloc(void *context, size_t count, size_t size) {
  struct domain *domain = context;
  domain->allocations += depth++ == 0;
  void *memory = domain->original.calloc(domain->original.ctx, count, size);
  depth--;
  return memory;
}

/* Growing or shrinking an object is no new one. */
static void *count_realloc(void *context, void *memory, size_t size) {
  struct domain *domain = context;
  domain->allocations += depth++ == 0 && memory == NULL;
  memory = domain->original.realloc(domain->original.ctx, memory, size);
  depth--;
  return memory;
}

static void pass_free(void *context, void *memory) {
  struct domain *domain = context;
  domain->original.free(domain->original.ctx, memory);
}

/*
 * callable(*arguments), whose last values are named by `names` (a tuple, or NULL). counts receives
 * the allocations of objects, of PyMem and of PyMem_Raw. Returns a new reference or NULL.
 */
PyObject *count_call(PyObject *callable, PyObject *arguments, PyObject *names, long counts[3]) {
  static const PyMemAllocatorDomain kinds[3] = {PYMEM_DOMAIN_OBJ, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_RAW};
  struct domain domains[3] = {0};
  const Py_ssize_t named = names != NULL ? PyTuple_GET_SIZE(names) : 0;
  PyObject *const *values = &PyTuple_GET_ITEM(arguments, 0);
  for (int i = 0; i < 3; i++) {
    PyMem_GetAllocator(kinds[i], &domains[i].original);
    PyMemAllocatorEx counting = {&domains[i], count_malloc, count_calloc, count_realloc, pass_free};
    PyMem_SetAllocator(kinds[i], &counting);
  }
  PyObject *result = PyObject_Vectorcall(callable, values,
                                         (size_t)(PyTuple_GET_SIZE(arguments) - named), names);
  for (int i = 0; i < 3; i++) {
    PyMem_SetAllocator(kinds[i], &domains[i].original);
    counts[i] = domains[i].allocations;
  }
  return result;
}

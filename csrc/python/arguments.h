/* SPDX-License-Identifier: Apache-2.0 */
/* Binding vectorcall arguments to named parameters. */
#ifndef FC_PYTHON_ARGUMENTS_H
#define FC_PYTHON_ARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace fc {

/* A function's parameters in order: the first `positional` may be given by position, all by name. */
struct Signature {
  const char *function;
  int positional;
  int required; /* the first so many must be given */
  int count;
  const char *names[8];
};

/*
 * values[i] becomes the (borrowed) argument for names[i], or NULL. False with TypeError for a
 * missing, unknown, surplus or doubled argument.
 */
bool bind(const Signature &signature, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
          PyObject **values);

/* An integer of 0 to 2^64 - 1, or false with ValueError that names it (TypeError for no integer). */
bool parse_uint64(PyObject *object, const char *name, uint64_t *value);

}  // namespace fc

#endif

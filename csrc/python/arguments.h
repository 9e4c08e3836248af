/* SPDX-License-Identifier: Apache-2.0 */
/* Binding vectorcall arguments to named parameters. */
#ifndef FC_PYTHON_ARGUMENTS_H
#define FC_PYTHON_ARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

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

}  // namespace fc

#endif

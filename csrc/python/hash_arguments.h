/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a hash constructor: (data=b"", *, usedforsecurity=True), and string= for data=. */
#ifndef FC_PYTHON_HASH_ARGUMENTS_H
#define FC_PYTHON_HASH_ARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace fc {

/*
 * On success *data is borrowed, or NULL if there is none. The wording of the errors is the running
 * Python's, since CPython's own tests look at it.
 */
bool parse_hash_arguments(const char *name, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames, PyObject **data);

}  // namespace fc

#endif

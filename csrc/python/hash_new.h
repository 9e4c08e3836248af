/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FC_PYTHON_HASH_NEW_H
#define FC_PYTHON_HASH_NEW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace fc {

/* new(name, data=b"", *, usedforsecurity=True), METH_FASTCALL | METH_KEYWORDS on the module. */
PyObject *hash_new(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/*
 * The algorithm (an enum fc_hash) that a str means, in any case and in OpenSSL's spellings too; -1 with
 * TypeError for what is no str, ValueError for a name that is not ours.
 */
int hash_by_name(PyObject *name);

}  // namespace fc

#endif

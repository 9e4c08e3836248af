/* SPDX-License-Identifier: Apache-2.0 */
#include "python/arguments.h"

namespace fc {
namespace {

int index_of(const Signature &signature, PyObject *key) {
  for (int i = 0; i < signature.count; i++) {
    if (PyUnicode_CompareWithASCIIString(key, signature.names[i]) == 0) return i;
  }
  return -1;
}

bool bind_keywords(const Signature &signature, PyObject *const *args, PyObject *kwnames,
                   PyObject **values) {
  const Py_ssize_t nkeywords = PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t i = 0; i < nkeywords; i++) {
    PyObject *key = PyTuple_GET_ITEM(kwnames, i);
    const int at = index_of(signature, key);
    if (at < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                   signature.function, key);
      return false;
    }
    if (values[at] != nullptr) {
      PyErr_Format(PyExc_TypeError, "argument for %s() given by name ('%s') and position (%d)",
                   signature.function, signature.names[at], at + 1);
      return false;
    }
    values[at] = args[i];
  }
  return true;
}

}  // namespace

bool bind(const Signature &signature, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
          PyObject **values) {
  if (nargs > signature.positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional argument%s (%zd given)",
                 signature.function, signature.positional, signature.positional == 1 ? "" : "s",
                 nargs);
    return false;
  }
  for (int i = 0; i < signature.count; i++) values[i] = i < nargs ? args[i] : nullptr;
  if (kwnames != nullptr && !bind_keywords(signature, args + nargs, kwnames, values)) return false;
  for (int i = 0; i < signature.required; i++) {
    if (values[i] == nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %d)",
                   signature.function, signature.names[i], i + 1);
      return false;
    }
  }
  return true;
}

bool parse_uint64(PyObject *object, const char *name, uint64_t *value) {
  PyObject *index = PyNumber_Index(object);
  if (index == nullptr) return false;
  *value = PyLong_AsUnsignedLongLong(index);
  Py_DECREF(index);
  if (*value != UINT64_MAX || !PyErr_Occurred()) return true;
  PyErr_Format(PyExc_ValueError, "%s must be from 0 to 2**64 - 1", name);
  return false;
}

}  // namespace fc

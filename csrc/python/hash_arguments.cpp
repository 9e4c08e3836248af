/* SPDX-License-Identifier: Apache-2.0 */
#include "python/hash_arguments.h"

namespace fc {
namespace {

void unexpected_keyword(const char *name, PyObject *key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name, key);
#else
  PyErr_Format(PyExc_TypeError, "'%U' is an invalid keyword argument for %s()", key, name);
#endif
}

void given_twice(const char *name, const char *key) {
  PyErr_Format(PyExc_TypeError, "argument for %s() given by name ('%s') and position (1)", name,
               key);
}

void data_and_string(const char *name, bool positional) {
#if PY_VERSION_HEX >= 0x030E0000
  (void)name;
  (void)positional;
  PyErr_SetString(PyExc_TypeError,
                  "'data' and 'string' are mutually exclusive and support for 'string' keyword "
                  "parameter is slated for removal in a future version.");
#else
  if (positional) {
    given_twice(name, "string");
  } else {
    PyErr_Format(PyExc_TypeError, "%s() takes either 'data' or 'string', not both", name);
  }
#endif
}

bool warn_about_string() {
#if PY_VERSION_HEX >= 0x030F0000
  return PyErr_WarnEx(PyExc_DeprecationWarning,
                      "the 'string' keyword parameter is deprecated since Python 3.15 and slated "
                      "for removal in Python 3.19; use the 'data' keyword parameter or pass the "
                      "data to hash as a positional argument instead",
                      1) == 0;
#else
  return true;
#endif
}

}  // namespace

bool parse_hash_arguments(const char *name, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames, PyObject **data) {
  if (nargs > 1) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most 1 positional argument (%zd given)", name,
                 nargs);
    return false;
  }
  PyObject *by_position = nargs == 1 ? args[0] : nullptr;
  PyObject *by_data = nullptr, *by_string = nullptr, *unknown = nullptr;
  const Py_ssize_t nkeywords = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < nkeywords; i++) {
    PyObject *key = PyTuple_GET_ITEM(kwnames, i);
    PyObject *value = args[nargs + i];
    if (PyUnicode_CompareWithASCIIString(key, "data") == 0) {
      by_data = value;
    } else if (PyUnicode_CompareWithASCIIString(key, "string") == 0) {
      by_string = value;
    } else if (PyUnicode_CompareWithASCIIString(key, "usedforsecurity") == 0) {
      /* Any object, by its truth value: there is no policy here that could refuse. */
      if (PyObject_IsTrue(value) < 0) return false;
    } else if (unknown == nullptr) {
      unknown = key;
    }
  }
  /* In the order of Argument Clinic: given twice, unknown, and only then data with string. */
  if (by_position != nullptr && by_data != nullptr) {
    given_twice(name, "data");
    return false;
  }
  if (unknown != nullptr) {
    unexpected_keyword(name, unknown);
    return false;
  }
#if PY_VERSION_HEX >= 0x030E0000
  if (by_string == Py_None) by_string = nullptr; /* there it means "not given" */
#endif
  PyObject *first = by_position != nullptr ? by_position : by_data;
  if (by_string != nullptr) {
    if (first != nullptr) {
      data_and_string(name, by_position != nullptr);
      return false;
    }
    if (!warn_about_string()) return false;
  }
  *data = first != nullptr ? first : by_string;
  return true;
}

}  // namespace fc

/* SPDX-License-Identifier: Apache-2.0 */
/* new(name, data=b"", *, usedforsecurity=True): a hash object by name, in the shape of hashlib.new. */
#include "python/hash_new.h"

#include <cstring>

extern "C" {
#include "hash/algorithms.h"
}

namespace fc {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/* Whether the two are equal but for case; an underscore in `name` stands for `separator`. */
bool equal(const char *wanted, const char *name, char separator) {
  for (; *wanted != '\0' && *name != '\0'; wanted++, name++) {
    if (lower(*wanted) != (*name == '_' ? separator : lower(*name))) return false;
  }
  return *wanted == *name;
}

/*
 * Whether `wanted` means the algorithm: in any case its name ("sha512_256"), its name with a hyphen
 * ("sha512-256"), its title ("SHA-512/256"), or for SHA-2 OpenSSL's form of that ("SHA2-512/256").
 */
bool means(const char *wanted, const char *name, const char *title) {
  if (equal(wanted, name, '_') || equal(wanted, name, '-') || equal(wanted, title, '_'))
    return true;
  if (name[3] == '1') return false; /* "sha1" */
  for (size_t i = 0; i < 4; i++) {
    if (lower(wanted[i]) != "sha2"[i]) return false;
  }
  return equal(wanted + 4, title + 3, '_');
}

}  // namespace

int hash_by_name(PyObject *name) {
  Py_ssize_t size;
  const char *wanted = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &size) : nullptr;
  if (wanted == nullptr || std::strlen(wanted) != static_cast<size_t>(size)) {
    PyErr_SetString(PyExc_TypeError, "name must be a string");
    return -1;
  }
#define X(algorithm, engine, digest_bytes, block_bytes, title) \
  if (means(wanted, #algorithm, title)) return FC_HASH_##algorithm;
  FC_HASHES(X)
#undef X
  PyErr_Format(PyExc_ValueError, "unsupported hash type %.100s", wanted);
  return -1;
}

namespace {

/* Which keyword has this name, or -1. */
Py_ssize_t keyword_named(PyObject *kwnames, const char *name) {
  const Py_ssize_t count = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, i), name) == 0) return i;
  }
  return -1;
}

/* The keywords of a call but for number `without`, as a dict; NULL with an exception. */
PyObject *other_keywords(PyObject *const *values, PyObject *kwnames, Py_ssize_t without) {
  PyObject *keywords = PyDict_New();
  const Py_ssize_t count = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; keywords != nullptr && i < count; i++) {
    if (i != without && PyDict_SetItem(keywords, PyTuple_GET_ITEM(kwnames, i), values[i]) != 0) {
      Py_CLEAR(keywords);
    }
  }
  return keywords;
}

/* The object named `name` of the module, called with what is left of the arguments. */
PyObject *construct(PyObject *module, PyObject *name, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *keywords) {
  const int hash = hash_by_name(name);
  if (hash < 0) return nullptr;
  PyObject *type = PyObject_GetAttrString(module, fc_hash_of(fc_hash(hash))->name);
  if (type == nullptr) return nullptr;
  PyObject *made = PyObject_VectorcallDict(type, args, static_cast<size_t>(nargs), keywords);
  Py_DECREF(type);
  return made;
}

}  // namespace

PyObject *hash_new(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  const Py_ssize_t by_keyword = keyword_named(kwnames, "name");
  if (nargs > 2) {
    return PyErr_Format(PyExc_TypeError, "new() takes at most 2 positional arguments (%zd given)",
                        nargs);
  }
  if (nargs > 0 && by_keyword >= 0) {
    return PyErr_Format(PyExc_TypeError,
                        "argument for new() given by name ('name') and position (1)");
  }
  if (nargs == 0 && by_keyword < 0) {
    return PyErr_Format(PyExc_TypeError, "new() missing required argument 'name' (pos 1)");
  }
#if PY_VERSION_HEX < 0x030E0000
  if (keyword_named(kwnames, "string") >= 0) {
    return PyErr_Format(PyExc_TypeError, "'string' is an invalid keyword argument for new()");
  }
#endif
  PyObject *keywords = other_keywords(args + nargs, kwnames, by_keyword);
  if (keywords == nullptr) return nullptr;
  PyObject *name = nargs > 0 ? args[0] : args[by_keyword];
  const Py_ssize_t used = nargs > 0 ? 1 : 0;
  PyObject *made = construct(module, name, args + used, nargs - used, keywords);
  Py_DECREF(keywords);
  return made;
}

}  // namespace fc

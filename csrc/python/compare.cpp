/* SPDX-License-Identifier: Apache-2.0 */
/* compare_digest, exactly as hmac has it, and its siblings. */
#include "python/binding.h"
#include "python/buffers.h"
#include "python/thresholds.h"

extern "C" {
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

bool two_arguments(const char *name, Py_ssize_t nargs) {
  if (nargs == 2) return true;
  PyErr_Format(PyExc_TypeError, "%s expected 2 arguments, got %zd", name, nargs);
  return false;
}

/* 0 or 1. Long compares let other threads run. */
int bytes_differ(const void *a, const void *b, Py_ssize_t size) {
  DetachIf detached(size >= FC_COMPARE_DETACH_BYTES);
  return FC_TABLE.timingsafe_bcmp(a, b, static_cast<size_t>(size));
}

int bytes_order(const void *a, const void *b, Py_ssize_t size) {
  DetachIf detached(size >= FC_COMPARE_DETACH_BYTES);
  return FC_TABLE.timingsafe_memcmp(a, b, static_cast<size_t>(size));
}

/* Both operands as buffers. The wording for wrong kinds is hmac.compare_digest's. */
bool open_both(PyObject *a, PyObject *b, Input *input_a, Input *input_b) {
  if (!PyObject_CheckBuffer(a) && !PyObject_CheckBuffer(b) &&
      !(PyUnicode_Check(a) && PyUnicode_Check(b))) {
    PyErr_Format(PyExc_TypeError,
                 "unsupported operand types(s) or combination of types: '%.100s' and '%.100s'",
                 Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
    return false;
  }
  return input_a->open(a) && input_b->open(b);
}

/* -1 with an exception, 0 if equal, else 1. Lengths are public: unequal ones differ at once. */
int buffers_differ(PyObject *a, PyObject *b) {
  Input input_a, input_b;
  if (!open_both(a, b, &input_a, &input_b)) return -1;
  if (input_a.size() != input_b.size()) return 1;
  return bytes_differ(input_a.data(), input_b.data(), input_a.size());
}

inline bool both_bytes(PyObject *a, PyObject *b) {
  return PyBytes_CheckExact(a) && PyBytes_CheckExact(b);
}

int exact_bytes_differ(PyObject *a, PyObject *b) {
  if (PyBytes_GET_SIZE(a) != PyBytes_GET_SIZE(b)) return 1;
  return bytes_differ(PyBytes_AS_STRING(a), PyBytes_AS_STRING(b), PyBytes_GET_SIZE(a));
}

bool ready(PyObject *text) {
#if PY_VERSION_HEX < 0x030C0000
  return PyUnicode_READY(text) == 0;
#else
  (void)text;
  return true;
#endif
}

PyObject *as_bool(int differ) {
  if (differ < 0) return nullptr;
  return Py_NewRef(differ ? Py_False : Py_True);
}

PyObject *compare_digest(PyObject *, PyObject *const *args, Py_ssize_t nargs) {
  if (!two_arguments("compare_digest", nargs)) return nullptr;
  PyObject *a = args[0], *b = args[1];
  if (both_bytes(a, b)) return as_bool(exact_bytes_differ(a, b));
  if (PyUnicode_Check(a) && PyUnicode_Check(b)) {
    if (!ready(a) || !ready(b)) return nullptr;
    if (!PyUnicode_IS_ASCII(a) || !PyUnicode_IS_ASCII(b)) {
      PyErr_SetString(PyExc_TypeError,
                      "comparing strings with non-ASCII characters is not supported");
      return nullptr;
    }
    if (PyUnicode_GET_LENGTH(a) != PyUnicode_GET_LENGTH(b)) Py_RETURN_FALSE;
    return as_bool(bytes_differ(PyUnicode_DATA(a), PyUnicode_DATA(b), PyUnicode_GET_LENGTH(a)));
  }
  return as_bool(buffers_differ(a, b));
}

/* Kind and length of a str are public, as the length of bytes is. */
int texts_differ(PyObject *a, PyObject *b) {
  if (PyUnicode_KIND(a) != PyUnicode_KIND(b) ||
      PyUnicode_GET_LENGTH(a) != PyUnicode_GET_LENGTH(b)) {
    return 1;
  }
  return bytes_differ(PyUnicode_DATA(a), PyUnicode_DATA(b),
                      PyUnicode_GET_LENGTH(a) * static_cast<Py_ssize_t>(PyUnicode_KIND(a)));
}

bool text_or_buffer(PyObject *object) {
  if (PyUnicode_Check(object) || PyObject_CheckBuffer(object)) return true;
  PyErr_Format(PyExc_TypeError, "a str or a bytes-like object is required, not '%.200s'",
               Py_TYPE(object)->tp_name);
  return false;
}

PyObject *timingsafe_equal(PyObject *, PyObject *const *args, Py_ssize_t nargs) {
  if (!two_arguments("timingsafe_equal", nargs)) return nullptr;
  PyObject *a = args[0], *b = args[1];
  if (both_bytes(a, b)) return as_bool(exact_bytes_differ(a, b));
  if (!text_or_buffer(a) || !text_or_buffer(b)) return nullptr;
  if (PyUnicode_Check(a) != PyUnicode_Check(b)) Py_RETURN_FALSE;
  if (PyUnicode_Check(a)) {
    if (!ready(a) || !ready(b)) return nullptr;
    return as_bool(texts_differ(a, b));
  }
  return as_bool(buffers_differ(a, b));
}

PyObject *timingsafe_bcmp(PyObject *, PyObject *const *args, Py_ssize_t nargs) {
  if (!two_arguments("timingsafe_bcmp", nargs)) return nullptr;
  const int differ = both_bytes(args[0], args[1]) ? exact_bytes_differ(args[0], args[1])
                                                  : buffers_differ(args[0], args[1]);
  return differ < 0 ? nullptr : PyLong_FromLong(differ);
}

PyObject *timingsafe_memcmp(PyObject *, PyObject *const *args, Py_ssize_t nargs) {
  if (!two_arguments("timingsafe_memcmp", nargs)) return nullptr;
  Input a, b;
  if (!open_both(args[0], args[1], &a, &b)) return nullptr;
  const Py_ssize_t common = a.size() < b.size() ? a.size() : b.size();
  int order = bytes_order(a.data(), b.data(), common);
  /* Where the common part is equal the longer string comes after; chosen without a branch on it. */
  const int by_length = (a.size() > b.size()) - (a.size() < b.size());
  order |= by_length & -(order == 0);
  return PyLong_FromLong(order);
}

PyMethodDef functions[] = {
    {"compare_digest", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(compare_digest)),
     METH_FASTCALL,
     "compare_digest($module, a, b, /)\n--\n\n"
     "Whether a and b are equal, in time that depends on their lengths only; as in hmac.\n\n"
     "Both are str of ASCII characters, or both are contiguous buffers. TypeError otherwise.\n"
     "From 128 KiB on other threads run meanwhile."},
    {"timingsafe_equal", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(timingsafe_equal)),
     METH_FASTCALL,
     "timingsafe_equal($module, a, b, /)\n--\n\n"
     "Whether a and b are equal, in time that depends on kind and length only.\n\n"
     "Takes any str, non-ASCII too, and any contiguous buffer. A str never equals a buffer.\n"
     "No exception depends on what a and b contain; TypeError if one is neither str nor buffer."},
    {"timingsafe_bcmp", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(timingsafe_bcmp)),
     METH_FASTCALL,
     "timingsafe_bcmp($module, a, b, /)\n--\n\n"
     "0 if the buffers a and b are equal, else 1, in time that depends on their lengths only.\n\n"
     "Unequal lengths give 1. TypeError for str and for objects that are no buffers."},
    {"timingsafe_memcmp",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(timingsafe_memcmp)), METH_FASTCALL,
     "timingsafe_memcmp($module, a, b, /)\n--\n\n"
     "-1, 0 or 1: the order of the buffers a and b as Python orders bytes, in time that depends\n"
     "on their lengths only. TypeError for str and for objects that are no buffers."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_compare(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace fc

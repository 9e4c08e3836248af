/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An argument that is many buffers: a list, a tuple or another iterable of bytes-like objects.
 *
 * The caller's list may change while we run, by other threads or by Python code that an export runs.
 * So its items are taken at once into a tuple, which references each of them, and each is exported
 * until the end of the call. Its address and its size are read once, in open().
 */
#ifndef FC_PYTHON_ITEMS_H
#define FC_PYTHON_ITEMS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace fc {

struct Slice {
  const uint8_t *data;
  Py_ssize_t size;
};

/*
 * An iterator over buffers that are taken one at a time; NULL with an exception. One buffer in place of
 * many would be an iterable of numbers: TypeError.
 */
inline PyObject *iterator_over_buffers(PyObject *items, const char *role) {
  if (PyUnicode_Check(items) || PyObject_CheckBuffer(items)) {
    return PyErr_Format(PyExc_TypeError, "%s must be an iterable of buffers, not '%.200s'", role,
                        Py_TYPE(items)->tp_name);
  }
  return PyObject_GetIter(items);
}

class Items {
 public:
  Items() = default;
  Items(const Items &) = delete;
  Items &operator=(const Items &) = delete;
  ~Items() {
    while (exported_ > 0) PyBuffer_Release(&views_[--exported_]);
    PyMem_Free(views_);
    Py_XDECREF(items_);
  }

  /* `role` names the argument in errors. False with TypeError for what is no iterable. */
  bool hold(PyObject *iterable, const char *role) {
    role_ = role;
    if (PyUnicode_Check(iterable) || PyDict_Check(iterable)) {
      return refuse(iterable, "be a list of bytes-like objects");
    }
    items_ = PySequence_Tuple(iterable);
    return items_ != nullptr;
  }

  Py_ssize_t count() const { return PyTuple_GET_SIZE(items_); }

  /* False with ValueError if there are not `wanted` of them. */
  bool require_count(Py_ssize_t wanted) {
    if (count() == wanted) return true;
    PyErr_Format(PyExc_ValueError, "%s must have %zd items, one for each record, received %zd",
                 role_, wanted, count());
    return false;
  }

  /* Item i, to be opened at most once each. False with an exception for what is no buffer. */
  bool open(Py_ssize_t i, Slice *slice) {
    PyObject *item = PyTuple_GET_ITEM(items_, i);
    if (PyBytes_CheckExact(item)) {
      *slice = {reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(item)), PyBytes_GET_SIZE(item)};
      return true;
    }
    return export_item(i, item, slice);
  }

  /* The same, where None stands for no bytes. */
  bool open_or_none(Py_ssize_t i, Slice *slice) {
    *slice = {nullptr, 0};
    return PyTuple_GET_ITEM(items_, i) == Py_None || open(i, slice);
  }

 private:
  bool refuse(PyObject *object, const char *wanted) {
    PyErr_Format(PyExc_TypeError, "%s must %s, not '%.200s'", role_, wanted,
                 Py_TYPE(object)->tp_name);
    return false;
  }

  /* Exports never move once made: some exporters keep pointers into the Py_buffer itself. */
  bool export_item(Py_ssize_t i, PyObject *item, Slice *slice) {
    if (!PyObject_CheckBuffer(item)) {
      PyErr_Format(PyExc_TypeError, "%s[%zd] must be a bytes-like object, not '%.200s'", role_, i,
                   Py_TYPE(item)->tp_name);
      return false;
    }
    if (views_ == nullptr) {
      views_ = PyMem_New(Py_buffer, static_cast<size_t>(count()));
      if (views_ == nullptr) {
        PyErr_NoMemory();
        return false;
      }
    }
    Py_buffer *view = &views_[exported_];
    if (PyObject_GetBuffer(item, view, PyBUF_SIMPLE) != 0) return false;
    exported_++;
    *slice = {static_cast<const uint8_t *>(view->buf), view->len};
    return true;
  }

  PyObject *items_ = nullptr;
  Py_buffer *views_ = nullptr;
  Py_ssize_t exported_ = 0;
  const char *role_ = nullptr;
};

}  // namespace fc

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arguments that are bytes in memory. Exact `bytes` are read by pointer, which costs nothing: they
 * cannot change and the caller's arguments keep them alive. Anything else is exported with
 * PyBUF_SIMPLE into a Py_buffer on the stack, so that strided memory is refused by the exporter's own
 * exception and nothing can be resized while it is in use. Lengths are in bytes.
 */
#ifndef FC_PYTHON_BUFFERS_H
#define FC_PYTHON_BUFFERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace fc {

class Input {
 public:
  /* Zeroing the whole Py_buffer costs 10 ns; its owner is all that the destructor looks at. */
  Input() { view_.obj = nullptr; }
  Input(const Input &) = delete;
  Input &operator=(const Input &) = delete;
  ~Input() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  /* Both return false with an exception set. The first says what hashlib says of a wrong kind. */
  bool open_hashable(PyObject *object);
  bool open(PyObject *object);

  const uint8_t *data() const { return data_; }
  Py_ssize_t size() const { return size_; }

 private:
  bool open_exact_bytes(PyObject *object) {
    if (!PyBytes_CheckExact(object)) return false;
    data_ = reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(object));
    size_ = PyBytes_GET_SIZE(object);
    return true;
  }
  bool export_buffer(PyObject *object);

  const uint8_t *data_ = nullptr;
  Py_ssize_t size_ = 0;
  Py_buffer view_;
};

inline bool Input::export_buffer(PyObject *object) {
  if (PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) != 0) {
    view_.obj = nullptr;
    return false;
  }
  data_ = static_cast<const uint8_t *>(view_.buf);
  size_ = view_.len;
  return true;
}

inline bool Input::open_hashable(PyObject *object) {
  if (open_exact_bytes(object)) return true;
  if (PyUnicode_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "Strings must be encoded before hashing");
    return false;
  }
  if (!PyObject_CheckBuffer(object)) {
    PyErr_SetString(PyExc_TypeError, "object supporting the buffer API required");
    return false;
  }
  return export_buffer(object);
}

inline bool Input::open(PyObject *object) {
  if (open_exact_bytes(object)) return true;
  if (!PyObject_CheckBuffer(object)) {
    PyErr_Format(PyExc_TypeError, "a bytes-like object is required, not '%.200s'",
                 Py_TYPE(object)->tp_name);
    return false;
  }
  return export_buffer(object);
}

/* Writable, C-contiguous memory: `out=` arguments. */
class Output {
 public:
  Output() { view_.obj = nullptr; }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;
  ~Output() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  /* False with TypeError for a read-only or wrong object. `role` names the argument. */
  bool open(PyObject *object, const char *role);

  uint8_t *data() const { return static_cast<uint8_t *>(view_.buf); }
  Py_ssize_t size() const { return view_.len; }

 private:
  Py_buffer view_;
};

inline bool Output::open(PyObject *object, const char *role) {
  if (!PyObject_CheckBuffer(object)) {
    PyErr_Format(PyExc_TypeError, "%s must be a writable bytes-like object, not '%.200s'", role,
                 Py_TYPE(object)->tp_name);
    return false;
  }
  if (PyObject_GetBuffer(object, &view_, PyBUF_WRITABLE) == 0) return true;
  view_.obj = nullptr;
  /* Read-only views raise BufferError, numpy's ValueError; the object's kind is wrong: TypeError. */
  Py_buffer probe;
  if (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const bool readable = PyObject_GetBuffer(object, &probe, PyBUF_SIMPLE) == 0;
    if (readable) {
      PyBuffer_Release(&probe);
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(traceback);
      PyErr_Format(PyExc_TypeError, "%s is not writable", role);
    } else {
      PyErr_Clear();
      PyErr_Restore(type, value, traceback);
    }
  }
  return false;
}

}  // namespace fc

#endif

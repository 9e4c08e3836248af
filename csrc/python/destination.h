/* SPDX-License-Identifier: Apache-2.0 */
/* Where a result of known size goes: a new bytes object, or the caller's `out` buffer. */
#ifndef FC_PYTHON_DESTINATION_H
#define FC_PYTHON_DESTINATION_H

#include "python/buffers.h"

extern "C" {
#include "ct/wipe.h"
}

namespace fc {

inline bool regions_overlap(const uint8_t *a, Py_ssize_t a_size, const uint8_t *b,
                            Py_ssize_t b_size) {
  if (a_size == 0 || b_size == 0) return false;
  const auto a_at = reinterpret_cast<uintptr_t>(a), b_at = reinterpret_cast<uintptr_t>(b);
  return a_at < b_at + static_cast<uintptr_t>(b_size) &&
         b_at < a_at + static_cast<uintptr_t>(a_size);
}

class Destination {
 public:
  Destination() = default;
  Destination(const Destination &) = delete;
  Destination &operator=(const Destination &) = delete;
  ~Destination() { Py_XDECREF(bytes_); }

  /* `out` is NULL or None for a new object. A wrong size is ValueError, named as `role`. */
  bool open(PyObject *out, Py_ssize_t size, const char *role) {
    size_ = size;
    role_ = role;
    if (out == nullptr || out == Py_None) {
      bytes_ = PyBytes_FromStringAndSize(nullptr, size);
      if (bytes_ == nullptr) return false;
      data_ = reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(bytes_));
      return true;
    }
    if (!open_any(out, role)) return false;
    if (size_ == size) return true;
    PyErr_Format(PyExc_ValueError, "%s must be %zd bytes, received %zd", role, size, size_);
    return false;
  }

  /* `out`, whatever its size. */
  bool open_any(PyObject *out, const char *role) {
    role_ = role;
    if (!buffer_.open(out, role)) return false;
    data_ = buffer_.data();
    size_ = buffer_.size();
    return true;
  }

  /* Exactly in place is right; any other overlap with the data is refused. */
  bool allows_data(const Input &input) const {
    if (bytes_ != nullptr || input.data() == data_) return true;
    return refuse_overlap(input, "data");
  }

  /* Arguments that are read after the first write must not overlap at all. */
  bool refuse_overlap(const Input &input, const char *role) const {
    return refuse_overlap(input.data(), input.size(), role);
  }
  bool refuse_overlap(const uint8_t *data, Py_ssize_t size, const char *role) const {
    if (bytes_ != nullptr || !regions_overlap(data, size, data_, size_)) return true;
    PyErr_Format(PyExc_ValueError, "%s overlaps %s", role_, role);
    return false;
  }

  uint8_t *data() const { return data_; }
  Py_ssize_t size() const { return size_; }
  bool is_new() const { return bytes_ != nullptr; }

  /* The bytes object, or the number of bytes written into `out`. */
  PyObject *finish() {
    if (bytes_ == nullptr) return PyLong_FromSsize_t(size_);
    PyObject *result = bytes_;
    bytes_ = nullptr;
    return result;
  }

  /* The same for a result that turned out shorter: a new object shrinks; `out` is zeroed behind. */
  PyObject *finish_shorter(Py_ssize_t size) {
    fc_wipe(data_ + size, static_cast<size_t>(size_ - size));
    if (bytes_ == nullptr) return PyLong_FromSsize_t(size);
    if (_PyBytes_Resize(&bytes_, size) != 0) return nullptr;
    return finish();
  }

  /* Nothing of an unusable result stays behind. */
  PyObject *fail() {
    fc_wipe(data_, static_cast<size_t>(size_));
    return nullptr;
  }

 private:
  PyObject *bytes_ = nullptr;
  Output buffer_;
  uint8_t *data_ = nullptr;
  Py_ssize_t size_ = 0;
  const char *role_ = nullptr;
};

}  // namespace fc

#endif

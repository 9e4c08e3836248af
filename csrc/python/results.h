/* SPDX-License-Identifier: Apache-2.0 */
/* Where the results of many items go: a list of new bytes objects, or back to back in `out`. */
#ifndef FC_PYTHON_RESULTS_H
#define FC_PYTHON_RESULTS_H

#include "python/destination.h"

namespace fc {

class Results {
 public:
  Results() = default;
  Results(const Results &) = delete;
  Results &operator=(const Results &) = delete;
  ~Results() { Py_XDECREF(list_); }

  /*
   * `out` is NULL or None for a list. Result i has size_of(i) bytes, all together `total`; place(i, p)
   * is told where it goes. A wrong size of `out` is ValueError.
   */
  template <class SizeOf, class Place>
  bool open(PyObject *out, Py_ssize_t count, Py_ssize_t total, SizeOf size_of, Place place) {
    total_ = total;
    return out == nullptr || out == Py_None ? make_list(count, size_of, place)
                                            : open_out(out, count, size_of, place);
  }

  bool into_out() const { return list_ == nullptr; }
  bool overlaps_out(const uint8_t *data, Py_ssize_t size) const {
    return into_out() && regions_overlap(data, size, out_.data(), total_);
  }
  const uint8_t *out_end() const { return out_.data() + total_; }

  void replace_by_none(Py_ssize_t i) {
    Py_DECREF(PyList_GET_ITEM(list_, i));
    PyList_SET_ITEM(list_, i, Py_NewRef(Py_None));
  }

  /* The list, or the number of bytes written into `out`. */
  PyObject *finish() {
    if (into_out()) return PyLong_FromSsize_t(total_);
    PyObject *list = list_;
    list_ = nullptr;
    PyObject_GC_Track(list);
    return list;
  }

 private:
  /* Untracked while it is filled and the GIL is released: no other thread may come upon it. */
  template <class SizeOf, class Place>
  bool make_list(Py_ssize_t count, SizeOf size_of, Place place) {
    list_ = PyList_New(count);
    if (list_ == nullptr) return false;
    PyObject_GC_UnTrack(list_);
    for (Py_ssize_t i = 0; i < count; i++) {
      PyObject *bytes = PyBytes_FromStringAndSize(nullptr, size_of(i));
      if (bytes == nullptr) return false;
      PyList_SET_ITEM(list_, i, bytes);
      place(i, reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(bytes)));
    }
    return true;
  }

  template <class SizeOf, class Place>
  bool open_out(PyObject *out, Py_ssize_t count, SizeOf size_of, Place place) {
    if (!out_.open(out, "out")) return false;
    if (out_.size() != total_) {
      PyErr_Format(PyExc_ValueError, "out must be %zd bytes, received %zd", total_, out_.size());
      return false;
    }
    uint8_t *at = out_.data();
    for (Py_ssize_t i = 0; i < count; i++) {
      place(i, at);
      at += size_of(i);
    }
    return true;
  }

  PyObject *list_ = nullptr;
  Output out_;
  Py_ssize_t total_ = 0;
};

}  // namespace fc

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* AES.cbc_encrypt_many: independent messages in one call, one release of the GIL. */
#include <cstring>

#include "python/aes.h"
#include "python/items.h"
#include "python/results.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/cbc_many.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t BLOCK = 16;

/* The messages of one call: arguments opened, checked and held, and where the results go. */
class Batch {
 public:
  Batch() = default;
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;
  ~Batch() { PyMem_Free(messages_); }

  bool open(PyObject *ivs, PyObject *datas, PyObject *out) {
    return open_datas(datas) && open_ivs(ivs) &&
           results_.open(
               out, count_, total_, [this](Py_ssize_t i) { return size(i); },
               [this](Py_ssize_t i, uint8_t *place) { messages_[i].out = place; }) &&
           allows_overlap();
  }

  PyObject *encrypt(const fc_aes_key *key) {
    {
      DetachIf detached(total_ >= FC_AES_DETACH_BYTES);
      fc_cbc_encrypt_messages(key, messages_, static_cast<size_t>(count_));
    }
    return results_.finish();
  }

 private:
  Py_ssize_t size(Py_ssize_t i) const {
    return static_cast<Py_ssize_t>(messages_[i].nblocks) * BLOCK;
  }

  bool open_datas(PyObject *datas) {
    if (!items_.hold(datas, "datas")) return false;
    count_ = items_.count();
    messages_ = PyMem_New(fc_cbc_message, static_cast<size_t>(count_));
    if (messages_ == nullptr) {
      PyErr_NoMemory();
      return false;
    }
    for (Py_ssize_t i = 0; i < count_; i++) {
      Slice data;
      if (!items_.open(i, &data) || !set_data(i, data)) return false;
    }
    return true;
  }

  bool set_data(Py_ssize_t i, const Slice &data) {
    if (data.size % BLOCK != 0) {
      PyErr_Format(PyExc_ValueError, "datas[%zd] must be a multiple of 16 bytes, received %zd", i,
                   data.size);
      return false;
    }
    if (data.size > PY_SSIZE_T_MAX - total_) { /* one large buffer many times */
      PyErr_NoMemory();
      return false;
    }
    messages_[i].in = data.data;
    messages_[i].nblocks = static_cast<size_t>(data.size / BLOCK);
    total_ += data.size;
    return true;
  }

  /* They are copied into the messages, where they advance, and not held. */
  bool open_ivs(PyObject *ivs) {
    if (PyObject_CheckBuffer(ivs)) return open_packed_ivs(ivs);
    Items items;
    if (!items.hold(ivs, "ivs") || !items.require_count(count_)) return false;
    for (Py_ssize_t i = 0; i < count_; i++) {
      Slice iv;
      if (!items.open(i, &iv)) return false;
      if (iv.size != BLOCK) {
        PyErr_Format(PyExc_ValueError, "ivs[%zd] must be 16 bytes, received %zd", i, iv.size);
        return false;
      }
      std::memcpy(messages_[i].iv, iv.data, BLOCK);
    }
    return true;
  }

  bool open_packed_ivs(PyObject *ivs) {
    Input packed;
    if (!packed.open(ivs)) return false;
    if (packed.size() / BLOCK != count_ || packed.size() % BLOCK != 0) {
      PyErr_Format(PyExc_ValueError,
                   "ivs in one buffer must be 16 bytes for each of %zd records, received %zd",
                   count_, packed.size());
      return false;
    }
    for (Py_ssize_t i = 0; i < count_; i++) {
      std::memcpy(messages_[i].iv, packed.data() + i * BLOCK, BLOCK);
    }
    return true;
  }

  /* A message may be done in place; then it reaches into no other's place. */
  bool allows_overlap() const {
    for (Py_ssize_t i = 0; i < count_; i++) {
      if (messages_[i].in == messages_[i].out) continue;
      if (!results_.overlaps_out(messages_[i].in, size(i))) continue;
      PyErr_Format(PyExc_ValueError, "out overlaps datas[%zd]", i);
      return false;
    }
    return true;
  }

  Items items_;
  fc_cbc_message *messages_ = nullptr;
  Py_ssize_t count_ = 0, total_ = 0;
  Results results_;
};

}  // namespace

PyObject *run_cbc_encrypt_many(const fc_aes_key *key, PyObject *ivs, PyObject *datas,
                               PyObject *out) {
  Batch batch;
  if (!batch.open(ivs, datas, out)) return nullptr;
  return batch.encrypt(key);
}

}  // namespace fc

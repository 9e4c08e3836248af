/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batches.h"

#include "python/threads.h"
#include "python/thresholds.h"

namespace fc {
namespace {

constexpr Py_ssize_t CHUNK_ITEMS = 4096;

struct Work {
  fc_many_fn *run;
  fc_batch *batch;
  fc_many_scratch *scratches; /* one for each thread */
  size_t scratch_taken;       /* atomic */
};

void run_work(void *object) {
  Work *work = static_cast<Work *>(object);
  const size_t i = __atomic_fetch_add(&work->scratch_taken, size_t{1}, __ATOMIC_RELAXED);
  work->run(work->batch, &work->scratches[i]);
}

}  // namespace

bool run_batch(const ManyHash &hash, fc_batch *batch, Py_ssize_t bytes, Py_ssize_t threads) {
  /* Every message costs at least a block. */
  const Py_ssize_t cost = bytes + static_cast<Py_ssize_t>(batch->count) * hash.block_bytes;
  const Py_ssize_t useful = 1 + cost / FC_THREAD_BYTES;
  const Py_ssize_t count = threads < useful ? threads : useful;
  fc_many_scratch *scratches = PyMem_New(fc_many_scratch, count);
  if (scratches == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  Work work = {hash.run, batch, scratches, 0};
  {
    DetachIf detached(cost >= FC_HASH_DETACH_BYTES);
    run_on_threads(count, run_work, &work);
  }
  PyMem_Free(scratches);
  return cost < FC_HASH_DETACH_BYTES || PyErr_CheckSignals() == 0;
}

bool run_rows(const ManyHash &hash, const uint8_t *data, Py_ssize_t row_size, Py_ssize_t count,
              uint8_t *out, Py_ssize_t threads) {
  const Py_ssize_t most = 1 + FC_SLICE_BYTES * threads / (row_size + hash.block_bytes);
  for (Py_ssize_t done = 0; done < count; done += most) {
    const Py_ssize_t now = count - done < most ? count - done : most;
    fc_batch batch = {};
    batch.data = data + done * row_size;
    batch.row_size = static_cast<size_t>(row_size);
    batch.out = out + done * hash.digest_bytes;
    batch.count = static_cast<size_t>(now);
    if (!run_batch(hash, &batch, now * row_size, threads)) return false;
  }
  return true;
}

Chunk::~Chunk() {
  clear();
  PyMem_Free(messages_);
  PyMem_Free(items_);
  PyMem_Free(views_);
  Py_XDECREF(iterator_);
}

bool Chunk::open(PyObject *items, const char *role, Py_ssize_t threads) {
  if (PyBytes_Check(items) || PyUnicode_Check(items)) {
    PyErr_Format(PyExc_TypeError, "%s must be an iterable of bytes-like objects, not '%.200s'",
                 role, Py_TYPE(items)->tp_name);
    return false;
  }
  iterator_ = PyObject_GetIter(items);
  if (iterator_ == nullptr) return false;
  const Py_ssize_t expected = PyObject_LengthHint(items, CHUNK_ITEMS);
  if (expected < 0) return false;
  capacity_ = CHUNK_ITEMS * threads;
  if (expected < capacity_) capacity_ = expected < 16 ? 16 : expected;
  max_bytes_ = FC_SLICE_BYTES * threads;
  messages_ = PyMem_New(fc_message, capacity_);
  items_ = PyMem_New(PyObject *, capacity_);
  if (messages_ != nullptr && items_ != nullptr) return true;
  PyErr_NoMemory();
  return false;
}

void Chunk::clear() {
  for (; view_count_ > 0; view_count_--) PyBuffer_Release(&views_[view_count_ - 1]);
  for (; count_ > 0; count_--) Py_DECREF(items_[count_ - 1]);
  bytes_ = 0;
}

bool Chunk::fill(const Destination *out) {
  const iternextfunc next = Py_TYPE(iterator_)->tp_iternext;
  while (count_ < capacity_ && bytes_ < max_bytes_) {
    PyObject *item = next(iterator_);
    if (item == nullptr) {
      if (!PyErr_Occurred()) return true;
      if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return false;
      PyErr_Clear();
      return true;
    }
    if (!add(item, out)) return false;
  }
  return true;
}

/* Takes the reference. */
bool Chunk::add(PyObject *item, const Destination *out) {
  items_[count_] = item;
  fc_message *message = &messages_[count_++];
  if (PyBytes_CheckExact(item)) {
    message->data = reinterpret_cast<const uint8_t *>(PyBytes_AS_STRING(item));
    message->len = static_cast<size_t>(PyBytes_GET_SIZE(item));
    bytes_ += PyBytes_GET_SIZE(item);
    return true;
  }
  if (!PyObject_CheckBuffer(item)) {
    PyErr_Format(PyExc_TypeError, "a bytes-like object is required, not '%.200s'",
                 Py_TYPE(item)->tp_name);
    return false;
  }
  if (views_ == nullptr && (views_ = PyMem_New(Py_buffer, capacity_)) == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  Py_buffer *view = &views_[view_count_];
  if (PyObject_GetBuffer(item, view, PyBUF_SIMPLE) != 0) return false;
  view_count_++;
  message->data = static_cast<const uint8_t *>(view->buf);
  message->len = static_cast<size_t>(view->len);
  bytes_ += view->len;
  return out == nullptr || out->refuse_overlap(message->data, view->len, "an item");
}

}  // namespace fc

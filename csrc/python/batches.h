/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of messages run with the GIL released: what the calls that take many messages share. */
#ifndef FC_PYTHON_BATCHES_H
#define FC_PYTHON_BATCHES_H

#include "python/destination.h"

extern "C" {
#include "hash/many.h"
}

namespace fc {

/* An algorithm that has multi-lane kernels. */
struct ManyHash {
  const char *many_name;
  Py_ssize_t digest_bytes, block_bytes;
  fc_many_fn *run;
};
inline constexpr ManyHash many_sha256 = {"sha256_many", 32, 64, fc_sha256_many};

/* From one look at signals to the next, for each thread: 20 ms with the slowest kernel. */
constexpr Py_ssize_t FC_SLICE_BYTES = 8 << 20;

/*
 * Hash a batch of `bytes` bytes on up to `threads` threads, fewer if it is small, and look at the
 * signals. False with MemoryError or the exception of a signal's handler.
 */
bool run_batch(const ManyHash &hash, fc_batch *batch, Py_ssize_t bytes, Py_ssize_t threads);

/* The digests of `count` rows of row_size bytes, one after another, in slices. */
bool run_rows(const ManyHash &hash, const uint8_t *data, Py_ssize_t row_size, Py_ssize_t count,
              uint8_t *out, Py_ssize_t threads);

/*
 * Messages from a Python iterable, a few thousand at a time. The chunk holds a reference to every
 * item that it has taken, and the export of every item that is not exact bytes.
 */
class Chunk {
 public:
  Chunk() = default;
  Chunk(const Chunk &) = delete;
  Chunk &operator=(const Chunk &) = delete;
  ~Chunk();

  /* TypeError for bytes and str, whose items would be numbers and characters. */
  bool open(PyObject *items, const char *role, Py_ssize_t threads);

  /* The next messages of the iterable, none at its end. `out` is what no item may overlap, or NULL. */
  bool fill(const Destination *out);
  void clear();

  Py_ssize_t count() const { return count_; }
  Py_ssize_t bytes() const { return bytes_; }
  fc_message *messages() { return messages_; }

 private:
  bool add(PyObject *item, const Destination *out);

  PyObject *iterator_ = nullptr;
  fc_message *messages_ = nullptr;
  PyObject **items_ = nullptr;
  Py_buffer *views_ = nullptr; /* made for the first item that is not exact bytes */
  Py_ssize_t capacity_ = 0, count_ = 0, view_count_ = 0, bytes_ = 0, max_bytes_ = 0;
};

}  // namespace fc

#endif

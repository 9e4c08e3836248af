/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of many messages in one call: items of an iterable, rows of a buffer, ragged slices of one. */
#include <cstring>

#include "python/arguments.h"
#include "python/batches.h"
#include "python/binding.h"
#include "python/threads.h"

namespace fc {
namespace {

/* ---- Items of an iterable ---------------------------------------------------------------------- */

/* One digest object for each message of the chunk, in a new list. */
PyObject *new_digests(Chunk *chunk, Py_ssize_t digest_bytes) {
  PyObject *list = PyList_New(chunk->count());
  for (Py_ssize_t i = 0; list != nullptr && i < chunk->count(); i++) {
    PyObject *digest = PyBytes_FromStringAndSize(nullptr, digest_bytes);
    if (digest == nullptr) {
      Py_CLEAR(list);
      break;
    }
    chunk->messages()[i].digest = reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(digest));
    PyList_SET_ITEM(list, i, digest);
  }
  return list;
}

bool run_chunk(const ManyHash &hash, Chunk *chunk, Py_ssize_t threads) {
  fc_batch batch = {};
  batch.messages = chunk->messages();
  batch.count = static_cast<size_t>(chunk->count());
  return run_batch(hash, &batch, chunk->bytes(), threads);
}

/* The digests of all items as a list of bytes. */
PyObject *many_into_list(const ManyHash &hash, Chunk *chunk, Py_ssize_t threads) {
  PyObject *all = nullptr;
  for (;;) {
    if (!chunk->fill(nullptr)) break;
    if (chunk->count() == 0) return all != nullptr ? all : PyList_New(0);
    PyObject *digests = new_digests(chunk, hash.digest_bytes);
    if (digests == nullptr || !run_chunk(hash, chunk, threads)) {
      Py_XDECREF(digests);
      break;
    }
    chunk->clear();
    if (all == nullptr) {
      all = digests;
      continue;
    }
    const Py_ssize_t end = PyList_GET_SIZE(all);
    const int added = PyList_SetSlice(all, end, end, digests);
    Py_DECREF(digests);
    if (added != 0) break;
  }
  Py_XDECREF(all);
  return nullptr;
}

bool wrong_count(Py_ssize_t digest_bytes, Py_ssize_t received, Py_ssize_t count, bool more) {
  PyErr_Format(PyExc_ValueError, "out must be %zd bytes for %s%zd items, received %zd",
               digest_bytes * count, more ? "more than " : "", count, received);
  return false;
}

/* The same into out[0, size). Of a list or tuple the number is known before anything is written. */
bool many_into(const ManyHash &hash, Chunk *chunk, const Destination &out, Py_ssize_t size,
               Py_ssize_t threads) {
  const Py_ssize_t room = size / hash.digest_bytes;
  Py_ssize_t done = 0;
  for (;; chunk->clear()) {
    if (!chunk->fill(&out)) return false;
    if (chunk->count() == 0) break;
    if (chunk->count() > room - done) return wrong_count(hash.digest_bytes, size, room, true);
    for (Py_ssize_t i = 0; i < chunk->count(); i++) {
      chunk->messages()[i].digest = out.data() + (done + i) * hash.digest_bytes;
    }
    if (!run_chunk(hash, chunk, threads)) return false;
    done += chunk->count();
  }
  return done * hash.digest_bytes == size || wrong_count(hash.digest_bytes, size, done, false);
}

template <const ManyHash &hash>
PyObject *many(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {hash.many_name, 1, 1, 3, {"items", "out", "threads"}};
  PyObject *values[3];
  Py_ssize_t threads;
  if (!bind(signature, args, nargs, kwnames, values) || !parse_threads(values[2], &threads)) {
    return nullptr;
  }
  Chunk chunk;
  if (!chunk.open(values[0], "items", threads)) return nullptr;
  if (values[1] == nullptr || values[1] == Py_None) return many_into_list(hash, &chunk, threads);
  Destination out;
  if (!out.open_any(values[1], "out")) return nullptr;
  if (PyList_CheckExact(values[0]) || PyTuple_CheckExact(values[0])) {
    const Py_ssize_t count = PySequence_Size(values[0]);
    if (count * hash.digest_bytes != out.size()) {
      wrong_count(hash.digest_bytes, out.size(), count, false);
      return nullptr;
    }
  }
  if (!many_into(hash, &chunk, out, out.size(), threads)) return nullptr;
  return out.finish();
}

/* ---- Rows of a buffer -------------------------------------------------------------------------- */

bool parse_row_size(PyObject *object, Py_ssize_t *row_size) {
  *row_size = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (*row_size == -1 && PyErr_Occurred()) return false;
  if (*row_size >= 1) return true;
  PyErr_Format(PyExc_ValueError, "row_size must be at least 1, received %zd", *row_size);
  return false;
}

/* Exactly in place is right where each digest fits into its own row; then the rows go in order. */
bool check_rows_overlap(const Destination &out, const Input &data, Py_ssize_t row_size,
                        Py_ssize_t digest_bytes, Py_ssize_t *threads) {
  if (!out.is_new() && out.data() == data.data() && row_size >= digest_bytes) {
    *threads = 1;
    return true;
  }
  return out.refuse_overlap(data, "data");
}

PyObject *sha256_rows(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {
      "sha256_rows", 2, 2, 4, {"data", "row_size", "out", "threads"}};
  const ManyHash &hash = many_sha256;
  PyObject *values[4];
  Py_ssize_t row_size, threads;
  if (!bind(signature, args, nargs, kwnames, values) || !parse_row_size(values[1], &row_size) ||
      !parse_threads(values[3], &threads)) {
    return nullptr;
  }
  Input data;
  if (!data.open(values[0])) return nullptr;
  if (data.size() % row_size != 0) {
    PyErr_Format(PyExc_ValueError, "data must be a multiple of row_size (%zd) bytes, received %zd",
                 row_size, data.size());
    return nullptr;
  }
  const Py_ssize_t count = data.size() / row_size;
  if (count > PY_SSIZE_T_MAX / hash.digest_bytes) return PyErr_NoMemory();
  Destination out;
  if (!out.open(values[2], count * hash.digest_bytes, "out") ||
      !check_rows_overlap(out, data, row_size, hash.digest_bytes, &threads) ||
      !run_rows(hash, data.data(), row_size, count, out.data(), threads)) {
    return nullptr;
  }
  return out.finish();
}

/* ---- Ragged slices of a buffer ----------------------------------------------------------------- */

/* A copy of the offsets: each is read once, and what was checked is what is used. */
class Offsets {
 public:
  Offsets() { view_.obj = nullptr; }
  Offsets(const Offsets &) = delete;
  Offsets &operator=(const Offsets &) = delete;
  ~Offsets() {
    PyMem_Free(values_);
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  /* False with TypeError for what is no array of int32 or int64, ValueError for wrong offsets. */
  bool open(PyObject *object, Py_ssize_t data_size);

  const int64_t *values() const { return values_; }
  Py_ssize_t messages() const { return count_ - 1; }
  const uint8_t *data() const { return static_cast<const uint8_t *>(view_.buf); }
  Py_ssize_t size() const { return view_.len; }

 private:
  bool export_array(PyObject *object);
  int64_t read(Py_ssize_t i) const;

  Py_buffer view_;
  int64_t *values_ = nullptr;
  Py_ssize_t count_ = 0;
};

/* One of i, l, q, in this machine's byte order, and of 4 or 8 bytes. */
bool is_offset_format(const Py_buffer &view) {
  const char *format = view.format;
  if (format == nullptr || (view.itemsize != 4 && view.itemsize != 8)) return false;
  const char native = PY_LITTLE_ENDIAN ? '<' : '>';
  if (*format == '@' || *format == '=' || *format == native) format++;
  return (*format == 'i' || *format == 'l' || *format == 'q') && format[1] == '\0';
}

bool Offsets::export_array(PyObject *object) {
  if (!PyObject_CheckBuffer(object)) {
    PyErr_Format(PyExc_TypeError, "offsets must be an array of int32 or int64, not '%.200s'",
                 Py_TYPE(object)->tp_name);
    return false;
  }
  if (PyObject_GetBuffer(object, &view_, PyBUF_ND | PyBUF_FORMAT) != 0) {
    view_.obj = nullptr;
    return false;
  }
  if (view_.ndim == 1 && is_offset_format(view_)) return true;
  PyErr_Format(PyExc_TypeError,
               "offsets must be a one-dimensional array of int32 or int64, not %d "
               "dimensions of format '%.20s'",
               view_.ndim, view_.format != nullptr ? view_.format : "B");
  return false;
}

int64_t Offsets::read(Py_ssize_t i) const {
  if (view_.itemsize == 8) {
    int64_t value;
    std::memcpy(&value, data() + 8 * i, 8);
    return value;
  }
  int32_t value;
  std::memcpy(&value, data() + 4 * i, 4);
  return value;
}

bool Offsets::open(PyObject *object, Py_ssize_t data_size) {
  if (!export_array(object)) return false;
  count_ = view_.len / view_.itemsize;
  if (count_ == 0) {
    PyErr_SetString(PyExc_ValueError, "offsets must have at least one entry, received none");
    return false;
  }
  values_ = PyMem_New(int64_t, count_);
  if (values_ == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  int64_t least = 0;
  for (Py_ssize_t i = 0; i < count_; i++) {
    const int64_t value = values_[i] = read(i);
    if (value < least || value > data_size) {
      PyErr_Format(PyExc_ValueError, "offsets[%zd] must be %lld to %zd, received %lld", i,
                   static_cast<long long>(least), data_size, static_cast<long long>(value));
      return false;
    }
    least = value;
  }
  return true;
}

/* How many messages from `begin` on make a slice. */
Py_ssize_t slice_of(const Offsets &offsets, Py_ssize_t begin, Py_ssize_t bytes) {
  constexpr Py_ssize_t MOST = 65536;
  const Py_ssize_t left = offsets.messages() - begin, most = left < MOST ? left : MOST;
  const int64_t *values = offsets.values() + begin;
  const int64_t end = values[0] + bytes;
  Py_ssize_t count = 1;
  while (count < most && values[count] < end) count++;
  return count;
}

bool run_ragged(const ManyHash &hash, const uint8_t *data, const Offsets &offsets, uint8_t *out,
                Py_ssize_t threads) {
  for (Py_ssize_t done = 0; done < offsets.messages();) {
    const Py_ssize_t now = slice_of(offsets, done, FC_SLICE_BYTES * threads);
    fc_batch batch = {};
    batch.data = data;
    batch.offsets = offsets.values() + done;
    batch.out = out + done * hash.digest_bytes;
    batch.count = static_cast<size_t>(now);
    const int64_t bytes = offsets.values()[done + now] - offsets.values()[done];
    if (!run_batch(hash, &batch, static_cast<Py_ssize_t>(bytes), threads)) return false;
    done += now;
  }
  return true;
}

PyObject *sha256_ragged(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {
      "sha256_ragged", 2, 2, 4, {"data", "offsets", "out", "threads"}};
  const ManyHash &hash = many_sha256;
  PyObject *values[4];
  Py_ssize_t threads;
  if (!bind(signature, args, nargs, kwnames, values) || !parse_threads(values[3], &threads)) {
    return nullptr;
  }
  Input data;
  Offsets offsets;
  if (!data.open(values[0]) || !offsets.open(values[1], data.size())) return nullptr;
  if (offsets.messages() > PY_SSIZE_T_MAX / hash.digest_bytes) return PyErr_NoMemory();
  Destination out;
  if (!out.open(values[2], offsets.messages() * hash.digest_bytes, "out") ||
      !out.refuse_overlap(data, "data") ||
      !out.refuse_overlap(offsets.data(), offsets.size(), "offsets") ||
      !run_ragged(hash, data.data(), offsets, out.data(), threads)) {
    return nullptr;
  }
  return out.finish();
}

}  // namespace

bool add_hash_many(PyObject *module) {
  static PyMethodDef functions[] = {
      {"sha256_many", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(many<many_sha256>)),
       METH_FASTCALL | METH_KEYWORDS,
       "sha256_many($module, items, *, out=None, threads=1)\n--\n\n"
       "SHA-256 (FIPS 180-4) of each item, any iterable of contiguous buffers of any lengths, as "
       "a\n"
       "list of bytes; or written into `out`, 32 bytes an item, and the number of bytes "
       "returned.\n\n"
       "Several messages are hashed at once, on `threads` native threads with the GIL released. "
       "The\n"
       "iterable is consumed a few thousand items at a time. TypeError for a bytes or str as "
       "items\n"
       "and for items that are no buffers; ValueError for `out` of the wrong size (found out at "
       "the\n"
       "end, when digests have been written, unless items is a list or tuple) or overlapping an\n"
       "item. An exception of the iterable passes through. Safe to call from several threads."},
      {"sha256_rows", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(sha256_rows)),
       METH_FASTCALL | METH_KEYWORDS,
       "sha256_rows($module, data, row_size, *, out=None, threads=1)\n--\n\n"
       "SHA-256 (FIPS 180-4) of each row of row_size bytes in data, any contiguous buffer: 32 "
       "bytes a\n"
       "row, one after another, as bytes; or written into `out`, and the number of bytes "
       "returned.\n\n"
       "`out` may begin where data does if row_size is at least 32: then one thread does the "
       "work.\n"
       "Any other overlap is ValueError, as are data that is not a multiple of row_size and `out` "
       "of\n"
       "the wrong size. Safe to call from several threads."},
      {"sha256_ragged", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(sha256_ragged)),
       METH_FASTCALL | METH_KEYWORDS,
       "sha256_ragged($module, data, offsets, *, out=None, threads=1)\n--\n\n"
       "SHA-256 (FIPS 180-4) of data[offsets[i]:offsets[i + 1]] for each i, where data is any\n"
       "contiguous buffer and offsets one of int32 or int64 in bytes, as in Arrow: 32 bytes a "
       "message,\n"
       "one after another, as bytes; or written into `out`, and the number of bytes returned.\n\n"
       "Offsets are read once, and all are checked before the first digest: TypeError for another\n"
       "kind of array, ValueError if they fall, point outside data or are none, and for `out` of "
       "the\n"
       "wrong size or overlapping. Safe to call from several threads."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

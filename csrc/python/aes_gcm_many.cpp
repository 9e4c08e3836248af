/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AESGCM.encrypt_many and .decrypt_many: one call, one release of the GIL. Everything that Python
 * objects are needed for happens before (a descriptor a record, and the results' memory) or after.
 */
#include <cstring>

#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/items.h"
#include "python/results.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/records.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t PACKED_NONCE_BYTES = 12;

/* The records of one call: arguments opened, checked and held, and where the results go. */
class Batch {
 public:
  Batch(const fc_gcm_key *gcm_key, Py_ssize_t tag_size, Direction way)
      : key(gcm_key), tag_length(tag_size), direction(way) {}
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;
  ~Batch() { PyMem_Free(records); }

  bool open(PyObject *nonces, PyObject *datas, PyObject *aads, PyObject *record_size,
            PyObject *out) {
    return open_datas(datas, record_size) && open_nonces(nonces) && open_aads(aads) &&
           results_.open(
               out, count, written_, [this](Py_ssize_t i) { return out_size(i); },
               [this](Py_ssize_t i, uint8_t *place) { records[i].out = place; }) &&
           allows_overlap();
  }

  bool detach() const { return work_ >= FC_AES_DETACH_BYTES; }
  bool into_out() const { return results_.into_out(); }

  /* The text or the sealed text of record i. */
  Py_ssize_t out_size(Py_ssize_t i) const {
    const auto size = static_cast<Py_ssize_t>(records[i].in_len);
    if (direction == Direction::encrypt) return size + tag_length;
    return size < tag_length ? 0 : size - tag_length;
  }

  /* The number of bytes in `out`, or a new list of the results, with None for those that are bad. */
  PyObject *finish() {
    for (Py_ssize_t i = 0; i < count && !into_out(); i++) {
      if (records[i].bad) results_.replace_by_none(i);
    }
    return results_.finish();
  }

  /* Of results in `out`: the size of each record, with None for those that are bad. */
  PyObject *list_of_sizes() const {
    PyObject *sizes = PyList_New(count);
    if (sizes == nullptr) return nullptr;
    for (Py_ssize_t i = 0; i < count; i++) {
      PyObject *size = records[i].bad ? Py_NewRef(Py_None) : PyLong_FromSsize_t(out_size(i));
      if (size == nullptr) {
        Py_DECREF(sizes);
        return nullptr;
      }
      PyList_SET_ITEM(sizes, i, size);
    }
    return sizes;
  }

  void wipe_results() {
    for (Py_ssize_t i = 0; i < count; i++) {
      fc_wipe(records[i].out, static_cast<size_t>(out_size(i)));
    }
  }

  const fc_gcm_key *const key;
  const Py_ssize_t tag_length;
  const Direction direction;
  Py_ssize_t count = 0;
  fc_gcm_record *records = nullptr;

 private:
  /* ---- Arguments ---- */

  bool allocate(Py_ssize_t n) {
    count = n;
    records = PyMem_New(fc_gcm_record, static_cast<size_t>(n));
    if (records != nullptr) return true;
    PyErr_NoMemory();
    return false;
  }

  bool set_data(Py_ssize_t i, const uint8_t *data, Py_ssize_t size) {
    fc_gcm_record &record = records[i];
    record.in = data;
    record.in_len = static_cast<uint64_t>(size);
    record.bad = 0;
    const Py_ssize_t made = out_size(i);
    const Py_ssize_t text = direction == Direction::encrypt ? size : made;
    /* A list may hold one large buffer many times. */
    if (static_cast<uint64_t>(text) > FC_GCM_MAX_BYTES || made > PY_SSIZE_T_MAX - written_) {
      PyErr_Format(PyExc_OverflowError, "datas[%zd] is longer than GCM allows (2**36 - 32 bytes)",
                   i);
      return false;
    }
    written_ += made;
    add_work(size + FC_AES_RECORD_BYTES);
    return true;
  }

  /* Saturates, so that lists of huge buffers cannot make it overflow. */
  void add_work(Py_ssize_t bytes) {
    work_ = bytes < FC_AES_DETACH_BYTES - work_ ? work_ + bytes : FC_AES_DETACH_BYTES;
  }

  bool open_datas(PyObject *datas, PyObject *record_size) {
    if (PyObject_CheckBuffer(datas)) return open_one_data(datas, record_size);
    if (record_size != nullptr && record_size != Py_None) {
      PyErr_SetString(PyExc_ValueError, "record_size is for datas in one buffer, not for a list");
      return false;
    }
    if (!data_items_.hold(datas, "datas") || !allocate(data_items_.count())) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
      Slice slice;
      if (!data_items_.open(i, &slice) || !set_data(i, slice.data, slice.size)) return false;
    }
    return true;
  }

  /* One buffer, cut every record_size bytes. */
  bool open_one_data(PyObject *datas, PyObject *record_size) {
    if (record_size == nullptr || record_size == Py_None) {
      PyErr_SetString(PyExc_ValueError, "datas in one buffer need record_size, received none");
      return false;
    }
    const Py_ssize_t step = PyNumber_AsSsize_t(record_size, nullptr);
    if (step == -1 && PyErr_Occurred()) return false;
    if (step < 1) {
      PyErr_Format(PyExc_ValueError, "record_size must be 1 or more bytes, received %zd", step);
      return false;
    }
    if (!data_.open(datas)) return false;
    const Py_ssize_t size = data_.size();
    if (!allocate(size / step + (size % step != 0))) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
      const Py_ssize_t at = i * step;
      if (!set_data(i, data_.data() + at, step < size - at ? step : size - at)) return false;
    }
    return true;
  }

  /* Nonces are copied into the descriptors and not held. */
  bool open_nonces(PyObject *nonces) {
    if (PyObject_CheckBuffer(nonces)) return open_packed_nonces(nonces);
    Items items;
    if (!items.hold(nonces, "nonces") || !items.require_count(count)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
      Slice nonce;
      if (!items.open(i, &nonce)) return false;
      if (nonce.size < 8 || nonce.size > 128) {
        PyErr_Format(PyExc_ValueError, "nonces[%zd] must be between 8 and 128 bytes, received %zd",
                     i, nonce.size);
        return false;
      }
      fc_gcm_j0(key, nonce.data, static_cast<size_t>(nonce.size), records[i].j0);
    }
    return true;
  }

  bool open_packed_nonces(PyObject *nonces) {
    Input packed;
    if (!packed.open(nonces)) return false;
    if (packed.size() / PACKED_NONCE_BYTES != count || packed.size() % PACKED_NONCE_BYTES != 0) {
      PyErr_Format(PyExc_ValueError,
                   "nonces in one buffer must be 12 bytes for each of %zd records, received %zd",
                   count, packed.size());
      return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
      fc_gcm_j0(key, packed.data() + i * PACKED_NONCE_BYTES, PACKED_NONCE_BYTES, records[i].j0);
    }
    return true;
  }

  void set_aad(Py_ssize_t i, const uint8_t *data, Py_ssize_t size) {
    records[i].aad = data;
    records[i].aad_len = static_cast<uint64_t>(size);
    add_work(size);
  }

  bool open_aads(PyObject *aads) {
    const bool none = aads == nullptr || aads == Py_None;
    if (none || PyObject_CheckBuffer(aads)) {
      if (!none && !(aad_.open(aads) && check_gcm_sizes(0, aad_.size()))) return false;
      for (Py_ssize_t i = 0; i < count; i++) set_aad(i, aad_.data(), aad_.size());
      return true;
    }
    if (!aad_items_.hold(aads, "aads") || !aad_items_.require_count(count)) return false;
    for (Py_ssize_t i = 0; i < count; i++) {
      Slice slice;
      if (!aad_items_.open_or_none(i, &slice)) return false;
      if (static_cast<uint64_t>(slice.size) > FC_GCM_MAX_AAD_BYTES) {
        PyErr_Format(PyExc_OverflowError, "aads[%zd] is longer than GCM allows (2**61 - 1 bytes)",
                     i);
        return false;
      }
      set_aad(i, slice.data, slice.size);
    }
    return true;
  }

  /* ---- Results ---- */

  /* A record may be done in place, so long as it reaches into no other record's place. */
  bool allows_overlap() const {
    for (Py_ssize_t i = 0; i < count && into_out(); i++) {
      const fc_gcm_record &record = records[i];
      if (overlaps_out(record.aad, record.aad_len)) return refuse_overlap("aads", i);
      if (overlaps_out(record.in, record.in_len) && !in_place(i)) return refuse_overlap("datas", i);
    }
    return true;
  }

  bool overlaps_out(const uint8_t *data, uint64_t size) const {
    return results_.overlaps_out(data, static_cast<Py_ssize_t>(size));
  }

  bool in_place(Py_ssize_t i) const {
    const fc_gcm_record &record = records[i];
    const uint8_t *next = record.out + out_size(i);
    return record.in == record.out &&
           (record.in + record.in_len <= next || next == results_.out_end());
  }

  static bool refuse_overlap(const char *role, Py_ssize_t i) {
    PyErr_Format(PyExc_ValueError, "out overlaps %s[%zd]", role, i);
    return false;
  }

  Items data_items_, aad_items_;
  Input data_, aad_;
  Results results_;
  Py_ssize_t written_ = 0; /* all results together */
  Py_ssize_t work_ = 0;    /* about how many bytes of a long message would take as long */
};

/* ---- The two methods --------------------------------------------------------------------------- */

bool parse_errors(PyObject *object, bool *all_or_nothing) {
  *all_or_nothing = true;
  if (object == nullptr) return true;
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "errors must be a str, not '%.200s'", Py_TYPE(object)->tp_name);
    return false;
  }
  *all_or_nothing = PyUnicode_CompareWithASCIIString(object, "raise") == 0;
  if (*all_or_nothing || PyUnicode_CompareWithASCIIString(object, "none") == 0) return true;
  PyErr_SetString(PyExc_ValueError, "errors must be \"raise\" or \"none\"");
  return false;
}

/* Decrypts all, marking the bad ones; or up to the first bad one, whose index is returned. */
Py_ssize_t open_all(Batch *batch, bool all_or_nothing) {
  const auto n = static_cast<size_t>(batch->count);
  const auto tag_length = static_cast<size_t>(batch->tag_length);
  DetachIf detached(batch->detach());
  size_t i = 0;
  for (;;) {
    i += fc_gcm_open_records(batch->key, batch->records + i, n - i, tag_length);
    if (i == n) return -1;
    if (all_or_nothing) {
      batch->wipe_results();
      return static_cast<Py_ssize_t>(i);
    }
    batch->records[i++].bad = 1;
  }
}

}  // namespace

PyObject *encrypt_many(const fc_gcm_key *key, Py_ssize_t tag_length, PyObject *const *args,
                       Py_ssize_t nargs, PyObject *kwnames) {
  enum { NONCES, DATAS, AADS, RECORD_SIZE, OUT };
  static const Signature signature = {
      "encrypt_many", 3, 2, 5, {"nonces", "datas", "aads", "record_size", "out"}};
  PyObject *v[5];
  Batch batch(key, tag_length, Direction::encrypt);
  if (!bind(signature, args, nargs, kwnames, v) ||
      !batch.open(v[NONCES], v[DATAS], v[AADS], v[RECORD_SIZE], v[OUT])) {
    return nullptr;
  }
  {
    DetachIf detached(batch.detach());
    fc_gcm_seal_records(key, batch.records, static_cast<size_t>(batch.count),
                        static_cast<size_t>(tag_length));
  }
  return batch.finish();
}

PyObject *decrypt_many(const fc_gcm_key *key, Py_ssize_t tag_length, PyObject *const *args,
                       Py_ssize_t nargs, PyObject *kwnames, PyObject *module) {
  enum { NONCES, DATAS, AADS, RECORD_SIZE, OUT, ERRORS };
  static const Signature signature = {
      "decrypt_many", 3, 2, 6, {"nonces", "datas", "aads", "record_size", "out", "errors"}};
  PyObject *v[6];
  bool all_or_nothing;
  Batch batch(key, tag_length, Direction::decrypt);
  if (!bind(signature, args, nargs, kwnames, v) || !parse_errors(v[ERRORS], &all_or_nothing) ||
      !batch.open(v[NONCES], v[DATAS], v[AADS], v[RECORD_SIZE], v[OUT])) {
    return nullptr;
  }
  const Py_ssize_t bad = open_all(&batch, all_or_nothing);
  if (bad >= 0) return raise_invalid_tag_at(module, bad);
  return batch.into_out() && !all_or_nothing ? batch.list_of_sizes() : batch.finish();
}

}  // namespace fc

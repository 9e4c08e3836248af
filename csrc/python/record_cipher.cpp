/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class RecordCipher: AES-GCM under nonces that count, as TLS 1.3 (RFC 8446 section 5.3) and QUIC
 * (RFC 9001 section 5.3) make them. All but the counter is immutable, and that is atomic.
 */
#include <cstring>

#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/record_number.h"
#include "aes/records.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t IV_BYTES = 12;

struct Object {
  PyObject_HEAD
  fc_record_numbers numbers;
  unsigned key_bits;
  uint8_t iv[IV_BYTES]; /* from here on wiped */
  fc_gcm_key key;
};

Object *cast(PyObject *self) { return reinterpret_cast<Object *>(self); }

/* Data and associated data of one record. */
struct Arguments {
  Input data, aad;

  bool open(PyObject *data_object, PyObject *aad_object) {
    if (!data.open(data_object)) return false;
    return aad_object == nullptr || aad_object == Py_None || aad.open(aad_object);
  }

  bool detach() const { return data.size() + aad.size() >= FC_AES_DETACH_BYTES; }
};

/* The pre-counter block of record `number`: the IV, whose last 8 bytes are combined with it. */
void make_j0(const Object *self, uint64_t number, uint8_t j0[16]) {
  uint8_t nonce[IV_BYTES];
  std::memcpy(nonce, self->iv, IV_BYTES);
  for (int i = 0; i < 8; i++) {
    nonce[4 + i] = static_cast<uint8_t>(nonce[4 + i] ^ number >> (56 - 8 * i));
  }
  fc_gcm_j0(&self->key, nonce, IV_BYTES, j0);
  fc_wipe(nonce, sizeof nonce);
}

fc_gcm_record record_of(const Object *self, uint64_t number, const Arguments &arguments,
                        uint8_t *out) {
  fc_gcm_record record = {{},
                          arguments.aad.data(),
                          static_cast<uint64_t>(arguments.aad.size()),
                          arguments.data.data(),
                          static_cast<uint64_t>(arguments.data.size()),
                          out,
                          0};
  make_j0(self, number, record.j0);
  return record;
}

void seal_record(const Object *self, uint64_t number, const Arguments &arguments, uint8_t *out) {
  DetachIf detached(arguments.detach());
  fc_gcm_record record = record_of(self, number, arguments, out);
  fc_gcm_seal_records(&self->key, &record, 1, FC_GCM_TAG_BYTES);
  fc_wipe(record.j0, sizeof record.j0);
}

/*
 * Takes a number. What is going to be returned is made of it first, so that nothing can fail once it
 * is gone: a number without a record would be a gap that the peer cannot bridge.
 */
template <typename Make>
PyObject *take_number(Object *self, uint64_t *number, Make make) {
  for (;;) {
    *number = fc_record_numbers_peek(&self->numbers);
    if (*number == FC_NUMBERS_USED_UP) {
      PyErr_SetString(PyExc_OverflowError, "all sequence numbers are used up; take a new key");
      return nullptr;
    }
    PyObject *answer = make(*number);
    if (answer == nullptr) return nullptr;
    const fc_take_result taken = fc_record_numbers_take(&self->numbers, *number);
    if (taken == FC_TAKE_DONE) return answer;
    Py_DECREF(answer);
    if (taken == FC_TAKE_FORKED) {
      PyErr_SetString(PyExc_RuntimeError,
                      "the process has forked since this RecordCipher was made: sealing would use "
                      "sequence numbers of the parent again");
      return nullptr;
    }
  }
}

/* (number, record). The garbage collector may show it to others only when the record is there. */
PyObject *hidden_pair(uint64_t number, PyObject *record) {
  PyObject *sequence = PyLong_FromUnsignedLongLong(number);
  if (sequence == nullptr) return nullptr;
  PyObject *pair = PyTuple_Pack(2, sequence, record);
  Py_DECREF(sequence);
  if (pair != nullptr) PyObject_GC_UnTrack(pair);
  return pair;
}

PyObject *seal(PyObject *object, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"seal", 2, 1, 2, {"data", "aad"}};
  Object *self = cast(object);
  PyObject *v[2];
  Arguments arguments;
  if (!bind(signature, args, nargs, kwnames, v) || !arguments.open(v[0], v[1]) ||
      !check_gcm_sizes(arguments.data.size(), arguments.aad.size())) {
    return nullptr;
  }
  PyObject *record = PyBytes_FromStringAndSize(nullptr, arguments.data.size() + FC_GCM_TAG_BYTES);
  if (record == nullptr) return nullptr;
  uint64_t number;
  PyObject *pair = take_number(
      self, &number, [record](uint64_t candidate) { return hidden_pair(candidate, record); });
  if (pair != nullptr) {
    auto *out = reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(record));
    seal_record(self, number, arguments, out);
    PyObject_GC_Track(pair);
  }
  Py_DECREF(record);
  return pair;
}

PyObject *seal_into(PyObject *object, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"seal_into", 3, 3, 3, {"data", "aad", "buf"}};
  Object *self = cast(object);
  PyObject *v[3];
  Arguments arguments;
  Destination result;
  if (!bind(signature, args, nargs, kwnames, v) || !require_buffer(v[2]) ||
      !arguments.open(v[0], v[1]) ||
      !check_gcm_sizes(arguments.data.size(), arguments.aad.size()) ||
      !result.open(v[2], arguments.data.size() + FC_GCM_TAG_BYTES, "buffer") ||
      !result.allows_data(arguments.data) || !result.refuse_overlap(arguments.aad, "aad")) {
    return nullptr;
  }
  uint64_t number;
  PyObject *sequence = take_number(self, &number, PyLong_FromUnsignedLongLong);
  if (sequence != nullptr) seal_record(self, number, arguments, result.data());
  return sequence;
}

PyObject *open(PyObject *object, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"open", 3, 2, 3, {"seq", "record", "aad"}};
  const Object *self = cast(object);
  PyObject *v[3];
  uint64_t number;
  Arguments arguments;
  Destination result;
  if (!bind(signature, args, nargs, kwnames, v) || !parse_uint64(v[0], "seq", &number) ||
      !arguments.open(v[1], v[2])) {
    return nullptr;
  }
  PyObject *module = PyType_GetModule(Py_TYPE(object));
  const Py_ssize_t size = arguments.data.size() - FC_GCM_TAG_BYTES;
  if (size < 0) return raise_invalid_tag(module);
  if (!check_gcm_sizes(size, arguments.aad.size()) || !result.open(nullptr, size, "out"))
    return nullptr;
  bool valid;
  {
    DetachIf detached(arguments.detach());
    fc_gcm_record record = record_of(self, number, arguments, result.data());
    valid = fc_gcm_open_records(&self->key, &record, 1, FC_GCM_TAG_BYTES) == 1;
    fc_wipe(record.j0, sizeof record.j0);
  }
  return valid ? result.finish() : raise_invalid_tag(module);
}

/* ---- The type ---------------------------------------------------------------------------------- */

bool open_iv(Input *iv, PyObject *object) {
  if (!iv->open(object)) return false;
  if (iv->size() == IV_BYTES) return true;
  PyErr_Format(PyExc_ValueError, "iv must be 12 bytes, received %zd", iv->size());
  return false;
}

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"RecordCipher", 2, 2, 2, {"key", "iv"}};
  PyObject *v[2];
  Input key, iv;
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, v) ||
      !open_key(&key, v[0], "RecordCipher") || !open_iv(&iv, v[1])) {
    return nullptr;
  }
  Object *self = PyObject_New(Object, reinterpret_cast<PyTypeObject *>(type));
  if (self == nullptr) return nullptr;
  fc_record_numbers_init(&self->numbers);
  self->key_bits = static_cast<unsigned>(key.size() * 8);
  std::memcpy(self->iv, iv.data(), IV_BYTES);
  fc_gcm_init(&self->key, key.data(), static_cast<size_t>(key.size()));
  return reinterpret_cast<PyObject *>(self);
}

void destroy(PyObject *object) {
  Object *self = cast(object);
  fc_wipe(self->iv, sizeof self->iv);
  fc_wipe(&self->key, sizeof self->key);
  free_object(object);
}

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<fastcrypt.RecordCipher object, %u-bit key>", cast(self)->key_bits);
}

#define METHOD(function, doc)                                                    \
  {#function, reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(function)), \
   METH_FASTCALL | METH_KEYWORDS, doc}

PyMethodDef methods[] = {
    METHOD(
        seal,
        "seal($self, data, aad=b\"\")\n--\n\n"
        "(seq, record): the next sequence number, from 0 on, and the ciphertext of data under it,\n"
        "followed by a tag of 16 bytes.\n\n"
        "Arguments are checked and memory is there before the number is taken, so a call that\n"
        "raises has used none. Threads may seal at once: each gets numbers of its own, and the\n"
        "records are to be sent in the order of their numbers. OverflowError when 2**64 - 1\n"
        "records are sealed, or for data beyond 2**36 - 32 bytes; RuntimeError in a process that\n"
        "was forked off after the object was made. From 16 KiB on other threads run meanwhile."),
    METHOD(seal_into,
           "seal_into($self, data, aad, buf)\n--\n\n"
           "seal() into a writable buffer of exactly len(data) + 16 bytes; returns the sequence\n"
           "number. In place works: buf may start where data starts. Any other overlap is "
           "ValueError."),
    METHOD(
        open,
        "open($self, seq, record, aad=b\"\")\n--\n\n"
        "The plaintext of a record that was sealed as number seq, 0 to 2**64 - 1.\n\n"
        "InvalidTag if anything has been changed, the number too. That no number is opened twice\n"
        "is the caller's to see to: UDP repeats and reorders."),
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

const char doc[] =
    "RecordCipher(key, iv)\n--\n\n"
    "AES-GCM for records that count, under one key of 16, 24 or 32 bytes. The nonce of a record "
    "is\n"
    "its number, in 8 bytes, combined by exclusive or with the end of the 12-byte iv, as TLS 1.3\n"
    "(RFC 8446 section 5.3) and QUIC (RFC 9001 section 5.3) do.\n\n"
    "Threads share the object without a lock, and no number is used twice: it can be neither "
    "copied\n"
    "nor pickled, and does not seal in a child of the process that it was made in. One object "
    "seals;\n"
    "the other direction has another key. Wiped when it dies.";

}  // namespace

bool add_record_cipher(PyObject *module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char *>(doc)},
                         {Py_tp_new, reinterpret_cast<void *>(new_by_vectorcall)},
                         {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
                         {Py_tp_repr, reinterpret_cast<void *>(repr)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"fastcrypt.RecordCipher", sizeof(Object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
  return add_type(module, &spec, construct);
}

}  // namespace fc

/* SPDX-License-Identifier: Apache-2.0 */
/* Keys from passwords and from other keys: PBKDF2 and HKDF, with the errors of hashlib where it has them. */
#include <climits>
#include <cstring>

#include "python/arguments.h"
#include "python/binding.h"
#include "python/buffers.h"
#include "python/hash_new.h"
#include "python/thresholds.h"

extern "C" {
#include "ct/wipe.h"
#include "hash/hmac.h"
}

namespace fc {
namespace {

/* One that is wiped at the end of its scope. */
class HmacKey {
 public:
  HmacKey(int hash, const Input &key) {
    fc_hmac_key_init(&key_, static_cast<fc_hash>(hash), key.data(),
                     static_cast<size_t>(key.size()));
  }
  ~HmacKey() { fc_wipe(&key_, sizeof key_); }
  HmacKey(const HmacKey &) = delete;
  HmacKey &operator=(const HmacKey &) = delete;
  const fc_hmac_key *get() const { return &key_; }

 private:
  fc_hmac_key key_;
};

Py_ssize_t digest_bytes(int hash) { return fc_hash_of(fc_hash(hash))->digest_bytes; }

uint8_t *bytes_data(PyObject *bytes) {
  return reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(bytes));
}

/* A positive int that C's int holds, as in hashlib; -1 with an exception. */
long positive(PyObject *object, const char *too_small, const char *too_large) {
  PyObject *index = PyNumber_Index(object);
  if (index == nullptr) return -1;
  const long value = PyLong_AsLong(index);
  Py_DECREF(index);
  if (value == -1 && PyErr_Occurred()) return -1;
  if (value < 1 || value > INT_MAX) {
    PyErr_SetString(value < 1 ? PyExc_ValueError : PyExc_OverflowError,
                    value < 1 ? too_small : too_large);
    return -1;
  }
  return value;
}

PyObject *pbkdf2_hmac(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  enum { HASH, PASSWORD, SALT, ITERATIONS, DKLEN, COUNT };
  static const Signature signature = {
      "pbkdf2_hmac", 5, 4, COUNT, {"hash_name", "password", "salt", "iterations", "dklen"}};
  PyObject *values[COUNT];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  if (!PyUnicode_Check(values[HASH])) {
    return PyErr_Format(PyExc_TypeError,
                        "pbkdf2_hmac() argument 'hash_name' must be str, not %.200s",
                        Py_TYPE(values[HASH])->tp_name);
  }
  const int hash = hash_by_name(values[HASH]);
  Input password, salt;
  if (hash < 0 || !password.open(values[PASSWORD]) || !salt.open(values[SALT])) return nullptr;
  const long iterations = positive(values[ITERATIONS], "iteration value must be greater than 0.",
                                   "iteration value is too great.");
  if (iterations < 0) return nullptr;
  Py_ssize_t size = digest_bytes(hash);
  if (values[DKLEN] != nullptr && values[DKLEN] != Py_None) {
    size =
        positive(values[DKLEN], "key length must be greater than 0.", "key length is too great.");
    if (size < 0) return nullptr;
  }
  PyObject *result = PyBytes_FromStringAndSize(nullptr, size);
  if (result == nullptr) return nullptr;
  DetachIf detached(true); /* no sensible number of iterations is short */
  const HmacKey key(hash, password);
  fc_pbkdf2(key.get(), salt.data(), static_cast<size_t>(salt.size()),
            static_cast<uint64_t>(iterations), bytes_data(result), static_cast<size_t>(size));
  return result;
}

/* ---- HKDF ---------------------------------------------------------------------------------------- */

/* None and an absent argument are empty. */
bool open_optional(Input *input, PyObject *object) {
  return object == nullptr || object == Py_None || input->open(object);
}

/* The length of an output, or -1 with an exception: RFC 5869 allows up to 255 digests. */
Py_ssize_t output_length(PyObject *object, int hash) {
  const Py_ssize_t length = PyNumber_AsSsize_t(object, PyExc_ValueError);
  if (length == -1 && PyErr_Occurred()) return -1;
  const Py_ssize_t most = 255 * digest_bytes(hash);
  if (length >= 0 && length <= most) return length;
  PyErr_Format(PyExc_ValueError, "length must be 0 to %zd bytes, received %zd", most, length);
  return -1;
}

PyObject *expand(int hash, const Input &prk, const Input &info, Py_ssize_t length) {
  PyObject *result = PyBytes_FromStringAndSize(nullptr, length);
  if (result == nullptr) return nullptr;
  const HmacKey key(hash, prk);
  fc_hkdf_expand(key.get(), info.data(), static_cast<size_t>(info.size()), bytes_data(result),
                 static_cast<size_t>(length));
  return result;
}

void extract(int hash, const Input &salt, const Input &ikm, uint8_t *prk) {
  const HmacKey key(hash, salt); /* an empty salt is the same key as RFC 5869's zeros */
  DetachIf detached(ikm.size() >= FC_HASH_DETACH_BYTES);
  fc_hmac(key.get(), ikm.data(), static_cast<size_t>(ikm.size()), prk);
}

PyObject *hkdf_extract(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"hkdf_extract", 3, 3, 3, {"salt", "ikm", "digest"}};
  PyObject *values[3];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  const int hash = hash_by_name(values[2]);
  Input salt, ikm;
  if (hash < 0 || !open_optional(&salt, values[0]) || !ikm.open(values[1])) return nullptr;
  PyObject *prk = PyBytes_FromStringAndSize(nullptr, digest_bytes(hash));
  if (prk != nullptr) extract(hash, salt, ikm, bytes_data(prk));
  return prk;
}

PyObject *hkdf_expand(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"hkdf_expand", 4, 4, 4, {"prk", "info", "length", "digest"}};
  PyObject *values[4];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  const int hash = hash_by_name(values[3]);
  Input prk, info;
  if (hash < 0 || !prk.open(values[0]) || !open_optional(&info, values[1])) return nullptr;
  const Py_ssize_t length = output_length(values[2], hash);
  return length < 0 ? nullptr : expand(hash, prk, info, length);
}

PyObject *hkdf(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  enum { IKM, LENGTH, SALT, INFO, DIGEST, COUNT };
  static const Signature signature = {
      "hkdf", 2, 2, COUNT, {"ikm", "length", "salt", "info", "digest"}};
  PyObject *values[COUNT];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  const int hash =
      values[DIGEST] != nullptr ? hash_by_name(values[DIGEST]) : static_cast<int>(FC_HASH_sha256);
  Input ikm, salt, info;
  if (hash < 0 || !ikm.open(values[IKM]) || !open_optional(&salt, values[SALT]) ||
      !open_optional(&info, values[INFO])) {
    return nullptr;
  }
  const Py_ssize_t length = output_length(values[LENGTH], hash);
  PyObject *result = length < 0 ? nullptr : PyBytes_FromStringAndSize(nullptr, length);
  if (result == nullptr) return nullptr;
  uint8_t prk[FC_HASH_MAX_DIGEST];
  fc_hmac_key key;
  extract(hash, salt, ikm, prk);
  fc_hmac_key_init(&key, static_cast<fc_hash>(hash), prk, static_cast<size_t>(digest_bytes(hash)));
  fc_hkdf_expand(&key, info.data(), static_cast<size_t>(info.size()), bytes_data(result),
                 static_cast<size_t>(length));
  fc_wipe(prk, sizeof prk);
  fc_wipe(&key, sizeof key);
  return result;
}

/* A field of HkdfLabel: its length in a byte, and it. The number of bytes written. */
size_t put_field(uint8_t *at, const char *prefix, const uint8_t *data, size_t size) {
  const size_t prefix_size = std::strlen(prefix);
  at[0] = static_cast<uint8_t>(prefix_size + size);
  std::memcpy(at + 1, prefix, prefix_size);
  if (size != 0) std::memcpy(at + 1 + prefix_size, data, size);
  return 1 + prefix_size + size;
}

PyObject *hkdf_expand_label(PyObject *, PyObject *const *args, Py_ssize_t nargs,
                            PyObject *kwnames) {
  enum { SECRET, LABEL, CONTEXT, LENGTH, DIGEST, COUNT };
  static const Signature signature = {
      "hkdf_expand_label", COUNT, COUNT, COUNT, {"secret", "label", "context", "length", "digest"}};
  PyObject *values[COUNT];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  const int hash = hash_by_name(values[DIGEST]);
  Input secret, label, context;
  if (hash < 0 || !secret.open(values[SECRET]) || !label.open(values[LABEL]) ||
      !context.open(values[CONTEXT])) {
    return nullptr;
  }
  if (label.size() < 1 || label.size() > 249) {
    return PyErr_Format(PyExc_ValueError, "label must be 1 to 249 bytes, received %zd",
                        label.size());
  }
  if (context.size() > 255) {
    return PyErr_Format(PyExc_ValueError, "context must be 0 to 255 bytes, received %zd",
                        context.size());
  }
  const Py_ssize_t length = output_length(values[LENGTH], hash);
  PyObject *result = length < 0 ? nullptr : PyBytes_FromStringAndSize(nullptr, length);
  if (result == nullptr) return nullptr;
  uint8_t info[2 + 256 + 256] = {static_cast<uint8_t>(length >> 8), static_cast<uint8_t>(length)};
  size_t size = 2;
  size += put_field(info + size, "tls13 ", label.data(), static_cast<size_t>(label.size()));
  size += put_field(info + size, "", context.data(), static_cast<size_t>(context.size()));
  const HmacKey key(hash, secret);
  fc_hkdf_expand(key.get(), info, size, bytes_data(result), static_cast<size_t>(length));
  return result;
}

PyCFunction with_keywords(PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t,
                                                PyObject *)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

bool add_kdf(PyObject *module) {
  static PyMethodDef functions[] = {
      {"pbkdf2_hmac", with_keywords(pbkdf2_hmac), METH_FASTCALL | METH_KEYWORDS,
       "pbkdf2_hmac($module, /, hash_name, password, salt, iterations, dklen=None)\n--\n\n"
       "PBKDF2 (RFC 8018) with HMAC and the hash of that name, as dklen bytes (a digest's if "
       "None).\n\n"
       "password and salt are any contiguous buffers. Two compressions an iteration; the GIL is\n"
       "released. ValueError for an unknown name and for numbers below 1, OverflowError for those\n"
       "that are too large, TypeError for kinds, as in hashlib."},
      {"hkdf", with_keywords(hkdf), METH_FASTCALL | METH_KEYWORDS,
       "hkdf($module, /, ikm, length, *, salt=b'', info=b'', digest='sha256')\n--\n\n"
       "HKDF (RFC 5869): length bytes from the input key material.\n\n"
       "length is up to 255 digests; more is ValueError. The intermediate key is wiped."},
      {"hkdf_extract", with_keywords(hkdf_extract), METH_FASTCALL | METH_KEYWORDS,
       "hkdf_extract($module, /, salt, ikm, digest)\n--\n\n"
       "HKDF-Extract (RFC 5869 section 2.2): a pseudorandom key as long as a digest."},
      {"hkdf_expand", with_keywords(hkdf_expand), METH_FASTCALL | METH_KEYWORDS,
       "hkdf_expand($module, /, prk, info, length, digest)\n--\n\n"
       "HKDF-Expand (RFC 5869 section 2.3): length bytes, up to 255 digests."},
      {"hkdf_expand_label", with_keywords(hkdf_expand_label), METH_FASTCALL | METH_KEYWORDS,
       "hkdf_expand_label($module, /, secret, label, context, length, digest)\n--\n\n"
       "HKDF-Expand-Label of TLS 1.3 (RFC 8446 section 7.1); label is 1 to 249 bytes without its\n"
       "'tls13 ', context 0 to 255 bytes. Other lengths are ValueError."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

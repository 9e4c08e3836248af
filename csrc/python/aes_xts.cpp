/* SPDX-License-Identifier: Apache-2.0 */
/* class AESXTS. The key object is immutable, so it has no lock. */
#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/xts.h"
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t BLOCK = 16;

struct Object {
  PyObject_HEAD
  fc_xts_key key;
};

const fc_xts_key *key_of(PyObject *self) { return &reinterpret_cast<Object *>(self)->key; }

bool check_length(Py_ssize_t size) {
  if (size < BLOCK) {
    PyErr_Format(PyExc_ValueError, "data must be 16 bytes or more, received %zd", size);
    return false;
  }
  if (static_cast<uint64_t>(size) <= FC_XTS_MAX_BYTES) return true;
  PyErr_SetString(PyExc_OverflowError, "data is longer than XTS allows (2**24 bytes)");
  return false;
}

using Crypt = void (*)(const fc_xts_key *, const uint8_t *, const uint8_t *, uint8_t *, size_t);

PyObject *run(PyObject *self, Crypt crypt, const Signature &signature, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[3];
  uint8_t tweak[BLOCK];
  Input data;
  Destination result;
  if (!bind(signature, args, nargs, kwnames, v) || !copy_block(v[0], "tweak", tweak) ||
      !data.open(v[1]) || !check_length(data.size()) || !result.open(v[2], data.size(), "out") ||
      !result.allows_data(data)) {
    return nullptr;
  }
  {
    DetachIf detached(data.size() >= FC_AES_DETACH_BYTES);
    crypt(key_of(self), tweak, data.data(), result.data(), static_cast<size_t>(data.size()));
  }
  return result.finish();
}

PyObject *encrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"encrypt", 2, 2, 3, {"tweak", "data", "out"}};
  return run(self, fc_xts_encrypt, signature, args, nargs, kwnames);
}

PyObject *decrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"decrypt", 2, 2, 3, {"tweak", "data", "out"}};
  return run(self, fc_xts_decrypt, signature, args, nargs, kwnames);
}

bool check_key(const Input &key) {
  const auto half = static_cast<size_t>(key.size()) / 2;
  if (key.size() != 32 && key.size() != 64) {
    PyErr_Format(PyExc_ValueError, "AESXTS key must be 32 or 64 bytes, received %zd", key.size());
    return false;
  }
  if (FC_TABLE.timingsafe_bcmp(key.data(), key.data() + half, half) != 0) return true;
  PyErr_SetString(PyExc_ValueError, "the two halves of an AESXTS key must differ");
  return false;
}

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"AESXTS", 1, 1, 1, {"key"}};
  PyObject *v[1];
  Input key;
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, v) || !key.open(v[0]) ||
      !check_key(key)) {
    return nullptr;
  }
  Object *self = PyObject_New(Object, reinterpret_cast<PyTypeObject *>(type));
  if (self == nullptr) return nullptr;
  fc_xts_init(&self->key, key.data(), static_cast<size_t>(key.size()));
  return reinterpret_cast<PyObject *>(self);
}

void destroy(PyObject *self) {
  fc_wipe(&reinterpret_cast<Object *>(self)->key, sizeof(fc_xts_key));
  free_object(self);
}

/* 10 or 14 rounds are two keys of 16 or 32 bytes. */
long key_size(PyObject *self) { return static_cast<long>(key_of(self)->data.rounds) * 8 - 48; }

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<fastcrypt.AESXTS object, %ld-bit key>", key_size(self) * 8);
}

PyObject *get_key_size(PyObject *self, void *) { return PyLong_FromLong(key_size(self)); }

PyMethodDef methods[] = {
    FC_METHOD(
        encrypt,
        "encrypt($self, tweak, data, *, out=None)\n--\n\n"
        "Encrypt one data unit of 16 bytes to 2**24 (2**20 blocks): as many bytes come out. A\n"
        "length that is no multiple of 16 steals ciphertext. tweak has 16 bytes: the number of\n"
        "the data unit, little-endian, or what stands for it.\n\n"
        "Returns bytes, or with out (a writable buffer of len(data) bytes, which may be data's\n"
        "own) the number of bytes written. ValueError for a wrong size, OverflowError for more\n"
        "than 2**24 bytes."),
    FC_METHOD(decrypt, "decrypt($self, tweak, data, *, out=None)\n--\n\nThe inverse of encrypt."),
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef attributes[] = {
    {"key_size", get_key_size, nullptr, "Bytes in the key: 32 or 64.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

const char doc[] =
    "AESXTS(key)\n--\n\n"
    "XTS (IEEE 1619, SP 800-38E), for storage: key is two AES keys of 16 or 32 bytes, one after "
    "the\n"
    "other. Equal ones are ValueError.\n\n"
    "XTS keeps the length and authenticates nothing: a changed block decrypts to noise, and the\n"
    "same data in the same place encrypts to the same bytes. The object is immutable: threads "
    "share\n"
    "it without a lock. Its key schedules are wiped when it dies.";

}  // namespace

bool add_aes_xts(PyObject *module) {
  return add_key_type(module, {"fastcrypt.AESXTS", sizeof(Object), doc, construct, destroy, repr,
                               methods, attributes});
}

}  // namespace fc

/* SPDX-License-Identifier: Apache-2.0 */
/* class AESGCMSIV. The key object is immutable, so it has no lock. */
#include <cstring>

#include "python/aead_message.h"
#include "python/binding.h"

extern "C" {
#include "aes/gcm_siv.h"
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t TAG = FC_GCM_SIV_TAG_BYTES;

struct Object {
  PyObject_HEAD
  fc_aes_key key; /* the key-generating key */
};

const fc_aes_key *key_of(PyObject *self) { return &reinterpret_cast<Object *>(self)->key; }

constexpr Names METHOD_NAMES = {"Nonce", "associated_data", "out"};
constexpr Names INTO_NAMES = {"Nonce", "associated_data", "buffer"};

bool open_siv_nonce(Input *nonce, PyObject *object, const char *role) {
  if (!nonce->open(object)) return false;
  if (nonce->size() == FC_GCM_SIV_NONCE_BYTES) return true;
  PyErr_Format(PyExc_ValueError, "%s must be 12 bytes long, received %zd", role, nonce->size());
  return false;
}

bool check_lengths(Py_ssize_t size, Py_ssize_t aad_size) {
  const char *name = static_cast<uint64_t>(size) > FC_GCM_SIV_MAX_BYTES       ? "data"
                     : static_cast<uint64_t>(aad_size) > FC_GCM_SIV_MAX_BYTES ? "associated_data"
                                                                              : nullptr;
  if (name == nullptr) return true;
  PyErr_Format(PyExc_OverflowError, "%s is longer than GCM-SIV allows (2**36 bytes)", name);
  return false;
}

fc_gcm_siv_message message_of(const Message &message, Py_ssize_t size, uint8_t *out) {
  fc_gcm_siv_message result;
  std::memcpy(result.nonce, message.nonce.data(), sizeof result.nonce);
  result.aad = message.aad.data();
  result.aad_len = static_cast<uint64_t>(message.aad.size());
  result.in = message.data.data();
  result.out = out;
  result.len = static_cast<uint64_t>(size);
  return result;
}

/* The memory of one message, which the call that uses it wipes. */
class Work {
 public:
  Work() : memory_(static_cast<fc_gcm_siv_work *>(PyMem_RawMalloc(sizeof *memory_))) {
    if (memory_ == nullptr) PyErr_NoMemory();
  }
  ~Work() { PyMem_RawFree(memory_); }
  Work(const Work &) = delete;
  Work &operator=(const Work &) = delete;
  fc_gcm_siv_work *get() const { return memory_; }

 private:
  fc_gcm_siv_work *memory_;
};

PyObject *seal(PyObject *self, const Message &message, PyObject *out) {
  const Py_ssize_t size = message.data.size();
  uint8_t tag[TAG];
  Destination result;
  if (!check_lengths(size, message.aad.size()) || !open_result(&result, out, size + TAG, message)) {
    return nullptr;
  }
  const Work work;
  if (work.get() == nullptr) return nullptr;
  const fc_gcm_siv_message siv_message = message_of(message, size, result.data());
  {
    DetachIf detached(message.detach());
    fc_gcm_siv_seal(work.get(), key_of(self), &siv_message, tag);
  }
  std::memcpy(result.data() + size, tag, TAG);
  return result.finish();
}

PyObject *open(PyObject *self, const Message &message, PyObject *out) {
  const Py_ssize_t size = message.data.size() - TAG;
  Destination result;
  if (size < 0) return raise_invalid_tag(module_of(self));
  if (!check_lengths(size, message.aad.size()) || !open_result(&result, out, size, message)) {
    return nullptr;
  }
  const Work work;
  if (work.get() == nullptr) return nullptr;
  const fc_gcm_siv_message siv_message = message_of(message, size, result.data());
  int error;
  {
    DetachIf detached(message.detach());
    error = fc_gcm_siv_open(work.get(), key_of(self), &siv_message, message.data.data() + size);
  }
  return error != 0 ? raise_invalid_tag(module_of(self)) : result.finish();
}

/* ---- Methods ----------------------------------------------------------------------------------- */

using Operation = PyObject *(*)(PyObject *self, const Message &message, PyObject *out);

PyObject *run(PyObject *self, const Signature &signature, Operation operation,
              PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[3];
  Message message(METHOD_NAMES, open_siv_nonce);
  if (!bind_message(signature, args, nargs, kwnames, v) || !message.open(v[0], v[1], v[2])) {
    return nullptr;
  }
  return operation(self, message, nullptr);
}

PyObject *run_into(PyObject *self, const Signature &signature, Operation operation,
                   PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[4];
  Message message(INTO_NAMES, open_siv_nonce);
  if (!bind_message(signature, args, nargs, kwnames, v) || !require_buffer(v[3]) ||
      !message.open(v[0], v[1], v[2])) {
    return nullptr;
  }
  return operation(self, message, v[3]);
}

PyObject *encrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"encrypt", 3, 3, 3, {"nonce", "data", "associated_data"}};
  return run(self, signature, seal, args, nargs, kwnames);
}

PyObject *decrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"decrypt", 3, 3, 3, {"nonce", "data", "associated_data"}};
  return run(self, signature, open, args, nargs, kwnames);
}

PyObject *encrypt_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {
      "encrypt_into", 4, 4, 4, {"nonce", "data", "associated_data", "buf"}};
  return run_into(self, signature, seal, args, nargs, kwnames);
}

PyObject *decrypt_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {
      "decrypt_into", 4, 4, 4, {"nonce", "data", "associated_data", "buf"}};
  return run_into(self, signature, open, args, nargs, kwnames);
}

PyObject *generate_key(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"generate_key", 1, 1, 1, {"bit_length"}};
  PyObject *v[1];
  return bind(signature, args, nargs, kwnames, v) ? random_key(v[0], false) : nullptr;
}

/* ---- The type ---------------------------------------------------------------------------------- */

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"AESGCMSIV", 1, 1, 1, {"key"}};
  PyObject *v[1];
  Input key;
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, v) || !key.open(v[0])) {
    return nullptr;
  }
  if (key.size() != 16 && key.size() != 32) {
    PyErr_Format(PyExc_ValueError, "AES-GCM-SIV key must be 128 or 256 bits, received %zd bytes",
                 key.size());
    return nullptr;
  }
  Object *self = PyObject_New(Object, reinterpret_cast<PyTypeObject *>(type));
  if (self == nullptr) return nullptr;
  FC_TABLE.aes.expand_key(&self->key, key.data(), static_cast<size_t>(key.size()));
  return reinterpret_cast<PyObject *>(self);
}

void destroy(PyObject *self) {
  fc_wipe(&reinterpret_cast<Object *>(self)->key, sizeof(fc_aes_key));
  free_object(self);
}

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<fastcrypt.AESGCMSIV object, %d-bit key>",
                              key_of(self)->rounds == 10 ? 128 : 256);
}

PyMethodDef methods[] = {
    FC_METHOD(
        encrypt,
        "encrypt($self, nonce, data, associated_data)\n--\n\n"
        "The ciphertext of data followed by the tag of 16 bytes (RFC 8452), as bytes.\n\n"
        "nonce has 12 bytes, else ValueError. One that is used twice under a key shows whether\n"
        "the messages were the same, and nothing else. associated_data may be None. Any\n"
        "contiguous buffer; OverflowError for more than 2**36 bytes of either. From 16 KiB on\n"
        "other threads run meanwhile."),
    FC_METHOD(decrypt,
              "decrypt($self, nonce, data, associated_data)\n--\n\n"
              "The plaintext of data, which is ciphertext followed by the tag.\n\n"
              "InvalidTag if anything has been changed; no plaintext is then left anywhere."),
    FC_METHOD(
        encrypt_into,
        "encrypt_into($self, nonce, data, associated_data, buf)\n--\n\n"
        "encrypt() into a writable buffer of exactly len(data) + 16 bytes; returns the number\n"
        "of bytes written. In place works: buf may start where data starts. Any other overlap\n"
        "is ValueError."),
    FC_METHOD(
        decrypt_into,
        "decrypt_into($self, nonce, data, associated_data, buf)\n--\n\n"
        "decrypt() into a writable buffer of exactly len(data) - 16 bytes; returns the number\n"
        "of bytes written. After InvalidTag buf is all zeros, in place too."),
    {"generate_key", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(generate_key)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "generate_key(bit_length)\n--\n\nA random key of 128 or 256 bits from the system."},
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

const char doc[] =
    "AESGCMSIV(key)\n--\n\n"
    "AES-GCM-SIV (RFC 8452) under one key of 16 or 32 bytes, in cryptography's shape: for nonces\n"
    "that may repeat.\n\n"
    "The object is immutable: threads share it without a lock. Its key schedule is wiped when it\n"
    "dies, the keys derived for a message when the call ends.";

}  // namespace

bool add_aes_gcm_siv(PyObject *module) {
  return add_key_type(module, {"fastcrypt.AESGCMSIV", sizeof(Object), doc, construct, destroy, repr,
                               methods, nullptr});
}

}  // namespace fc

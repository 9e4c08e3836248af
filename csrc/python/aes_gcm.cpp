/* SPDX-License-Identifier: Apache-2.0 */
/* class AESGCM and what GCM needs of aes_encrypt(). The key object is immutable, so it has no lock. */
#include <cstring>

#include "python/aead_message.h"
#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/gcm.h"
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

struct Object {
  PyObject_HEAD
  Py_ssize_t tag_length;
  unsigned key_bits;
  fc_gcm_key key;
};

Object *cast(PyObject *self) { return reinterpret_cast<Object *>(self); }

/* ---- One message ------------------------------------------------------------------------------- */

constexpr Names METHOD_NAMES = {"Nonce", "associated_data", "out"};
constexpr Names INTO_NAMES = {"Nonce", "associated_data", "buffer"};
constexpr Names FUNCTION_NAMES = {"iv", "aad", "out"};

/* What the kernels take. `tag` receives 16 bytes whatever the tag length. */
fc_gcm_message message_of(const Message &message, Py_ssize_t size, const uint8_t *j0, uint8_t *out,
                          uint8_t *tag) {
  return {j0,
          message.aad.data(),
          static_cast<uint64_t>(message.aad.size()),
          message.data.data(),
          out,
          static_cast<uint64_t>(size),
          tag};
}

void seal(const fc_gcm_key *key, const Message &message, uint8_t *out, uint8_t tag[16]) {
  uint8_t j0[16];
  DetachIf detached(message.detach());
  fc_gcm_j0(key, message.nonce.data(), static_cast<size_t>(message.nonce.size()), j0);
  const fc_gcm_message kernel_message = message_of(message, message.data.size(), j0, out, tag);
  FC_TABLE.aes.gcm_seal(key, &kernel_message);
}

/* 0, or -1 for a bad tag with out zeroed. */
int open_sealed(const fc_gcm_key *key, const Message &message, Py_ssize_t size, uint8_t *out,
                const uint8_t *tag, Py_ssize_t tag_length) {
  uint8_t j0[16], computed[FC_GCM_TAG_BYTES], expected[FC_GCM_TAG_BYTES];
  /* In place, or with `out` over the tag, the tag must be read first. */
  std::memcpy(expected, tag, static_cast<size_t>(tag_length));
  DetachIf detached(message.detach());
  fc_gcm_j0(key, message.nonce.data(), static_cast<size_t>(message.nonce.size()), j0);
  const fc_gcm_message kernel_message = message_of(message, size, j0, out, computed);
  return fc_gcm_open(key, &kernel_message, expected, static_cast<size_t>(tag_length));
}

PyObject *seal_attached(const fc_gcm_key *key, Py_ssize_t tag_length, const Message &message,
                        PyObject *out) {
  const Py_ssize_t size = message.data.size();
  uint8_t tag[FC_GCM_TAG_BYTES];
  Destination result;
  if (!check_gcm_sizes(size, message.aad.size()) ||
      !open_result(&result, out, size + tag_length, message)) {
    return nullptr;
  }
  seal(key, message, result.data(), tag);
  std::memcpy(result.data() + size, tag, static_cast<size_t>(tag_length));
  return result.finish();
}

PyObject *open_attached(const fc_gcm_key *key, Py_ssize_t tag_length, const Message &message,
                        PyObject *out, PyObject *module) {
  const Py_ssize_t size = message.data.size() - tag_length;
  if (size < 0) return raise_invalid_tag(module);
  Destination result;
  if (!check_gcm_sizes(size, message.aad.size()) || !open_result(&result, out, size, message)) {
    return nullptr;
  }
  const uint8_t *tag = message.data.data() + size;
  if (open_sealed(key, message, size, result.data(), tag, tag_length) != 0) {
    return raise_invalid_tag(module);
  }
  return result.finish();
}

/* ---- Methods ----------------------------------------------------------------------------------- */

enum { NONCE, DATA, AAD, LAST };

PyObject *encrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"encrypt", 3, 3, 3, {"nonce", "data", "associated_data"}};
  PyObject *v[3];
  Message message(METHOD_NAMES);
  if (!bind_message(signature, args, nargs, kwnames, v) ||
      !message.open(v[NONCE], v[DATA], v[AAD])) {
    return nullptr;
  }
  return seal_attached(&cast(self)->key, cast(self)->tag_length, message, nullptr);
}

PyObject *decrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"decrypt", 3, 3, 3, {"nonce", "data", "associated_data"}};
  PyObject *v[3];
  Message message(METHOD_NAMES);
  if (!bind_message(signature, args, nargs, kwnames, v) ||
      !message.open(v[NONCE], v[DATA], v[AAD])) {
    return nullptr;
  }
  return open_attached(&cast(self)->key, cast(self)->tag_length, message, nullptr, module_of(self));
}

PyObject *encrypt_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {
      "encrypt_into", 4, 4, 4, {"nonce", "data", "associated_data", "buf"}};
  PyObject *v[4];
  Message message(INTO_NAMES);
  if (!bind_message(signature, args, nargs, kwnames, v) || !require_buffer(v[LAST]) ||
      !message.open(v[NONCE], v[DATA], v[AAD])) {
    return nullptr;
  }
  return seal_attached(&cast(self)->key, cast(self)->tag_length, message, v[LAST]);
}

PyObject *decrypt_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {
      "decrypt_into", 4, 4, 4, {"nonce", "data", "associated_data", "buf"}};
  PyObject *v[4];
  Message message(INTO_NAMES);
  if (!bind_message(signature, args, nargs, kwnames, v) || !require_buffer(v[LAST]) ||
      !message.open(v[NONCE], v[DATA], v[AAD])) {
    return nullptr;
  }
  return open_attached(&cast(self)->key, cast(self)->tag_length, message, v[LAST], module_of(self));
}

PyObject *encrypt_detached(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames) {
  static const Signature signature = {
      "encrypt_detached", 3, 3, 4, {"nonce", "data", "associated_data", "out"}};
  PyObject *v[4];
  Message message(METHOD_NAMES);
  Destination result;
  if (!bind(signature, args, nargs, kwnames, v) || !message.open(v[NONCE], v[DATA], v[AAD]) ||
      !check_gcm_sizes(message.data.size(), message.aad.size()) ||
      !open_result(&result, v[LAST], message.data.size(), message)) {
    return nullptr;
  }
  uint8_t tag[FC_GCM_TAG_BYTES];
  seal(&cast(self)->key, message, result.data(), tag);
  PyObject *text = result.finish();
  if (text == nullptr) return nullptr;
  return Py_BuildValue("(Ny#)", text, reinterpret_cast<const char *>(tag), cast(self)->tag_length);
}

PyObject *decrypt_detached(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames) {
  enum { TAG_NONCE, TAG_DATA, TAG_TAG, TAG_AAD, TAG_OUT };
  static const Signature signature = {
      "decrypt_detached", 4, 4, 5, {"nonce", "data", "tag", "associated_data", "out"}};
  PyObject *v[5];
  Message message(METHOD_NAMES);
  Input tag;
  Destination result;
  if (!bind(signature, args, nargs, kwnames, v) ||
      !message.open(v[TAG_NONCE], v[TAG_DATA], v[TAG_AAD]) || !tag.open(v[TAG_TAG])) {
    return nullptr;
  }
  const Py_ssize_t size = message.data.size();
  if (!check_gcm_sizes(size, message.aad.size()) ||
      !open_result(&result, v[TAG_OUT], size, message)) {
    return nullptr;
  }
  if (tag.size() != cast(self)->tag_length) {
    result.fail();
    return raise_invalid_tag(module_of(self));
  }
  if (open_sealed(&cast(self)->key, message, size, result.data(), tag.data(), tag.size()) != 0) {
    return raise_invalid_tag(module_of(self));
  }
  return result.finish();
}

PyObject *many_encrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  return encrypt_many(&cast(self)->key, cast(self)->tag_length, args, nargs, kwnames);
}

PyObject *many_decrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  return decrypt_many(&cast(self)->key, cast(self)->tag_length, args, nargs, kwnames,
                      module_of(self));
}

PyObject *new_stream(PyObject *self, Direction direction, const Signature &signature,
                     PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[2];
  if (!bind(signature, args, nargs, kwnames, v)) return nullptr;
  return new_gcm_stream(self, &cast(self)->key, cast(self)->tag_length, direction, v[0], v[1]);
}

PyObject *encryptor(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"encryptor", 2, 1, 2, {"nonce", "associated_data"}};
  return new_stream(self, Direction::encrypt, signature, args, nargs, kwnames);
}

PyObject *decryptor(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"decryptor", 2, 1, 2, {"nonce", "associated_data"}};
  return new_stream(self, Direction::decrypt, signature, args, nargs, kwnames);
}

PyObject *generate_key(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"generate_key", 1, 1, 1, {"bit_length"}};
  PyObject *v[1];
  return bind(signature, args, nargs, kwnames, v) ? random_key(v[0], true) : nullptr;
}

/* ---- The type ---------------------------------------------------------------------------------- */

bool parse_tag_length(PyObject *object, PyObject *allow_short, Py_ssize_t *tag_length) {
  *tag_length = FC_GCM_TAG_BYTES;
  const int short_allowed = allow_short != nullptr ? PyObject_IsTrue(allow_short) : 0;
  if (short_allowed < 0) return false;
  if (object == nullptr) return true;
  const Py_ssize_t length = PyNumber_AsSsize_t(object, nullptr);
  if (length == -1 && PyErr_Occurred()) return false;
  if ((length < 12 || length > 16) && !(short_allowed && (length == 4 || length == 8))) {
    PyErr_Format(PyExc_ValueError,
                 "tag_length must be 12 to 16 bytes (or 4 or 8 with allow_short_tag=True), "
                 "received %zd",
                 length);
    return false;
  }
  *tag_length = length;
  return true;
}

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"AESGCM", 1, 1, 3, {"key", "tag_length", "allow_short_tag"}};
  PyObject *v[3];
  Input key;
  Py_ssize_t tag_length;
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, v) ||
      !open_key(&key, v[0], "AESGCM") || !parse_tag_length(v[1], v[2], &tag_length)) {
    return nullptr;
  }
  Object *self = PyObject_New(Object, reinterpret_cast<PyTypeObject *>(type));
  if (self == nullptr) return nullptr;
  self->tag_length = tag_length;
  self->key_bits = static_cast<unsigned>(key.size() * 8);
  fc_gcm_init(&self->key, key.data(), static_cast<size_t>(key.size()));
  return reinterpret_cast<PyObject *>(self);
}

void destroy(PyObject *self) {
  fc_wipe(&reinterpret_cast<Object *>(self)->key, sizeof(fc_gcm_key));
  free_object(self);
}

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<fastcrypt.AESGCM object, %u-bit key, %zd-byte tag>",
                              cast(self)->key_bits, cast(self)->tag_length);
}

PyObject *get_tag_length(PyObject *self, void *) {
  return PyLong_FromSsize_t(cast(self)->tag_length);
}

PyMethodDef methods[] = {
    FC_METHOD(
        encrypt,
        "encrypt($self, nonce, data, associated_data)\n--\n\n"
        "The ciphertext of data followed by the tag (SP 800-38D), as bytes.\n\n"
        "nonce has 8 to 128 bytes and must never be used twice under one key; associated_data\n"
        "may be None. Any contiguous buffer. ValueError for a bad nonce length, OverflowError\n"
        "for data beyond 2**36 - 32 bytes. From 16 KiB on other threads run meanwhile."),
    FC_METHOD(decrypt,
              "decrypt($self, nonce, data, associated_data)\n--\n\n"
              "The plaintext of data, which is ciphertext followed by the tag.\n\n"
              "InvalidTag if anything has been changed; no plaintext is then left anywhere."),
    FC_METHOD(
        encrypt_into,
        "encrypt_into($self, nonce, data, associated_data, buf)\n--\n\n"
        "encrypt() into a writable buffer of exactly len(data) + tag length bytes; returns the\n"
        "number of bytes written. In place works: buf may start where data starts. Any other\n"
        "overlap is ValueError."),
    FC_METHOD(
        decrypt_into,
        "decrypt_into($self, nonce, data, associated_data, buf)\n--\n\n"
        "decrypt() into a writable buffer of exactly len(data) - tag length bytes; returns the\n"
        "number of bytes written. After InvalidTag buf is all zeros, in place too."),
    FC_METHOD(encrypt_detached,
              "encrypt_detached($self, nonce, data, associated_data, *, out=None)\n--\n\n"
              "(ciphertext, tag); with out, (number of bytes written, tag)."),
    FC_METHOD(
        decrypt_detached,
        "decrypt_detached($self, nonce, data, tag, associated_data, *, out=None)\n--\n\n"
        "The plaintext of data, whose tag is given apart; with out, the number of bytes written."),
    FC_NAMED_METHOD(
        "encrypt_many", many_encrypt,
        "encrypt_many($self, nonces, datas, aads=None, *, record_size=None, out=None)\n--\n\n"
        "encrypt() of many records in one call: a list of bytes, each ciphertext and tag.\n\n"
        "nonces is a list, or one buffer of 12 bytes for each record; datas a list, or one buffer\n"
        "that is cut every record_size bytes, where the last record may be short; aads None, one\n"
        "buffer for all records, or a list of buffers and None. With out, a writable buffer of\n"
        "exactly the size of all results, they go there back to back, and the number of bytes\n"
        "written is returned. A record may be encrypted in place: its data starts where its "
        "result\n"
        "goes. Any other overlap is ValueError, as are wrong counts and sizes.\n"
        "Nothing is written unless all arguments are right. Threads may share the key and the\n"
        "arguments: all items are held until the end. From 16 KiB on other threads run meanwhile."),
    FC_NAMED_METHOD(
        "decrypt_many", many_decrypt,
        "decrypt_many($self, nonces, datas, aads=None, *, record_size=None, out=None,\n"
        "             errors=\"raise\")\n--\n\n"
        "decrypt() of many records, each ciphertext and tag, in one call: a list of bytes.\n\n"
        "Arguments are those of encrypt_many(); record_size counts the tag. With errors=\"raise\"\n"
        "it is all or nothing: InvalidTag, whose index is the number of the first bad record, and\n"
        "all of out is zeroed, in place the ciphertext too. With errors=\"none\" a bad record "
        "gives\n"
        "None in the list and zeros in out, and the others stand; with out the list then has the\n"
        "number of bytes of each record, or None. A record shorter than a tag is bad and has no\n"
        "bytes in out."),
    FC_METHOD(encryptor,
              "encryptor($self, nonce, associated_data=None)\n--\n\n"
              "A message in pieces: an object with update(data), update_into(data, buf) and\n"
              "finalize() -> tag."),
    FC_METHOD(
        decryptor,
        "decryptor($self, nonce, associated_data=None)\n--\n\n"
        "A message in pieces: an object with update(data), update_into(data, buf) and\n"
        "finalize(tag). What update() returns is UNVERIFIED until finalize(tag) has returned."),
    {"generate_key", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(generate_key)),
     METH_FASTCALL | METH_KEYWORDS | METH_STATIC,
     "generate_key(bit_length)\n--\n\nA random key of 128, 192 or 256 bits from the system."},
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef attributes[] = {{"tag_length", get_tag_length, nullptr, "Bytes in a tag.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

const char doc[] =
    "AESGCM(key, *, tag_length=16, allow_short_tag=False)\n--\n\n"
    "AES-GCM (SP 800-38D) under one key of 16, 24 or 32 bytes, in cryptography's shape.\n\n"
    "The object is immutable: threads share it without a lock. The key schedule and the powers of\n"
    "the hash subkey are computed here, once, and wiped when the object dies. Tags have 12 to 16\n"
    "bytes; 4 and 8 only with allow_short_tag=True.";

}  // namespace

PyObject *raise_invalid_tag(PyObject *module) {
  return raise_own(module, "InvalidTag", "the tag does not verify");
}

PyObject *raise_invalid_tag_at(PyObject *module, Py_ssize_t index) {
  PyObject *number = PyLong_FromSsize_t(index);
  if (number == nullptr) return nullptr;
  raise_invalid_tag(module);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (PyObject_SetAttrString(value, "index", number) == 0) {
    PyErr_Restore(type, value, traceback);
  } else { /* no memory for its attributes */
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  }
  Py_DECREF(number);
  return nullptr;
}

PyObject *random_key(PyObject *bit_length, bool with_192) {
  const long bits = PyLong_AsLong(bit_length);
  if (bits == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return nullptr;
    PyErr_Clear();
  }
  if (bits != 128 && bits != 256 && !(bits == 192 && with_192)) {
    PyErr_SetString(PyExc_ValueError, with_192 ? "bit_length must be 128, 192, or 256"
                                               : "bit_length must be 128 or 256");
    return nullptr;
  }
  PyObject *os = PyImport_ImportModule("os");
  if (os == nullptr) return nullptr;
  PyObject *key = PyObject_CallMethod(os, "urandom", "l", bits / 8);
  Py_DECREF(os);
  return key;
}

bool require_buffer(PyObject *object) {
  if (object != Py_None) return true;
  PyErr_SetString(PyExc_TypeError, "buffer must be a writable bytes-like object, not 'NoneType'");
  return false;
}

bool check_gcm_sizes(Py_ssize_t size, Py_ssize_t aad_size) {
  const bool fits = static_cast<uint64_t>(size) <= FC_GCM_MAX_BYTES;
  if (fits && static_cast<uint64_t>(aad_size) <= FC_GCM_MAX_AAD_BYTES) return true;
  PyErr_SetString(PyExc_OverflowError,
                  fits ? "associated data is longer than GCM allows (2**61 - 1 bytes)"
                       : "data is longer than GCM allows (2**36 - 32 bytes)");
  return false;
}

bool open_nonce(Input *nonce, PyObject *object, const char *role) {
  if (!nonce->open(object)) return false;
  if (nonce->size() >= 8 && nonce->size() <= 128) return true;
  PyErr_Format(PyExc_ValueError, "%s must be between 8 and 128 bytes, received %zd", role,
               nonce->size());
  return false;
}

PyObject *run_gcm(const fc_gcm_key *key, Py_ssize_t tag_length, Direction direction,
                  PyObject *nonce, PyObject *data, PyObject *aad, PyObject *out, PyObject *module) {
  Message message(FUNCTION_NAMES);
  if (!message.open(nonce, data, aad)) return nullptr;
  return direction == Direction::encrypt ? seal_attached(key, tag_length, message, out)
                                         : open_attached(key, tag_length, message, out, module);
}

bool add_aes_gcm(PyObject *module) {
  PyObject *invalid_tag_attributes = Py_BuildValue("{s:O}", "index", Py_None);
  if (invalid_tag_attributes == nullptr) return false;
  PyObject *error = PyErr_NewExceptionWithDoc(
      "fastcrypt.InvalidTag",
      "A tag that does not verify. `index` is the record's number in a call on many, else None.",
      nullptr, invalid_tag_attributes);
  Py_DECREF(invalid_tag_attributes);
  if (error == nullptr) return false;
  const bool added = PyModule_AddObjectRef(module, "InvalidTag", error) == 0;
  Py_DECREF(error);
  return added && add_key_type(module, {"fastcrypt.AESGCM", sizeof(Object), doc, construct, destroy,
                                        repr, methods, attributes});
}

}  // namespace fc

/* SPDX-License-Identifier: Apache-2.0 */
/* class AES, and the functions aes_encrypt and aes_decrypt. */
#include "python/aes.h"

#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"

extern "C" {
#include "aes/gcm.h"
#include "cpu/dispatch.h"
#include "ct/wipe.h"
}

namespace fc {
namespace {

struct Object {
  PyObject_HEAD
  fc_aes_key key;
};

const fc_aes_key *key_of(PyObject *self) { return &reinterpret_cast<Object *>(self)->key; }

/* ---- class AES --------------------------------------------------------------------------------- */

PyObject *ecb(PyObject *self, Direction direction, const Signature &signature,
              PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[2];
  if (!bind(signature, args, nargs, kwnames, v)) return nullptr;
  return run_ecb(key_of(self), direction, v[0], false, v[1]);
}

PyObject *ecb_encrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"ecb_encrypt", 1, 1, 2, {"data", "out"}};
  return ecb(self, Direction::encrypt, signature, args, nargs, kwnames);
}

PyObject *ecb_decrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"ecb_decrypt", 1, 1, 2, {"data", "out"}};
  return ecb(self, Direction::decrypt, signature, args, nargs, kwnames);
}

PyObject *cbc(PyObject *self, Direction direction, const Signature &signature,
              PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[4];
  bool pkcs7;
  if (!bind(signature, args, nargs, kwnames, v) || !parse_padding(v[2], &pkcs7)) return nullptr;
  return run_cbc(key_of(self), direction, v[0], v[1], pkcs7, v[3]);
}

PyObject *cbc_encrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"cbc_encrypt", 2, 2, 4, {"iv", "data", "padding", "out"}};
  return cbc(self, Direction::encrypt, signature, args, nargs, kwnames);
}

PyObject *cbc_decrypt(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"cbc_decrypt", 2, 2, 4, {"iv", "data", "padding", "out"}};
  return cbc(self, Direction::decrypt, signature, args, nargs, kwnames);
}

bool parse_offset(PyObject *object, uint64_t *offset) {
  *offset = 0;
  return object == nullptr || parse_uint64(object, "offset", offset);
}

PyObject *ctr(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"ctr", 2, 2, 4, {"iv", "data", "offset", "out"}};
  PyObject *v[4];
  uint64_t offset;
  if (!bind(signature, args, nargs, kwnames, v) || !parse_offset(v[2], &offset)) return nullptr;
  return run_ctr(key_of(self), v[0], v[1], offset, v[3]);
}

PyObject *cbc_encrypt_many(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames) {
  static const Signature signature = {"cbc_encrypt_many", 2, 2, 3, {"ivs", "datas", "out"}};
  PyObject *v[3];
  if (!bind(signature, args, nargs, kwnames, v)) return nullptr;
  return run_cbc_encrypt_many(key_of(self), v[0], v[1], v[2]);
}

PyObject *cbc_stream(PyObject *self, fc_stream_mode mode, const Signature &signature,
                     PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[2];
  bool pkcs7;
  if (!bind(signature, args, nargs, kwnames, v) || !parse_padding(v[1], &pkcs7)) return nullptr;
  return new_aes_stream(self, key_of(self), mode, pkcs7, v[0]);
}

PyObject *cbc_encryptor(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames) {
  static const Signature signature = {"cbc_encryptor", 2, 1, 2, {"iv", "padding"}};
  return cbc_stream(self, FC_STREAM_CBC_ENCRYPT, signature, args, nargs, kwnames);
}

PyObject *cbc_decryptor(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames) {
  static const Signature signature = {"cbc_decryptor", 2, 1, 2, {"iv", "padding"}};
  return cbc_stream(self, FC_STREAM_CBC_DECRYPT, signature, args, nargs, kwnames);
}

PyObject *ctr_encryptor(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames) {
  static const Signature signature = {"ctr_encryptor", 1, 1, 1, {"iv"}};
  PyObject *v[1];
  if (!bind(signature, args, nargs, kwnames, v)) return nullptr;
  return new_aes_stream(self, key_of(self), FC_STREAM_CTR, false, v[0]);
}

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"AES", 1, 1, 1, {"key"}};
  PyObject *v[1];
  Input key;
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, v) ||
      !open_key(&key, v[0], "AES")) {
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

/* 10, 12 or 14 rounds are 16, 24 or 32 bytes. */
long key_size(PyObject *self) { return static_cast<long>(key_of(self)->rounds) * 4 - 24; }

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<fastcrypt.AES object, %ld-bit key>", key_size(self) * 8);
}

PyObject *get_key_size(PyObject *self, void *) { return PyLong_FromLong(key_size(self)); }
PyObject *get_block_size(PyObject *, void *) { return PyLong_FromLong(16); }

PyMethodDef methods[] = {
    FC_METHOD(
        ecb_encrypt,
        "ecb_encrypt($self, data, *, out=None)\n--\n\n"
        "Each 16-byte block on its own (SP 800-38A section 6.1): for building other modes,\n"
        "header-protection masks and the like, not for messages.\n\n"
        "Returns bytes, or with out (a writable buffer of len(data) bytes, which may be data's\n"
        "own) the number of bytes written. ValueError for a partial block or a wrong out size."),
    FC_METHOD(ecb_decrypt,
              "ecb_decrypt($self, data, *, out=None)\n--\n\nThe inverse of ecb_encrypt."),
    FC_METHOD(
        cbc_encrypt,
        "cbc_encrypt($self, iv, data, *, padding=None, out=None)\n--\n\n"
        "CBC (SP 800-38A section 6.2) with an iv of 16 bytes, which must be unpredictable.\n\n"
        "padding='pkcs7' (RFC 5652) adds 1 to 16 bytes; without it data is whole blocks, else\n"
        "ValueError. CBC does not authenticate: prefer AESGCM."),
    FC_METHOD(
        cbc_decrypt,
        "cbc_decrypt($self, iv, data, *, padding=None, out=None)\n--\n\n"
        "The inverse of cbc_encrypt. With padding='pkcs7' wrong padding is ValueError, decided\n"
        "in constant time; out then has len(data) bytes, the plaintext's end being zeroed."),
    FC_METHOD(
        ctr,
        "ctr($self, iv, data, *, offset=0, out=None)\n--\n\n"
        "Encrypt or decrypt with CTR (SP 800-38A section 6.5): iv is the first counter block,\n"
        "16 bytes, counted big-endian modulo 2**128. offset seeks in the key stream, in bytes,\n"
        "in constant time."),
    FC_METHOD(
        cbc_encrypt_many,
        "cbc_encrypt_many($self, ivs, datas, *, out=None)\n--\n\n"
        "cbc_encrypt() of many independent messages in one call: a list of bytes.\n\n"
        "One chain of CBC waits for each of its rounds; many side by side do not. ivs is a\n"
        "list, or one buffer of 16 bytes for each message; datas a list of buffers of any\n"
        "lengths, each a multiple of 16 bytes, else ValueError. With out, a writable buffer of\n"
        "exactly the size of all results, they go there back to back, and the number of bytes\n"
        "written is returned. A message may be encrypted in place: its data starts where its\n"
        "result goes; any other overlap is ValueError. Nothing is written unless all arguments\n"
        "are right. All items are held until the end. From 16 KiB on other threads run\n"
        "meanwhile."),
    FC_METHOD(cbc_encryptor,
              "cbc_encryptor($self, iv, padding=None)\n--\n\n"
              "cbc_encrypt() in pieces: an object with update(data), update_into(data, buf) and\n"
              "finalize()."),
    FC_METHOD(cbc_decryptor,
              "cbc_decryptor($self, iv, padding=None)\n--\n\n"
              "cbc_decrypt() in pieces: an object with update(data), update_into(data, buf) and\n"
              "finalize(). CBC does not authenticate what comes out."),
    FC_METHOD(
        ctr_encryptor,
        "ctr_encryptor($self, iv)\n--\n\n"
        "ctr() in pieces: an object with update(data), update_into(data, buf) and finalize()."),
    FC_NAMED_METHOD("ctr_decryptor", ctr_encryptor,
                    "ctr_decryptor($self, iv)\n--\n\nThe same as ctr_encryptor."),
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef attributes[] = {
    {"key_size", get_key_size, nullptr, "Bytes in the key.", nullptr},
    {"block_size", get_block_size, nullptr, "Bytes in a block: 16.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

const char doc[] =
    "AES(key)\n--\n\n"
    "AES (FIPS 197) under one key of 16, 24 or 32 bytes, in the modes ECB, CBC and CTR.\n\n"
    "The object is immutable: threads share it without a lock. Its key schedule is wiped when it\n"
    "dies. From 16 KiB of data on other threads run meanwhile.";

/* ---- aes_encrypt and aes_decrypt --------------------------------------------------------------- */

enum { KEY, DATA, MODE, IV, AAD, PADDING, OUT, ARGUMENTS };

constexpr Signature signature_of(const char *name) {
  return {name, 2, 3, ARGUMENTS, {"key", "data", "mode", "iv", "aad", "padding", "out"}};
}

bool given(PyObject *argument) { return argument != nullptr && argument != Py_None; }

bool mode_is(PyObject *mode, const char *name) {
  return PyUnicode_CompareWithASCIIString(mode, name) == 0;
}

/* Which of iv, aad and padding a mode takes, checked before anything is computed. */
bool check_mode_arguments(PyObject **v) {
  PyObject *mode = v[MODE];
  if (!PyUnicode_Check(mode)) {
    PyErr_Format(PyExc_TypeError, "mode must be a str, not '%.200s'", Py_TYPE(mode)->tp_name);
    return false;
  }
  const bool is_ecb = mode_is(mode, "ecb"), is_cbc = mode_is(mode, "cbc");
  const bool is_ctr = mode_is(mode, "ctr"), is_gcm = mode_is(mode, "gcm");
  if (!is_ecb && !is_cbc && !is_ctr && !is_gcm) {
    PyErr_Format(PyExc_ValueError, "mode must be 'ecb', 'cbc', 'ctr' or 'gcm', received %R", mode);
    return false;
  }
  if (given(v[IV]) == is_ecb) {
    PyErr_Format(PyExc_ValueError, is_ecb ? "mode %R takes no iv" : "mode %R needs an iv", mode);
    return false;
  }
  if (given(v[AAD]) && !is_gcm) {
    PyErr_Format(PyExc_ValueError, "mode %R takes no aad", mode);
    return false;
  }
  if (given(v[PADDING]) && (is_ctr || is_gcm)) {
    PyErr_Format(PyExc_ValueError, "mode %R takes no padding", mode);
    return false;
  }
  return true;
}

PyObject *run_with_key(const Input &key, Direction direction, PyObject **v, bool pkcs7,
                       PyObject *module) {
  fc_gcm_key gcm_key;
  PyObject *result;
  const size_t key_len = static_cast<size_t>(key.size());
  if (mode_is(v[MODE], "gcm")) {
    fc_gcm_init(&gcm_key, key.data(), key_len);
    result = run_gcm(&gcm_key, FC_GCM_TAG_BYTES, direction, v[IV], v[DATA], v[AAD], v[OUT], module);
  } else {
    FC_TABLE.aes.expand_key(&gcm_key.aes, key.data(), key_len);
    if (mode_is(v[MODE], "ecb")) {
      result = run_ecb(&gcm_key.aes, direction, v[DATA], pkcs7, v[OUT]);
    } else if (mode_is(v[MODE], "cbc")) {
      result = run_cbc(&gcm_key.aes, direction, v[IV], v[DATA], pkcs7, v[OUT]);
    } else {
      result = run_ctr(&gcm_key.aes, v[IV], v[DATA], 0, v[OUT]);
    }
  }
  fc_wipe(&gcm_key, sizeof gcm_key);
  return result;
}

/* `out` over the key would be read after it is written only by chance; refuse it. */
bool out_spares_key(PyObject *out, const Input &key) {
  if (!given(out)) return true;
  Output buffer;
  if (!buffer.open(out, "out")) return false;
  if (!regions_overlap(key.data(), key.size(), buffer.data(), buffer.size())) return true;
  PyErr_SetString(PyExc_ValueError, "out overlaps key");
  return false;
}

PyObject *run(PyObject *module, Direction direction, const Signature &signature,
              PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  PyObject *v[ARGUMENTS];
  Input key;
  bool pkcs7;
  if (!bind(signature, args, nargs, kwnames, v) || !check_mode_arguments(v) ||
      !parse_padding(v[PADDING], &pkcs7) || !open_key(&key, v[KEY], "AES") ||
      !out_spares_key(v[OUT], key)) {
    return nullptr;
  }
  return run_with_key(key, direction, v, pkcs7, module);
}

PyObject *aes_encrypt(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames) {
  static constexpr Signature signature = signature_of("aes_encrypt");
  return run(module, Direction::encrypt, signature, args, nargs, kwnames);
}

PyObject *aes_decrypt(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames) {
  static constexpr Signature signature = signature_of("aes_decrypt");
  return run(module, Direction::decrypt, signature, args, nargs, kwnames);
}

PyMethodDef functions[] = {
    FC_METHOD(
        aes_encrypt,
        "aes_encrypt($module, key, data, *, mode, iv=None, aad=None, padding=None, out=None)\n"
        "--\n\n"
        "Encrypt one message. For many under one key use AES or AESGCM, which keep the "
        "schedule.\n\n"
        "mode is 'ecb', 'cbc', 'ctr' or 'gcm' and has no default. iv: 16 bytes for cbc and ctr,\n"
        "the nonce (8 to 128 bytes) for gcm, none for ecb. gcm takes aad and appends the 16-byte\n"
        "tag. padding='pkcs7' for ecb and cbc. Returns bytes, or with out the number of bytes\n"
        "written. ValueError names the argument whose size or value is wrong."),
    FC_METHOD(
        aes_decrypt,
        "aes_decrypt($module, key, data, *, mode, iv=None, aad=None, padding=None, out=None)\n"
        "--\n\n"
        "The inverse of aes_encrypt. gcm: data is ciphertext and tag; InvalidTag if it does not\n"
        "verify, and out is then zeroed."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_aes(PyObject *module) {
  return add_key_type(module, {"fastcrypt.AES", sizeof(Object), doc, construct, destroy, repr,
                               methods, attributes}) &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

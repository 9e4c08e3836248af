/* SPDX-License-Identifier: Apache-2.0 */
/* AESGCM.encryptor and .decryptor: a message in pieces. */
#include <cstring>

#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"
#include "python/object_lock.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/gcm_stream.h"
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

struct Object {
  PyObject_HEAD
  PyObject *owner; /* the AESGCM object, which holds the key */
  const fc_gcm_key *key;
  Py_ssize_t tag_length;
  ObjectLock lock;
  bool finished;
  fc_gcm_stream stream;
};

Object *cast(PyObject *self) { return reinterpret_cast<Object *>(self); }

bool still_open(const Object *self) {
  if (!self->finished) return true;
  PyErr_SetString(PyExc_ValueError, "the stream is already finalized");
  return false;
}

/* Whether `size` bytes may follow the `before` that the message has. */
bool check_total(uint64_t before, Py_ssize_t size) {
  if (static_cast<uint64_t>(size) <= FC_GCM_MAX_BYTES - before) return true;
  PyErr_SetString(PyExc_OverflowError, "the message is longer than GCM allows (2**36 - 32 bytes)");
  return false;
}

using Crypt = void (*)(fc_gcm_stream *, const fc_gcm_key *, const uint8_t *, uint8_t *, size_t);

PyObject *run_update(Object *self, Crypt crypt, PyObject *data, PyObject *out) {
  Input input;
  Destination result;
  /* What no message can hold is refused before there is a result of that size. */
  if (!input.open(data) || !check_total(0, input.size()) ||
      !result.open(out, input.size(), "buffer") || !result.allows_data(input)) {
    return nullptr;
  }
  Hold hold(self->lock, input.size() >= FC_AES_DETACH_BYTES);
  if (!still_open(self) || !check_total(self->stream.len, input.size())) return nullptr;
  {
    DetachIf detached(hold.detach());
    crypt(&self->stream, self->key, input.data(), result.data(), static_cast<size_t>(input.size()));
  }
  return result.finish();
}

template <Crypt crypt>
PyObject *update(PyObject *self, PyObject *data) {
  return run_update(cast(self), crypt, data, nullptr);
}

template <Crypt crypt>
PyObject *update_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"update_into", 2, 2, 2, {"data", "buf"}};
  PyObject *v[2];
  if (!bind(signature, args, nargs, kwnames, v) || !require_buffer(v[1])) return nullptr;
  return run_update(cast(self), crypt, v[0], v[1]);
}

/* The tag, once. False with ValueError if the stream has been finalized before. */
bool finish(Object *self, uint8_t tag[FC_GCM_TAG_BYTES]) {
  Hold hold(self->lock);
  if (!still_open(self)) return false;
  self->finished = true;
  fc_gcm_stream_finish(&self->stream, self->key, tag);
  return true;
}

PyObject *finalize_encryption(PyObject *self, PyObject *) {
  uint8_t tag[FC_GCM_TAG_BYTES];
  if (!finish(cast(self), tag)) return nullptr;
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(tag), cast(self)->tag_length);
}

PyObject *finalize_decryption(PyObject *object, PyObject *tag_object) {
  Object *self = cast(object);
  uint8_t tag[FC_GCM_TAG_BYTES];
  Input expected;
  if (!expected.open(tag_object) || !finish(self, tag)) return nullptr;
  const bool valid =
      expected.size() == self->tag_length &&
      FC_TABLE.timingsafe_bcmp(tag, expected.data(), static_cast<size_t>(self->tag_length)) == 0;
  fc_wipe(tag, sizeof tag);
  if (valid) Py_RETURN_NONE;
  return raise_invalid_tag(PyType_GetModule(Py_TYPE(object)));
}

void destroy(PyObject *object) {
  Object *self = cast(object);
  self->lock.destroy();
  fc_wipe(&self->stream, sizeof self->stream);
  Py_XDECREF(self->owner);
  free_object(object);
}

PyMethodDef encryptor_methods[] = {
    {"update", update<fc_gcm_stream_encrypt>, METH_O,
     "update($self, data, /)\n--\n\nThe ciphertext of the next piece: as many bytes as data has."},
    FC_NAMED_METHOD(
        "update_into", update_into<fc_gcm_stream_encrypt>,
        "update_into($self, data, buf)\n--\n\n"
        "update() into a writable buffer of len(data) bytes, which may be data's own; returns the\n"
        "number of bytes written."),
    {"finalize", finalize_encryption, METH_NOARGS,
     "finalize($self, /)\n--\n\nThe tag. ValueError the second time."},
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef decryptor_methods[] = {
    {"update", update<fc_gcm_stream_decrypt>, METH_O,
     "update($self, data, /)\n--\n\n"
     "The plaintext of the next piece. It is UNVERIFIED until finalize() has returned: do not act\n"
     "on it before."},
    FC_NAMED_METHOD(
        "update_into", update_into<fc_gcm_stream_decrypt>,
        "update_into($self, data, buf)\n--\n\n"
        "update() into a writable buffer of len(data) bytes, which may be data's own; returns the\n"
        "number of bytes written. What it writes is UNVERIFIED until finalize() has returned."),
    {"finalize", finalize_decryption, METH_O,
     "finalize($self, tag, /)\n--\n\n"
     "None if the tag is right, else InvalidTag: then discard everything update() returned.\n"
     "ValueError the second time."},
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

const char encryptor_doc[] =
    "What AESGCM.encryptor() returns: one message, encrypted in pieces.\n\n"
    "Any pieces give the bytes of AESGCM.encrypt(). Threads may share it:\n"
    "updates happen whole, in some order.";

const char decryptor_doc[] =
    "What AESGCM.decryptor() returns: one message, decrypted in pieces.\n\n"
    "What update() returns is UNVERIFIED until finalize(tag) has returned.";

}  // namespace

PyObject *new_gcm_stream(PyObject *owner, const fc_gcm_key *key, Py_ssize_t tag_length,
                         Direction direction, PyObject *nonce_object, PyObject *aad_object) {
  const bool encrypting = direction == Direction::encrypt;
  Input nonce, aad;
  if (!open_nonce(&nonce, nonce_object, "Nonce")) return nullptr;
  if (aad_object != nullptr && aad_object != Py_None && !aad.open(aad_object)) return nullptr;
  if (!check_gcm_sizes(0, aad.size())) return nullptr;
  Object *self =
      cast(new_stream(owner, encrypting ? "AESGCMEncryptor" : "AESGCMDecryptor", destroy));
  if (self == nullptr) return nullptr;
  self->owner = Py_NewRef(owner);
  self->key = key;
  self->tag_length = tag_length;
  self->finished = false;
  self->lock.init();
  DetachIf detached(aad.size() >= FC_AES_DETACH_BYTES);
  fc_gcm_stream_begin(&self->stream, key, nonce.data(), static_cast<size_t>(nonce.size()),
                      aad.data(), static_cast<size_t>(aad.size()));
  return reinterpret_cast<PyObject *>(self);
}

bool add_aes_gcm_streams(PyObject *module) {
  const StreamType encryptor = {"fastcrypt.AESGCMEncryptor", sizeof(Object), encryptor_doc, destroy,
                                encryptor_methods};
  const StreamType decryptor = {"fastcrypt.AESGCMDecryptor", sizeof(Object), decryptor_doc, destroy,
                                decryptor_methods};
  return add_stream_type(module, encryptor) && add_stream_type(module, decryptor);
}

}  // namespace fc

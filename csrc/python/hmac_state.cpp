/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HMACState: one message in pieces under a key. It is what fastcrypt.hmac.HMAC, which may be
 * subclassed, keeps its secrets in: a final type, since a subclass could replace what wipes them.
 */
#include <cstring>

#include "python/arguments.h"
#include "python/binding.h"
#include "python/buffers.h"
#include "python/hash_new.h"
#include "python/hex.h"
#include "python/hmac.h"
#include "python/object_lock.h"
#include "python/thresholds.h"

extern "C" {
#include "ct/wipe.h"
}

namespace fc {
namespace {

struct Object {
  PyObject_HEAD
  ObjectLock lock;
  fc_hmac_key key;
  fc_hash_context context;
};

Object *cast(PyObject *self) { return reinterpret_cast<Object *>(self); }
const fc_hash_algorithm *hash_of(PyObject *self) { return fc_hash_of(cast(self)->key.hash); }

Object *allocate(PyTypeObject *type) {
  Object *self = PyObject_New(Object, type);
  if (self != nullptr) self->lock.init();
  return self;
}

void destroy(PyObject *self) {
  cast(self)->lock.destroy();
  fc_wipe(&cast(self)->key, sizeof(fc_hmac_key));
  fc_wipe(&cast(self)->context, sizeof(fc_hash_context));
  free_object(self);
}

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"HMACState", 3, 2, 3, {"key", "name", "msg"}};
  PyObject *values[3];
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, values)) return nullptr;
  const int hash = hash_by_name(values[1]);
  Input key, message;
  if (hash < 0 || !key.open(values[0])) return nullptr;
  const bool given = values[2] != nullptr && values[2] != Py_None;
  if (given && !message.open_hashable(values[2])) return nullptr;
  Object *self = allocate(reinterpret_cast<PyTypeObject *>(type));
  if (self == nullptr) return nullptr;
  fc_hmac_key_init(&self->key, static_cast<fc_hash>(hash), key.data(),
                   static_cast<size_t>(key.size()));
  std::memset(&self->context, 0, sizeof self->context);
  fc_hmac_begin(&self->key, &self->context);
  DetachIf detached(message.size() >= FC_HASH_DETACH_BYTES);
  fc_hash_of(self->key.hash)
      ->update(&self->context, message.data(), static_cast<size_t>(message.size()));
  return reinterpret_cast<PyObject *>(self);
}

PyObject *update(PyObject *object, PyObject *message) {
  Object *self = cast(object);
  Input input;
  if (!input.open_hashable(message)) return nullptr;
  Hold hold(self->lock, input.size() >= FC_HASH_DETACH_BYTES);
  DetachIf detached(hold.detach());
  hash_of(object)->update(&self->context, input.data(), static_cast<size_t>(input.size()));
  Py_RETURN_NONE;
}

void tag_into(PyObject *object, uint8_t *tag) {
  Hold hold(cast(object)->lock);
  fc_hmac_tag(&cast(object)->key, &cast(object)->context, tag);
}

PyObject *digest(PyObject *object, PyObject *) {
  PyObject *result = PyBytes_FromStringAndSize(nullptr, hash_of(object)->digest_bytes);
  if (result != nullptr) tag_into(object, reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(result)));
  return result;
}

PyObject *hexdigest(PyObject *object, PyObject *) {
  uint8_t tag[FC_HASH_MAX_DIGEST];
  tag_into(object, tag);
  return hex_of(tag, hash_of(object)->digest_bytes);
}

PyObject *copy(PyObject *object, PyObject *) {
  Object *twin = allocate(Py_TYPE(object));
  if (twin == nullptr) return nullptr;
  Hold hold(cast(object)->lock);
  std::memcpy(&twin->key, &cast(object)->key, sizeof twin->key);
  std::memcpy(&twin->context, &cast(object)->context, sizeof twin->context);
  return reinterpret_cast<PyObject *>(twin);
}

PyObject *get_name(PyObject *self, void *) {
  return PyUnicode_FromFormat("hmac-%s", hash_of(self)->name);
}
PyObject *get_digest_size(PyObject *self, void *) {
  return PyLong_FromUnsignedLong(hash_of(self)->digest_bytes);
}
PyObject *get_block_size(PyObject *self, void *) {
  return PyLong_FromUnsignedLong(hash_of(self)->block_bytes);
}

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<hmac-%s fastcrypt.HMACState object @ %p>", hash_of(self)->name,
                              static_cast<void *>(self));
}

}  // namespace

PyObject *new_hmac_state(PyObject *module, const fc_hmac_key *key) {
  PyObject *type = module != nullptr ? PyObject_GetAttrString(module, "HMACState") : nullptr;
  if (type == nullptr) return nullptr;
  Object *self = nullptr;
  if (PyType_Check(type) &&
      reinterpret_cast<PyTypeObject *>(type)->tp_dealloc == reinterpret_cast<destructor>(destroy)) {
    self = allocate(reinterpret_cast<PyTypeObject *>(type));
  } else {
    PyErr_SetString(PyExc_RuntimeError, "fastcrypt._core.HMACState was replaced");
  }
  Py_DECREF(type);
  if (self == nullptr) return nullptr;
  std::memcpy(&self->key, key, sizeof self->key);
  std::memset(&self->context, 0, sizeof self->context);
  fc_hmac_begin(&self->key, &self->context);
  return reinterpret_cast<PyObject *>(self);
}

bool add_hmac_state(PyObject *module) {
  static PyMethodDef methods[] = {
      {"update", update, METH_O,
       "update($self, message, /)\n--\n\nAppend message (any contiguous buffer)."},
      {"digest", digest, METH_NOARGS, "digest($self, /)\n--\n\nThe tag so far, as bytes."},
      {"hexdigest", hexdigest, METH_NOARGS,
       "hexdigest($self, /)\n--\n\nThe tag so far, in lower-case hexadecimal."},
      {"copy", copy, METH_NOARGS, "copy($self, /)\n--\n\nAn independent object in the same state."},
      FC_REFUSE_PICKLING,
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      {"name", get_name, nullptr, "'hmac-' and the name of the hash.", nullptr},
      {"digest_size", get_digest_size, nullptr, "Bytes in a tag.", nullptr},
      {"block_size", get_block_size, nullptr, "Bytes in a block of the hash.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static char doc[] =
      "HMACState(key, name, msg=None)\n--\n\n"
      "HMAC (RFC 2104) of a message in pieces; see fastcrypt.hmac.HMAC and HMACKey.new.\n\n"
      "Safe to share between threads: updates happen whole, in some order. Wiped when it dies.";
  PyType_Slot slots[] = {{Py_tp_doc, doc},
                         {Py_tp_new, reinterpret_cast<void *>(new_by_vectorcall)},
                         {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
                         {Py_tp_repr, reinterpret_cast<void *>(repr)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"fastcrypt.HMACState", sizeof(Object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
  return add_type(module, &spec, construct);
}

}  // namespace fc

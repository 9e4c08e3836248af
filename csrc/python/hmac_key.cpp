/* SPDX-License-Identifier: Apache-2.0 */
/* HMACKey: a key whose pads are hashed once, immutable and shared by threads; and hmac_digest. */
#include "python/arguments.h"
#include "python/binding.h"
#include "python/buffers.h"
#include "python/hash_new.h"
#include "python/hex.h"
#include "python/hmac.h"
#include "python/items.h"
#include "python/thresholds.h"

extern "C" {
#include "cpu/dispatch.h"
#include "ct/wipe.h"
}

namespace fc {
namespace {

struct Object {
  PyObject_HEAD
  fc_hmac_key key;
};

const fc_hmac_key *key_of(PyObject *self) { return &reinterpret_cast<Object *>(self)->key; }
const fc_hash_algorithm *hash_of(PyObject *self) { return fc_hash_of(key_of(self)->hash); }
Py_ssize_t tag_size(PyObject *self) { return hash_of(self)->digest_bytes; }

PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
  static const Signature signature = {"HMACKey", 2, 2, 2, {"key", "name"}};
  PyObject *values[2];
  if (!bind(signature, args, PyVectorcall_NARGS(nargsf), kwnames, values)) return nullptr;
  const int hash = hash_by_name(values[1]);
  Input key;
  if (hash < 0 || !key.open(values[0])) return nullptr;
  Object *self = PyObject_New(Object, reinterpret_cast<PyTypeObject *>(type));
  if (self == nullptr) return nullptr;
  fc_hmac_key_init(&self->key, static_cast<fc_hash>(hash), key.data(),
                   static_cast<size_t>(key.size()));
  return reinterpret_cast<PyObject *>(self);
}

void destroy(PyObject *self) {
  fc_wipe(&reinterpret_cast<Object *>(self)->key, sizeof(fc_hmac_key));
  free_object(self);
}

/* The tag of `message`, any buffer, into tag. */
bool tag_into(const fc_hmac_key *key, PyObject *message, uint8_t *tag) {
  Input input;
  if (!input.open_hashable(message)) return false;
  DetachIf detached(input.size() >= FC_HASH_DETACH_BYTES);
  fc_hmac(key, input.data(), static_cast<size_t>(input.size()), tag);
  return true;
}

PyObject *tag_as_bytes(const fc_hmac_key *key, PyObject *message) {
  PyObject *result = PyBytes_FromStringAndSize(nullptr, fc_hash_of(key->hash)->digest_bytes);
  if (result == nullptr) return nullptr;
  if (!tag_into(key, message, reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(result)))) {
    Py_CLEAR(result);
  }
  return result;
}

PyObject *digest(PyObject *self, PyObject *message) { return tag_as_bytes(key_of(self), message); }

PyObject *hexdigest(PyObject *self, PyObject *message) {
  uint8_t tag[FC_HASH_MAX_DIGEST];
  return tag_into(key_of(self), message, tag) ? hex_of(tag, tag_size(self)) : nullptr;
}

/* 1 if `wanted` is the tag of `message`, 0 if not, -1 with an exception. */
int verifies(PyObject *self, PyObject *message, PyObject *wanted) {
  Input input;
  uint8_t tag[FC_HASH_MAX_DIGEST];
  if (!input.open(wanted) || !tag_into(key_of(self), message, tag)) return -1;
  const Py_ssize_t size = tag_size(self);
  const bool equal = input.size() == size &&
                     FC_TABLE.timingsafe_bcmp(tag, input.data(), static_cast<size_t>(size)) == 0;
  fc_wipe(tag, sizeof tag); /* of a message that another has made up, it would be a forgery */
  return equal;
}

PyObject *verify(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  if (nargs != 2) {
    return PyErr_Format(PyExc_TypeError, "verify() takes exactly 2 arguments (%zd given)", nargs);
  }
  const int equal = verifies(self, args[0], args[1]);
  return equal < 0 ? nullptr : PyBool_FromLong(equal);
}

PyObject *digest_many(PyObject *self, PyObject *messages) {
  PyObject *iterator = iterator_over_buffers(messages, "messages");
  if (iterator == nullptr) return nullptr;
  PyObject *tags = PyList_New(0);
  while (tags != nullptr) {
    PyObject *message = PyIter_Next(iterator);
    if (message == nullptr) break;
    PyObject *tag = digest(self, message);
    Py_DECREF(message);
    if (tag == nullptr || PyList_Append(tags, tag) != 0) Py_CLEAR(tags);
    Py_XDECREF(tag);
  }
  Py_DECREF(iterator);
  if (PyErr_Occurred()) Py_CLEAR(tags);
  return tags;
}

/* Appends verify(next message, next tag) to results: 1, 0 at the end of both, -1 with an exception. */
int verify_next(PyObject *self, PyObject *messages, PyObject *tags, PyObject *results) {
  int state = -1;
  PyObject *message = PyIter_Next(messages);
  PyObject *tag = PyErr_Occurred() == nullptr ? PyIter_Next(tags) : nullptr;
  if (PyErr_Occurred() == nullptr) {
    if (message != nullptr && tag != nullptr) {
      const int equal = verifies(self, message, tag);
      if (equal >= 0 && PyList_Append(results, equal ? Py_True : Py_False) == 0) state = 1;
    } else if (message == tag) {
      state = 0;
    } else {
      PyErr_Format(PyExc_ValueError, "messages and tags differ in number: %zd %s there",
                   PyList_GET_SIZE(results), message == nullptr ? "messages are" : "tags are");
    }
  }
  Py_XDECREF(message);
  Py_XDECREF(tag);
  return state;
}

PyObject *verify_many(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
  if (nargs != 2) {
    return PyErr_Format(PyExc_TypeError, "verify_many() takes exactly 2 arguments (%zd given)",
                        nargs);
  }
  PyObject *messages = iterator_over_buffers(args[0], "messages");
  PyObject *tags = messages != nullptr ? iterator_over_buffers(args[1], "tags") : nullptr;
  PyObject *results = tags != nullptr ? PyList_New(0) : nullptr;
  int state = results != nullptr ? 1 : -1;
  while (state > 0) state = verify_next(self, messages, tags, results);
  Py_XDECREF(messages);
  Py_XDECREF(tags);
  if (state < 0) Py_CLEAR(results);
  return results;
}

PyObject *begin(PyObject *self, PyObject *) {
  return new_hmac_state(PyType_GetModule(Py_TYPE(self)), key_of(self));
}

PyObject *repr(PyObject *self) {
  return PyUnicode_FromFormat("<fastcrypt.HMACKey %s>", hash_of(self)->name);
}

PyObject *get_name(PyObject *self, void *) {
  return PyUnicode_FromFormat("hmac-%s", hash_of(self)->name);
}
PyObject *get_digest_size(PyObject *self, void *) { return PyLong_FromSsize_t(tag_size(self)); }
PyObject *get_block_size(PyObject *self, void *) {
  return PyLong_FromUnsignedLong(hash_of(self)->block_bytes);
}

PyObject *hmac_digest(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"hmac_digest", 3, 3, 3, {"key", "msg", "name"}};
  PyObject *values[3];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  const int hash = hash_by_name(values[2]);
  Input input;
  if (hash < 0 || !input.open(values[0])) return nullptr;
  fc_hmac_key key;
  fc_hmac_key_init(&key, static_cast<fc_hash>(hash), input.data(),
                   static_cast<size_t>(input.size()));
  PyObject *tag = tag_as_bytes(&key, values[1]);
  fc_wipe(&key, sizeof key);
  return tag;
}

PyCFunction fastcall(PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

bool add_hmac_key(PyObject *module) {
  static PyMethodDef methods[] = {
      {"digest", digest, METH_O,
       "digest($self, message, /)\n--\n\nThe tag of message, any contiguous buffer, as bytes."},
      {"hexdigest", hexdigest, METH_O,
       "hexdigest($self, message, /)\n--\n\nThe tag of message in lower-case hexadecimal."},
      {"verify", fastcall(verify), METH_FASTCALL,
       "verify($self, message, tag, /)\n--\n\n"
       "Whether tag is the whole tag of message, compared in constant time. Another length is "
       "False."},
      {"digest_many", digest_many, METH_O,
       "digest_many($self, messages, /)\n--\n\nThe tags of an iterable of buffers, as a list."},
      {"verify_many", fastcall(verify_many), METH_FASTCALL,
       "verify_many($self, messages, tags, /)\n--\n\n"
       "verify() of each message with its tag, as a list of bool. ValueError if their numbers "
       "differ."},
      {"new", begin, METH_NOARGS,
       "new($self, /)\n--\n\nA message in pieces: an object with update, digest, hexdigest, copy."},
      FC_REFUSE_PICKLING,
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      {"name", get_name, nullptr, "'hmac-' and the name of the hash.", nullptr},
      {"digest_size", get_digest_size, nullptr, "Bytes in a tag.", nullptr},
      {"block_size", get_block_size, nullptr, "Bytes in a block of the hash.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef functions[] = {
      {"hmac_digest", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(hmac_digest)),
       METH_FASTCALL | METH_KEYWORDS,
       "hmac_digest($module, /, key, msg, name)\n--\n\n"
       "HMAC (RFC 2104) of msg under key with the hash of that name, as bytes.\n\n"
       "key and msg are any contiguous buffers. TypeError for what is no buffer, ValueError for "
       "an\n"
       "unknown name. With many messages under one key, HMACKey saves half of the work."},
      {nullptr, nullptr, 0, nullptr}};
  static char doc[] =
      "HMACKey(key, name)\n--\n\n"
      "A key for HMAC (RFC 2104, FIPS 198-1) with the hash of that name; its two pads are hashed "
      "once.\n\n"
      "key is any contiguous buffer of any length. Immutable: any number of threads may use one "
      "object.\n"
      "It cannot be copied or pickled and shows nothing of the key, which is wiped when the object "
      "dies.\n"
      "TypeError for what is no buffer, ValueError for an unknown name.";
  PyType_Slot slots[] = {{Py_tp_doc, doc},
                         {Py_tp_new, reinterpret_cast<void *>(new_by_vectorcall)},
                         {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
                         {Py_tp_repr, reinterpret_cast<void *>(repr)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"fastcrypt.HMACKey", sizeof(Object), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
  return add_type(module, &spec, construct) && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

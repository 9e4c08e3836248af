/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash types and their one-shot functions, with the behaviour of hashlib's objects. One template
 * per algorithm, so that the calls of a short hash are all inlined.
 */
#include <cstdint>
#include <cstring>

#include "python/binding.h"
#include "python/buffers.h"
#include "python/hash_arguments.h"
#include "python/hash_new.h"
#include "python/hash_state.h"
#include "python/hex.h"
#include "python/object_lock.h"
#include "python/thresholds.h"

extern "C" {
#include "ct/wipe.h"
#include "hash/algorithms.h"
}

namespace fc {
namespace {

/* One struct an algorithm: what the template below is made of. */
#define X(algorithm, engine, digest_bytes, block_bytes, title)                                    \
  struct algorithm##_traits {                                                                     \
    using Context = fc_##engine;                                                                  \
    static constexpr uint8_t number = FC_HASH_##algorithm;                                        \
    static constexpr const char *name = #algorithm;                                               \
    static constexpr const char *qualified_name = "fastcrypt." #algorithm;                        \
    static constexpr int digest_size = digest_bytes;                                              \
    static constexpr int block_size = block_bytes;                                                \
    static void init(Context *c) { fc_##algorithm##_init(c); }                                    \
    static void update(Context *c, const uint8_t *p, size_t n) { fc_##engine##_update(c, p, n); } \
    static void digest(const Context *c, uint8_t *out) { fc_##algorithm##_digest(c, out); }       \
    static void oneshot(const uint8_t *p, size_t n, uint8_t *out) {                               \
      fc_##algorithm##_oneshot(p, n, out);                                                        \
    }                                                                                             \
  };
FC_HASHES(X)
#undef X

template <class Algorithm>
struct Hash {
  using Context = typename Algorithm::Context;

  struct Object {
    PyObject_HEAD
    ObjectLock lock;
    typename Algorithm::Context context;
  };

  static Object *cast(PyObject *self) { return reinterpret_cast<Object *>(self); }

  static Object *allocate(PyTypeObject *type) {
    Object *self = PyObject_New(Object, type);
    if (self != nullptr) self->lock.init();
    return self;
  }

  static void destroy(PyObject *object) {
    cast(object)->lock.destroy();
    fc_wipe(&cast(object)->context, sizeof(typename Algorithm::Context));
    free_object(object);
  }

  static PyObject *construct(PyObject *type, PyObject *const *args, size_t nargsf,
                             PyObject *kwnames) {
    PyObject *data = nullptr;
    const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (kwnames == nullptr && nargs <= 1) {
      if (nargs == 1) data = args[0];
    } else if (!parse_hash_arguments(Algorithm::name, args, nargs, kwnames, &data)) {
      return nullptr;
    }
    Input input;
    if (data != nullptr && !input.open_hashable(data)) return nullptr;
    Object *self = allocate(reinterpret_cast<PyTypeObject *>(type));
    if (self == nullptr) return nullptr;
    Algorithm::init(&self->context);
    /* Nobody else has seen the object: no lock. */
    absorb(&self->context, input);
    return reinterpret_cast<PyObject *>(self);
  }

  static void absorb(typename Algorithm::Context *context, const Input &input) {
    const size_t size = static_cast<size_t>(input.size());
    DetachIf detached(input.size() >= FC_HASH_DETACH_BYTES);
    Algorithm::update(context, input.data(), size);
  }

  static PyObject *update(PyObject *object, PyObject *data) {
    Object *self = cast(object);
    Input input;
    if (!input.open_hashable(data)) return nullptr;
    Hold hold(self->lock, input.size() >= FC_HASH_DETACH_BYTES);
    DetachIf detached(hold.detach());
    Algorithm::update(&self->context, input.data(), static_cast<size_t>(input.size()));
    Py_RETURN_NONE;
  }

  static void digest_into(PyObject *object, uint8_t *out) {
    Hold hold(cast(object)->lock);
    Algorithm::digest(&cast(object)->context, out);
  }

  static PyObject *digest(PyObject *object, PyObject *) {
    PyObject *result = PyBytes_FromStringAndSize(nullptr, Algorithm::digest_size);
    if (result != nullptr) {
      digest_into(object, reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(result)));
    }
    return result;
  }

  static PyObject *hexdigest(PyObject *object, PyObject *) {
    uint8_t bytes[Algorithm::digest_size];
    digest_into(object, bytes);
    return hex_of(bytes, Algorithm::digest_size);
  }

  static PyObject *copy(PyObject *object, PyObject *) {
    Object *twin = allocate(Py_TYPE(object));
    if (twin == nullptr) return nullptr;
    Hold hold(cast(object)->lock);
    std::memcpy(&twin->context, &cast(object)->context, sizeof twin->context);
    return reinterpret_cast<PyObject *>(twin);
  }

  static PyObject *export_state(PyObject *object, PyObject *) {
    Context context;
    {
      Hold hold(cast(object)->lock);
      std::memcpy(&context, &cast(object)->context, sizeof context);
    }
    const size_t size =
        hash_state_size(Algorithm::block_size, sizeof context.state, context.length);
    PyObject *blob = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
    if (blob != nullptr) {
      auto *at = reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(blob));
      at = put_hash_header(at, Algorithm::number, context.length);
      for (auto word : context.state) at = put_word(at, word);
      std::memcpy(at, context.buffer, context.length % Algorithm::block_size);
    }
    fc_wipe(&context, sizeof context);
    return blob;
  }

  static PyObject *from_state(PyObject *type, PyObject *object) {
    Input blob;
    if (!blob.open(object)) return nullptr;
    uint64_t length;
    const uint8_t *at = take_hash_header(blob.data(), blob.size(), Algorithm::number, &length);
    if (at == nullptr ||
        static_cast<size_t>(blob.size()) !=
            hash_state_size(Algorithm::block_size, sizeof(Context::state), length)) {
      return PyErr_Format(PyExc_ValueError, "not an exported state of %s", Algorithm::name);
    }
    Object *self = allocate(reinterpret_cast<PyTypeObject *>(type));
    if (self == nullptr) return nullptr;
    self->context.length = length;
    for (auto &word : self->context.state) at = take_word(at, &word);
    std::memcpy(self->context.buffer, at, length % Algorithm::block_size);
    return reinterpret_cast<PyObject *>(self);
  }

  static PyObject *repr(PyObject *object) {
    return PyUnicode_FromFormat("<%s fastcrypt.HASH object @ %p>", Algorithm::name,
                                static_cast<void *>(object));
  }

  static PyObject *get_name(PyObject *, void *) { return PyUnicode_FromString(Algorithm::name); }
  static PyObject *get_digest_size(PyObject *, void *) {
    return PyLong_FromLong(Algorithm::digest_size);
  }
  static PyObject *get_block_size(PyObject *, void *) {
    return PyLong_FromLong(Algorithm::block_size);
  }

  static PyObject *oneshot(PyObject *, PyObject *data) {
    PyObject *result = PyBytes_FromStringAndSize(nullptr, Algorithm::digest_size);
    if (result == nullptr) return nullptr;
    if (!oneshot_into(data, reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(result)))) {
      Py_DECREF(result);
      return nullptr;
    }
    return result;
  }

  static PyObject *oneshot_hex(PyObject *, PyObject *data) {
    uint8_t bytes[Algorithm::digest_size];
    return oneshot_into(data, bytes) ? hex_of(bytes, Algorithm::digest_size) : nullptr;
  }

  static bool oneshot_into(PyObject *data, uint8_t *out) {
    Input input;
    if (!input.open_hashable(data)) return false;
    const size_t size = static_cast<size_t>(input.size());
    DetachIf detached(input.size() >= FC_HASH_DETACH_BYTES);
    Algorithm::oneshot(input.data(), size, out);
    return true;
  }

  static bool add(PyObject *module, const char *doc, PyMethodDef *functions) {
    static PyMethodDef methods[] = {
        {"update", update, METH_O,
         "update($self, data, /)\n--\n\nAppend data (any contiguous buffer) to the message."},
        {"digest", digest, METH_NOARGS,
         "digest($self, /)\n--\n\nThe digest of the message so far, as bytes."},
        {"hexdigest", hexdigest, METH_NOARGS,
         "hexdigest($self, /)\n--\n\nThe digest of the message so far, in lower-case hexadecimal."},
        {"copy", copy, METH_NOARGS,
         "copy($self, /)\n--\n\nAn independent object in the same state."},
        {"export_state", export_state, METH_NOARGS,
         "export_state($self, /)\n--\n\n"
         "The state as bytes for from_state(), to go on in another process.\n\n"
         "Where the message is secret, so are these bytes: they hold its last block."},
        {"from_state", from_state, METH_O | METH_CLASS,
         "from_state($type, state, /)\n--\n\n"
         "An object in the state that export_state() gave. ValueError for anything else."},
        FC_REFUSE_PICKLING,
        {nullptr, nullptr, 0, nullptr}};
    static PyGetSetDef attributes[] = {
        {"name", get_name, nullptr, "Name of the algorithm.", nullptr},
        {"digest_size", get_digest_size, nullptr, "Bytes in the digest.", nullptr},
        {"block_size", get_block_size, nullptr, "Bytes in a block of the algorithm.", nullptr},
        {nullptr, nullptr, nullptr, nullptr, nullptr}};
    PyType_Slot slots[] = {{Py_tp_doc, const_cast<char *>(doc)},
                           {Py_tp_new, reinterpret_cast<void *>(new_by_vectorcall)},
                           {Py_tp_dealloc, reinterpret_cast<void *>(destroy)},
                           {Py_tp_repr, reinterpret_cast<void *>(repr)},
                           {Py_tp_methods, methods},
                           {Py_tp_getset, attributes},
                           {0, nullptr}};
    PyType_Spec spec = {Algorithm::qualified_name, sizeof(Object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
    return add_type(module, &spec, construct) && PyModule_AddFunctions(module, functions) == 0;
  }
};

#define FC_HASH_DOC                                                                          \
  "data is any contiguous buffer; `string=` is accepted for it too. Raises TypeError for\n"  \
  "str and for objects that are no buffers, and lets the exporter's exception through for\n" \
  "memory that is not contiguous. Safe to share between threads: updates happen whole, in\n" \
  "some order. The state is wiped when the object dies."

#define X(algorithm, engine, digest_bytes, block_bytes, title)                                    \
  bool add_##algorithm(PyObject *module) {                                                        \
    using Type = Hash<algorithm##_traits>;                                                        \
    static PyMethodDef functions[] = {                                                            \
        {#algorithm "_digest", Type::oneshot, METH_O,                                             \
         #algorithm "_digest($module, data, /)\n--\n\n" title                                     \
                    " (FIPS 180-4) of data, any contiguous buffer, as " #digest_bytes " bytes."}, \
        {#algorithm "_hexdigest", Type::oneshot_hex, METH_O,                                      \
         #algorithm "_hexdigest($module, data, /)\n--\n\n" title                                  \
                    " (FIPS 180-4) of data, any contiguous buffer, as hexadecimal digits."},      \
        {nullptr, nullptr, 0, nullptr}};                                                          \
    return Type::add(module,                                                                      \
                     #algorithm                                                                   \
                     "(data=b'', *, usedforsecurity=True, string=None)\n--\n\n" title             \
                     " (FIPS 180-4) as a hash object in the shape of hashlib's.\n\n" FC_HASH_DOC, \
                     functions);                                                                  \
  }
FC_HASHES(X)
#undef X

}  // namespace

bool add_hashes(PyObject *module) {
  static PyMethodDef functions[] = {
      {"new", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(hash_new)),
       METH_FASTCALL | METH_KEYWORDS,
       "new($module, /, name, data=b'', *, usedforsecurity=True)\n--\n\n"
       "A hash object by the name of its algorithm, in any case and in OpenSSL's spellings:\n"
       "'sha512_256', 'SHA-512/256', 'sha2-512/256'.\n\n"
       "The algorithms are those that have a class here. ValueError for any other name, TypeError\n"
       "for one that is no str; data as for the class. Any thread may call it."},
      {nullptr, nullptr, 0, nullptr}};
#define X(algorithm, engine, digest_bytes, block_bytes, title) \
  if (!add_##algorithm(module)) return false;
  FC_HASHES(X)
#undef X
  return PyModule_AddFunctions(module, functions) == 0 &&
         PyModule_AddIntConstant(module, "_GIL_MINSIZE", FC_HASH_DETACH_BYTES) == 0;
}

}  // namespace fc

/* SPDX-License-Identifier: Apache-2.0 */
/* digest_parts: the digest of a message that lies in several buffers, without joining them. */
#include "python/arguments.h"
#include "python/binding.h"
#include "python/buffers.h"
#include "python/hash_new.h"
#include "python/items.h"
#include "python/thresholds.h"

extern "C" {
#include "ct/wipe.h"
#include "hash/algorithms.h"
}

namespace fc {
namespace {

/* False with an exception; the context is then of no use. */
bool absorb_all(const fc_hash_algorithm *hash, fc_hash_context *context, PyObject *iterator) {
  while (PyObject *part = PyIter_Next(iterator)) {
    Input input;
    const bool opened = input.open_hashable(part);
    if (opened) {
      DetachIf detached(input.size() >= FC_HASH_DETACH_BYTES);
      hash->update(context, input.data(), static_cast<size_t>(input.size()));
    }
    Py_DECREF(part);
    if (!opened) return false;
  }
  return PyErr_Occurred() == nullptr;
}

PyObject *digest_parts(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"digest_parts", 2, 2, 2, {"parts", "name"}};
  PyObject *values[2];
  if (!bind(signature, args, nargs, kwnames, values)) return nullptr;
  const int number = hash_by_name(values[1]);
  if (number < 0) return nullptr;
  PyObject *iterator = iterator_over_buffers(values[0], "parts");
  if (iterator == nullptr) return nullptr;
  const fc_hash_algorithm *hash = fc_hash_of(static_cast<fc_hash>(number));
  PyObject *result = PyBytes_FromStringAndSize(nullptr, hash->digest_bytes);
  fc_hash_context context;
  hash->begin(&context, hash->initial, 0);
  if (result != nullptr && absorb_all(hash, &context, iterator)) {
    hash->digest(&context, reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(result)));
  } else {
    Py_CLEAR(result);
  }
  fc_wipe(&context, sizeof context);
  Py_DECREF(iterator);
  return result;
}

}  // namespace

bool add_hash_parts(PyObject *module) {
  static PyMethodDef functions[] = {
      {"digest_parts", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(digest_parts)),
       METH_FASTCALL | METH_KEYWORDS,
       "digest_parts($module, /, parts, name)\n--\n\n"
       "The digest of a message given as an iterable of buffers, which are not joined.\n\n"
       "name is an algorithm's, as for new(). TypeError for parts that are no buffers and for one "
       "buffer\nor str in place of an iterable, ValueError for an unknown name."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

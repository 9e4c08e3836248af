/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of one call of an AEAD: nonce, data, associated data, and where the result goes. */
#ifndef FC_PYTHON_AEAD_MESSAGE_H
#define FC_PYTHON_AEAD_MESSAGE_H

#include "python/aes.h"
#include "python/arguments.h"
#include "python/destination.h"
#include "python/thresholds.h"

namespace fc {

/* What a function calls its arguments. */
struct Names {
  const char *nonce, *aad, *out;
};

/* Nonce, data and associated data of one call, opened and checked. */
struct Message {
  using OpenNonce = bool (*)(Input *, PyObject *, const char *);
  explicit Message(const Names &argument_names, OpenNonce with = fc::open_nonce)
      : names(argument_names), open_nonce(with) {}

  const Names &names;
  const OpenNonce open_nonce; /* says which sizes are right */
  Input nonce, data, aad;

  bool open(PyObject *nonce_object, PyObject *data_object, PyObject *aad_object) {
    if (!open_nonce(&nonce, nonce_object, names.nonce)) return false;
    if (!data.open(data_object)) return false;
    return aad_object == nullptr || aad_object == Py_None || aad.open(aad_object);
  }

  bool detach() const { return data.size() + aad.size() >= FC_AES_DETACH_BYTES; }
};

/* Where the message's text goes, with what the kernels ask of it. */
inline bool open_result(Destination *result, PyObject *out, Py_ssize_t size,
                        const Message &message) {
  return result->open(out, size, message.names.out) && result->allows_data(message.data) &&
         result->refuse_overlap(message.aad, message.names.aad);
}

inline PyObject *module_of(PyObject *self) { return PyType_GetModule(Py_TYPE(self)); }

/* encrypt(nonce, data, associated_data) and its like: three required arguments. */
inline bool bind_message(const Signature &signature, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames, PyObject **values) {
  if (kwnames == nullptr && nargs == signature.count && nargs == signature.required) {
    for (Py_ssize_t i = 0; i < nargs; i++) values[i] = args[i];
    return true;
  }
  return bind(signature, args, nargs, kwnames, values);
}

}  // namespace fc

#endif

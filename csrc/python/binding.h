/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the extension module. module.cpp is the pybind11 shell; each add_* puts one group of
 * types and functions on it. They are plain heap types and METH_FASTCALL / METH_O functions, since
 * pybind11's own dispatcher costs 30 to 200 ns a call and, without a GIL, takes a process-wide lock.
 * All return false with an exception set on failure.
 */
#ifndef FC_PYTHON_BINDING_H
#define FC_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace fc {

bool add_hashes(PyObject *module);
bool add_hash_parts(PyObject *module);
bool add_hmac_key(PyObject *module);
bool add_hmac_state(PyObject *module);
bool add_kdf(PyObject *module);
bool add_c_api(PyObject *module);
bool add_hash_many(PyObject *module);
bool add_merkle(PyObject *module);
bool add_compare(PyObject *module);
bool add_aes(PyObject *module);
bool add_aes_gcm(PyObject *module);
bool add_aes_gcm_streams(PyObject *module);
bool add_aes_gcm_siv(PyObject *module);
bool add_aes_cmac(PyObject *module);
bool add_aes_key_wrap(PyObject *module);
bool add_record_cipher(PyObject *module);
bool add_aes_streams(PyObject *module);
bool add_aes_xts(PyObject *module);

/* Create the type of `spec`, give it its vectorcall constructor, and add it to the module. */
bool add_type(PyObject *module, PyType_Spec *spec, vectorcallfunc construct);

/* tp_new in terms of the vectorcall constructor, for sha256.__new__(sha256, ...) and its like. */
PyObject *new_by_vectorcall(PyTypeObject *type, PyObject *args, PyObject *kwargs);

/* A type whose objects hold an expanded key: final, immutable, made by calling it. */
struct KeyType {
  const char *name;
  size_t size;
  const char *doc;
  vectorcallfunc construct;
  destructor destroy;
  reprfunc repr;
  PyMethodDef *methods;
  PyGetSetDef *attributes; /* or NULL */
};
bool add_key_type(PyObject *module, const KeyType &type);

/* A type whose objects only the method of another makes, and use the key of that other's object. */
struct StreamType {
  const char *name;
  size_t size;
  const char *doc;
  destructor destroy;
  PyMethodDef *methods;
};
bool add_stream_type(PyObject *module, const StreamType &type);

/*
 * A new object of a stream type, named without its module, which is found through `owner`. NULL with
 * an exception where the name stands for something else.
 */
PyObject *new_stream(PyObject *owner, const char *name, destructor destroy);

/* One line of a method table, for a METH_FASTCALL | METH_KEYWORDS function. */
#define FC_NAMED_METHOD(name, function, doc)                                \
  {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(function)), \
   METH_FASTCALL | METH_KEYWORDS, doc}
#define FC_METHOD(function, doc) FC_NAMED_METHOD(#function, function, doc)

/*
 * The end of a tp_dealloc, after the secrets have been wiped. A type's own tp_dealloc is 7 ns cheaper
 * than wiping in tp_free under CPython's generic one, and no subclass can replace it: the types are
 * final.
 */
inline void free_object(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

/* Sets the exception of ours that the module calls `name`, and returns NULL. While the module is torn
 * down the name may be gone: RuntimeError(message). */
PyObject *raise_own(PyObject *module, const char *name, const char *message);

/* __reduce_ex__ and __reduce__ of everything that must not be pickled or copied by copyreg. */
PyObject *refuse_pickling(PyObject *self, PyObject *);
#define FC_REFUSE_PICKLING                                   \
  {"__reduce_ex__", fc::refuse_pickling, METH_O, nullptr}, { \
    "__reduce__", fc::refuse_pickling, METH_NOARGS, nullptr  \
  }

}  // namespace fc

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What our heap types and exceptions have in common. */
#include "python/binding.h"

namespace fc {

#ifdef Py_GIL_DISABLED

/*
 * Every object counts as a reference to its type. Without a GIL that one count would be written by
 * all threads: creating objects on two threads then runs at 0.3x of one. The way out differs:
 *   3.15  PyUnstable_SetImmortal
 *   3.14  counts of types are kept per thread where deferred counting is on
 *   3.13  has no function for it: what 3.15's does is done by hand
 * A type lives as long as its interpreter's process then, not as its interpreter.
 */
static void stop_counting(PyObject *type) {
#if PY_VERSION_HEX >= 0x030F0000
  PyUnstable_SetImmortal(type);
#elif PY_VERSION_HEX >= 0x030E0000
  PyUnstable_Object_EnableDeferredRefcount(type);
#else
  PyObject_GC_UnTrack(type);
  type->ob_tid = 0;
  type->ob_ref_local = UINT32_MAX;
  type->ob_ref_shared = 0;
#endif
}

#else

/* Under a GIL a count is a plain addition, and a type goes with its interpreter. */
static void stop_counting(PyObject *) {}

#endif

bool add_type(PyObject *module, PyType_Spec *spec, vectorcallfunc construct) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, nullptr);
  if (type == nullptr) return false;
  reinterpret_cast<PyTypeObject *>(type)->tp_vectorcall = construct;
  const bool added = PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type)) == 0;
  if (added) stop_counting(type);
  Py_DECREF(type);
  return added;
}

bool add_key_type(PyObject *module, const KeyType &type) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char *>(type.doc)},
                         {Py_tp_new, reinterpret_cast<void *>(new_by_vectorcall)},
                         {Py_tp_dealloc, reinterpret_cast<void *>(type.destroy)},
                         {Py_tp_repr, reinterpret_cast<void *>(type.repr)},
                         {Py_tp_methods, type.methods},
                         {type.attributes == nullptr ? 0 : Py_tp_getset, type.attributes},
                         {0, nullptr}};
  PyType_Spec spec = {type.name, static_cast<int>(type.size), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};
  return add_type(module, &spec, type.construct);
}

bool add_stream_type(PyObject *module, const StreamType &type) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char *>(type.doc)},
                         {Py_tp_dealloc, reinterpret_cast<void *>(type.destroy)},
                         {Py_tp_methods, type.methods},
                         {0, nullptr}};
  PyType_Spec spec = {
      type.name, static_cast<int>(type.size), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return add_type(module, &spec, nullptr);
}

PyObject *new_stream(PyObject *owner, const char *name, destructor destroy) {
  PyObject *type = PyObject_GetAttrString(PyType_GetModule(Py_TYPE(owner)), name);
  if (type == nullptr) return nullptr;
  PyObject *self = nullptr;
  /* While the module is torn down, or patched by a test, the name may stand for something else. */
  if (PyType_Check(type) && reinterpret_cast<PyTypeObject *>(type)->tp_dealloc == destroy) {
    self = PyObject_New(PyObject, reinterpret_cast<PyTypeObject *>(type));
  } else {
    PyErr_SetString(PyExc_RuntimeError, "fastcrypt's stream types are gone or were replaced");
  }
  Py_DECREF(type);
  return self;
}

PyObject *new_by_vectorcall(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *const *items = &PyTuple_GET_ITEM(args, 0);
  return PyObject_VectorcallDict(reinterpret_cast<PyObject *>(type), items,
                                 static_cast<size_t>(PyTuple_GET_SIZE(args)), kwargs);
}

PyObject *raise_own(PyObject *module, const char *name, const char *message) {
  PyObject *type = PyObject_GetAttrString(module, name);
  if (type == nullptr) return nullptr;
  if (PyExceptionClass_Check(type)) {
    PyErr_SetNone(type);
  } else {
    PyErr_SetString(PyExc_RuntimeError, message);
  }
  Py_DECREF(type);
  return nullptr;
}

PyObject *refuse_pickling(PyObject *self, PyObject *) {
  PyErr_Format(PyExc_TypeError, "cannot pickle '%.200s' object", Py_TYPE(self)->tp_name);
  return nullptr;
}

}  // namespace fc

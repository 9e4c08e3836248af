/* SPDX-License-Identifier: Apache-2.0 */
/* What our heap types and exceptions have in common. */
#include "python/binding.h"

namespace fc {

bool add_type(PyObject *module, PyType_Spec *spec, vectorcallfunc construct) {
  PyObject *type = PyType_FromModuleAndSpec(module, spec, nullptr);
  if (type == nullptr) return false;
  reinterpret_cast<PyTypeObject *>(type)->tp_vectorcall = construct;
  const bool added = PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type)) == 0;
  Py_DECREF(type);
  return added;
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

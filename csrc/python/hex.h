/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FC_PYTHON_HEX_H
#define FC_PYTHON_HEX_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace fc {

/* Lower-case hexadecimal digits as a str. */
inline PyObject *hex_of(const uint8_t *bytes, Py_ssize_t size) {
  static const char digits[] = "0123456789abcdef";
  PyObject *text = PyUnicode_New(2 * size, 127);
  if (text == nullptr) return nullptr;
  Py_UCS1 *out = PyUnicode_1BYTE_DATA(text);
  for (Py_ssize_t i = 0; i < size; i++) {
    out[2 * i] = static_cast<Py_UCS1>(digits[bytes[i] >> 4]);
    out[2 * i + 1] = static_cast<Py_UCS1>(digits[bytes[i] & 15]);
  }
  return text;
}

}  // namespace fc

#endif

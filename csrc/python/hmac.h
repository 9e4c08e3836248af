/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FC_PYTHON_HMAC_H
#define FC_PYTHON_HMAC_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern "C" {
#include "hash/hmac.h"
}

namespace fc {

/* An HMACState of the module at the beginning of a message under `key`, which is copied. */
PyObject *new_hmac_state(PyObject *module, const fc_hmac_key *key);

}  // namespace fc

#endif

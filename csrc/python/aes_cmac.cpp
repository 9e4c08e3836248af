/* SPDX-License-Identifier: Apache-2.0 */
/* The function aes_cmac. */
#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/cmac.h"
#include "cpu/dispatch.h"
#include "ct/wipe.h"
}

namespace fc {
namespace {

PyObject *aes_cmac(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"aes_cmac", 2, 2, 2, {"key", "data"}};
  PyObject *v[2];
  Input key_bytes, data;
  if (!bind(signature, args, nargs, kwnames, v) || !open_key(&key_bytes, v[0], "AES") ||
      !data.open(v[1])) {
    return nullptr;
  }
  fc_aes_key key;
  uint8_t mac[16];
  {
    DetachIf detached(data.size() >= FC_AES_DETACH_BYTES);
    FC_TABLE.aes.expand_key(&key, key_bytes.data(), static_cast<size_t>(key_bytes.size()));
    fc_cmac(&key, data.data(), static_cast<size_t>(data.size()), mac);
    fc_wipe(&key, sizeof key);
  }
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(mac), sizeof mac);
}

PyMethodDef functions[] = {
    {"aes_cmac", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(aes_cmac)),
     METH_FASTCALL | METH_KEYWORDS,
     "aes_cmac($module, key, data)\n--\n\n"
     "AES-CMAC (SP 800-38B, RFC 4493) of data, as 16 bytes.\n\n"
     "key has 16, 24 or 32 bytes, else ValueError; data is any contiguous buffer. To verify a MAC\n"
     "compare with compare_digest(), never with ==. From 16 KiB on other threads run meanwhile."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_aes_cmac(PyObject *module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace fc

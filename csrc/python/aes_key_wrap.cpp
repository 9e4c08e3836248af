/* SPDX-License-Identifier: Apache-2.0 */
/* The functions aes_key_wrap, aes_key_unwrap and their forms with padding, and InvalidUnwrap. */
#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/key_wrap.h"
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

/* The wrapping key, expanded, and the bytes to work on. */
class Job {
 public:
  Job() = default;
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;
  ~Job() {
    if (expanded_) fc_wipe(&key_, sizeof key_);
  }

  bool open(const Signature &signature, PyObject *const *args, Py_ssize_t nargs,
            PyObject *kwnames) {
    PyObject *v[2];
    Input key_bytes;
    if (!bind(signature, args, nargs, kwnames, v) || !open_key(&key_bytes, v[0], "The wrapping") ||
        !bytes_.open(v[1])) {
      return false;
    }
    FC_TABLE.aes.expand_key(&key_, key_bytes.data(), static_cast<size_t>(key_bytes.size()));
    expanded_ = true;
    return true;
  }

  const fc_aes_key *key() const { return &key_; }
  const uint8_t *data() const { return bytes_.data(); }
  Py_ssize_t size() const { return bytes_.size(); }
  bool detach() const { return size() >= FC_AES_DETACH_BYTES; }

 private:
  fc_aes_key key_;
  bool expanded_ = false;
  Input bytes_;
};

PyObject *invalid_unwrap(PyObject *module) {
  return raise_own(module, "InvalidUnwrap", "the wrapped key does not verify");
}

PyObject *aes_key_wrap(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"aes_key_wrap", 2, 2, 2, {"wrapping_key", "key_to_wrap"}};
  Job job;
  Destination result;
  if (!job.open(signature, args, nargs, kwnames)) return nullptr;
  if (job.size() < 16 || job.size() % 8 != 0) {
    PyErr_Format(PyExc_ValueError,
                 "key_to_wrap must be a multiple of 8 bytes, at least 16, received %zd",
                 job.size());
    return nullptr;
  }
  if (job.size() > PY_SSIZE_T_MAX - 8) return PyErr_NoMemory();
  if (!result.open(nullptr, job.size() + 8, "")) return nullptr;
  {
    DetachIf detached(job.detach());
    fc_key_wrap(job.key(), job.data(), static_cast<size_t>(job.size()), result.data());
  }
  return result.finish();
}

PyObject *aes_key_unwrap(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames) {
  static const Signature signature = {"aes_key_unwrap", 2, 2, 2, {"wrapping_key", "wrapped_key"}};
  Job job;
  Destination result;
  if (!job.open(signature, args, nargs, kwnames)) return nullptr;
  if (job.size() < 24 || job.size() % 8 != 0) return invalid_unwrap(module);
  if (!result.open(nullptr, job.size() - 8, "")) return nullptr;
  int error;
  {
    DetachIf detached(job.detach());
    error = fc_key_unwrap(job.key(), job.data(), static_cast<size_t>(job.size()), result.data());
  }
  return error != 0 ? invalid_unwrap(module) : result.finish();
}

PyObject *aes_key_wrap_with_padding(PyObject *, PyObject *const *args, Py_ssize_t nargs,
                                    PyObject *kwnames) {
  static const Signature signature = {
      "aes_key_wrap_with_padding", 2, 2, 2, {"wrapping_key", "key_to_wrap"}};
  Job job;
  Destination result;
  if (!job.open(signature, args, nargs, kwnames)) return nullptr;
  const uint64_t size = static_cast<uint64_t>(job.size());
  if (size == 0) {
    PyErr_SetString(PyExc_ValueError, "key_to_wrap must be at least 1 byte, received 0");
    return nullptr;
  }
  if (size > FC_KEY_WRAP_PADDED_MAX_BYTES) {
    PyErr_SetString(PyExc_OverflowError, "key_to_wrap is longer than RFC 5649 allows (2**32 - 1)");
    return nullptr;
  }
  if (!result.open(nullptr, static_cast<Py_ssize_t>(fc_key_wrap_padded_size(size)), "")) {
    return nullptr;
  }
  {
    DetachIf detached(job.detach());
    fc_key_wrap_padded(job.key(), job.data(), static_cast<size_t>(size), result.data());
  }
  return result.finish();
}

PyObject *aes_key_unwrap_with_padding(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                                      PyObject *kwnames) {
  static const Signature signature = {
      "aes_key_unwrap_with_padding", 2, 2, 2, {"wrapping_key", "wrapped_key"}};
  const uint64_t longest = fc_key_wrap_padded_size(FC_KEY_WRAP_PADDED_MAX_BYTES);
  Job job;
  Destination result;
  if (!job.open(signature, args, nargs, kwnames)) return nullptr;
  if (job.size() < 16 || job.size() % 8 != 0 || static_cast<uint64_t>(job.size()) > longest) {
    return invalid_unwrap(module);
  }
  if (!result.open(nullptr, job.size() - 8, "")) return nullptr;
  size_t size;
  {
    DetachIf detached(job.detach());
    size =
        fc_key_unwrap_padded(job.key(), job.data(), static_cast<size_t>(job.size()), result.data());
  }
  if (size == 0) return invalid_unwrap(module);
  return result.finish_shorter(static_cast<Py_ssize_t>(size));
}

PyMethodDef functions[] = {
    FC_METHOD(
        aes_key_wrap,
        "aes_key_wrap($module, wrapping_key, key_to_wrap)\n--\n\n"
        "The wrapped key (RFC 3394), 8 bytes longer than key_to_wrap.\n\n"
        "wrapping_key has 16, 24 or 32 bytes; key_to_wrap a multiple of 8, at least 16. Other\n"
        "sizes are ValueError."),
    FC_METHOD(
        aes_key_unwrap,
        "aes_key_unwrap($module, wrapping_key, wrapped_key)\n--\n\n"
        "The key in wrapped_key (RFC 3394).\n\n"
        "InvalidUnwrap if it does not verify or has a size that no wrapped key has; nothing of\n"
        "it is then left anywhere. The check takes the same time wherever it fails."),
    FC_METHOD(
        aes_key_wrap_with_padding,
        "aes_key_wrap_with_padding($module, wrapping_key, key_to_wrap)\n--\n\n"
        "The wrapped key (RFC 5649): key_to_wrap has any size from 1 byte on, and is padded to\n"
        "a multiple of 8. OverflowError from 2**32 bytes on."),
    FC_METHOD(aes_key_unwrap_with_padding,
              "aes_key_unwrap_with_padding($module, wrapping_key, wrapped_key)\n--\n\n"
              "The key in wrapped_key (RFC 5649). InvalidUnwrap as in aes_key_unwrap()."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_aes_key_wrap(PyObject *module) {
  PyObject *error = PyErr_NewExceptionWithDoc(
      "fastcrypt.InvalidUnwrap", "A wrapped key that does not verify.", nullptr, nullptr);
  if (error == nullptr) return false;
  const bool added = PyModule_AddObjectRef(module, "InvalidUnwrap", error) == 0;
  Py_DECREF(error);
  return added && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

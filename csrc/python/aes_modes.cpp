/* SPDX-License-Identifier: Apache-2.0 */
/* ECB, CBC and CTR: arguments, sizes, overlap, padding. */
#include <cstring>

#include "python/aes.h"
#include "python/destination.h"
#include "python/thresholds.h"

extern "C" {
#include "aes/modes.h"
#include "cpu/dispatch.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t BLOCK = 16;

/* The function that runs whole blocks of ECB or, with a chaining value, of CBC. */
struct BlockMode {
  const fc_aes_key *key;
  Direction direction;
  uint8_t *chain; /* NULL for ECB */

  void run(const uint8_t *in, uint8_t *out, Py_ssize_t size) const {
    const size_t nblocks = static_cast<size_t>(size / BLOCK);
    const fc_aes_suite &aes = FC_TABLE.aes;
    if (chain == nullptr) {
      (direction == Direction::encrypt ? aes.ecb_encrypt : aes.ecb_decrypt)(key, in, out, nblocks);
    } else {
      (direction == Direction::encrypt ? aes.cbc_encrypt : aes.cbc_decrypt)(key, chain, in, out,
                                                                            nblocks);
    }
  }
};

bool require_whole_blocks(Py_ssize_t size) {
  if (size % BLOCK == 0) return true;
  PyErr_Format(PyExc_ValueError, "data must be a multiple of 16 bytes, received %zd", size);
  return false;
}

PyObject *run_whole(const BlockMode &mode, const Input &data, PyObject *out) {
  Destination result;
  if (!require_whole_blocks(data.size()) || !result.open(out, data.size(), "out") ||
      !result.allows_data(data)) {
    return nullptr;
  }
  {
    DetachIf detached(data.size() >= FC_AES_DETACH_BYTES);
    mode.run(data.data(), result.data(), data.size());
  }
  return result.finish();
}

PyObject *encrypt_padded(const BlockMode &mode, const Input &data, PyObject *out) {
  const Py_ssize_t whole = data.size() / BLOCK * BLOCK;
  Destination result;
  if (data.size() > PY_SSIZE_T_MAX - BLOCK) return PyErr_NoMemory();
  if (!result.open(out, whole + BLOCK, "out") || !result.allows_data(data)) return nullptr;
  uint8_t last[BLOCK];
  {
    DetachIf detached(data.size() >= FC_AES_DETACH_BYTES);
    fc_pkcs7_pad(last, data.data() + whole, static_cast<size_t>(data.size() - whole));
    mode.run(data.data(), result.data(), whole);
    mode.run(last, result.data() + whole, BLOCK);
  }
  fc_wipe(last, sizeof last);
  return result.finish();
}

PyObject *decrypt_padded(const BlockMode &mode, const Input &data, PyObject *out) {
  Destination result;
  if (!require_whole_blocks(data.size())) return nullptr;
  if (data.size() == 0) {
    PyErr_SetString(PyExc_ValueError, "Invalid padding bytes.");
    return nullptr;
  }
  if (!result.open(out, data.size(), "out") || !result.allows_data(data)) return nullptr;
  size_t pad;
  {
    DetachIf detached(data.size() >= FC_AES_DETACH_BYTES);
    mode.run(data.data(), result.data(), data.size());
    pad = fc_pkcs7_unpad(result.data() + data.size() - BLOCK);
  }
  /* Whether the padding is right, and how long it is, become known here and not before. */
  if (pad == 0) {
    PyErr_SetString(PyExc_ValueError, "Invalid padding bytes.");
    return result.fail();
  }
  return result.finish_shorter(data.size() - static_cast<Py_ssize_t>(pad));
}

PyObject *run_blocks(const BlockMode &mode, PyObject *data, bool pkcs7, PyObject *out) {
  Input input;
  if (!input.open(data)) return nullptr;
  if (!pkcs7) return run_whole(mode, input, out);
  return mode.direction == Direction::encrypt ? encrypt_padded(mode, input, out)
                                              : decrypt_padded(mode, input, out);
}

}  // namespace

bool parse_padding(PyObject *padding, bool *pkcs7) {
  *pkcs7 = false;
  if (padding == nullptr || padding == Py_None) return true;
  if (!PyUnicode_Check(padding)) {
    PyErr_Format(PyExc_TypeError, "padding must be None or a str, not '%.200s'",
                 Py_TYPE(padding)->tp_name);
    return false;
  }
  if (PyUnicode_CompareWithASCIIString(padding, "pkcs7") != 0) {
    PyErr_Format(PyExc_ValueError, "padding must be None or 'pkcs7', received %R", padding);
    return false;
  }
  *pkcs7 = true;
  return true;
}

bool open_key(Input *input, PyObject *object, const char *owner) {
  if (!input->open(object)) return false;
  const Py_ssize_t size = input->size();
  if (size == 16 || size == 24 || size == 32) return true;
  PyErr_Format(PyExc_ValueError, "%s key must be 128, 192, or 256 bits.", owner);
  return false;
}

bool copy_block(PyObject *object, const char *role, uint8_t block[16]) {
  Input input;
  if (!input.open(object)) return false;
  if (input.size() != BLOCK) {
    PyErr_Format(PyExc_ValueError, "%s must be 16 bytes, received %zd", role, input.size());
    return false;
  }
  std::memcpy(block, input.data(), BLOCK);
  return true;
}

PyObject *run_ecb(const fc_aes_key *key, Direction direction, PyObject *data, bool pkcs7,
                  PyObject *out) {
  return run_blocks({key, direction, nullptr}, data, pkcs7, out);
}

PyObject *run_cbc(const fc_aes_key *key, Direction direction, PyObject *iv, PyObject *data,
                  bool pkcs7, PyObject *out) {
  uint8_t chain[BLOCK];
  if (!copy_block(iv, "iv", chain)) return nullptr;
  return run_blocks({key, direction, chain}, data, pkcs7, out);
}

PyObject *run_ctr(const fc_aes_key *key, PyObject *iv, PyObject *data, uint64_t offset,
                  PyObject *out) {
  uint8_t counter[BLOCK];
  Input input;
  Destination result;
  if (!copy_block(iv, "iv", counter) || !input.open(data) ||
      !result.open(out, input.size(), "out") || !result.allows_data(input)) {
    return nullptr;
  }
  {
    DetachIf detached(input.size() >= FC_AES_DETACH_BYTES);
    fc_ctr_crypt(key, counter, offset, input.data(), result.data(),
                 static_cast<size_t>(input.size()));
  }
  return result.finish();
}

}  // namespace fc

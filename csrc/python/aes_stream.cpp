/* SPDX-License-Identifier: Apache-2.0 */
/* AES.cbc_encryptor, cbc_decryptor, ctr_encryptor and ctr_decryptor: CBC and CTR in pieces. */
#include "python/aes.h"
#include "python/arguments.h"
#include "python/binding.h"
#include "python/destination.h"
#include "python/object_lock.h"
#include "python/thresholds.h"

namespace fc {
namespace {

struct Object {
  PyObject_HEAD
  PyObject *owner; /* the AES object, which holds the key */
  const fc_aes_key *key;
  ObjectLock lock;
  bool finished;
  fc_mode_stream stream;
};

Object *cast(PyObject *self) { return reinterpret_cast<Object *>(self); }

bool still_open(const Object *self) {
  if (!self->finished) return true;
  PyErr_SetString(PyExc_ValueError, "the stream is already finalized");
  return false;
}

/* `buf` has room for what is written, and lies apart from data or, with no input held, right on it. */
bool check_buffer(const Object *self, const Input &data, const Output &buffer, Py_ssize_t size) {
  if (buffer.size() < size) {
    PyErr_Format(PyExc_ValueError, "buffer must be %zd bytes or more, received %zd", size,
                 buffer.size());
    return false;
  }
  const bool in_place = data.data() == buffer.data() &&
                        (self->stream.mode == FC_STREAM_CTR || self->stream.held_len == 0);
  if (in_place || !regions_overlap(data.data(), data.size(), buffer.data(), size)) return true;
  PyErr_SetString(PyExc_ValueError, "buffer overlaps data");
  return false;
}

/* One piece, with the object held: how much it writes depends on what came before. */
PyObject *run_update(Object *self, const Input &data, const Output *buffer) {
  const auto size = static_cast<size_t>(data.size());
  Hold hold(self->lock, data.size() >= FC_AES_DETACH_BYTES);
  if (!still_open(self)) return nullptr;
  const auto made = static_cast<Py_ssize_t>(fc_mode_stream_output(&self->stream, size));
  if (buffer != nullptr && !check_buffer(self, data, *buffer, made)) return nullptr;
  PyObject *result =
      buffer != nullptr ? PyLong_FromSsize_t(made) : PyBytes_FromStringAndSize(nullptr, made);
  if (result == nullptr) return nullptr;
  uint8_t *out =
      buffer != nullptr ? buffer->data() : reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(result));
  DetachIf detached(hold.detach());
  fc_mode_stream_update(&self->stream, self->key, data.data(), out, size);
  return result;
}

PyObject *update(PyObject *self, PyObject *data) {
  Input input;
  if (!input.open(data)) return nullptr;
  return run_update(cast(self), input, nullptr);
}

PyObject *update_into(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"update_into", 2, 2, 2, {"data", "buf"}};
  PyObject *v[2];
  Input input;
  Output buffer;
  if (!bind(signature, args, nargs, kwnames, v) || !input.open(v[0]) ||
      !buffer.open(v[1], "buffer")) {
    return nullptr;
  }
  return run_update(cast(self), input, &buffer);
}

PyObject *finish_failed(int why) {
  PyErr_SetString(PyExc_ValueError, why == FC_STREAM_BAD_PADDING
                                        ? "Invalid padding bytes."
                                        : "all data together must be a multiple of 16 bytes");
  return nullptr;
}

PyObject *finalize(PyObject *object, PyObject *) {
  Object *self = cast(object);
  uint8_t last[16];
  int size;
  {
    Hold hold(self->lock);
    if (!still_open(self)) return nullptr;
    self->finished = true;
    size = fc_mode_stream_finish(&self->stream, self->key, last);
  }
  /* Whether padding is right, and how long it is, become known here and not before. */
  PyObject *result = size < 0 ? finish_failed(size)
                              : PyBytes_FromStringAndSize(reinterpret_cast<char *>(last), size);
  fc_wipe(last, sizeof last);
  return result;
}

void destroy(PyObject *object) {
  Object *self = cast(object);
  self->lock.destroy();
  fc_wipe(&self->stream, sizeof self->stream);
  Py_XDECREF(self->owner);
  free_object(object);
}

PyMethodDef methods[] = {
    {"update", update, METH_O,
     "update($self, data, /)\n--\n\n"
     "What the next piece completes. CTR: as many bytes as data has. CBC: whole blocks, so from 0\n"
     "to len(data) + 15 bytes; with padding, decryption holds the last block back."},
    FC_METHOD(
        update_into,
        "update_into($self, data, buf)\n--\n\n"
        "update() into a writable buffer; returns the number of bytes written. buf has room\n"
        "for them (len(data) + 15 bytes always do), else ValueError; what is behind them stays.\n"
        "It may be data's own memory in CTR, and in CBC where no part of a block is held."),
    {"finalize", finalize, METH_NOARGS,
     "finalize($self, /)\n--\n\n"
     "The rest: b'', or with padding='pkcs7' the last block (16 bytes when encrypting, 0 to 15\n"
     "when decrypting). ValueError where data did not end with a block, for wrong padding\n"
     "(decided in constant time), and the second time."},
    FC_REFUSE_PICKLING,
    {nullptr, nullptr, 0, nullptr}};

const char doc[] =
    "What AES.cbc_encryptor(), cbc_decryptor(), ctr_encryptor() and ctr_decryptor() return: one\n"
    "message in pieces.\n\n"
    "Any pieces give the bytes of the one-shot method. Threads may share it: updates happen "
    "whole,\n"
    "in some order. Its state is wiped when it dies.";

}  // namespace

PyObject *new_aes_stream(PyObject *owner, const fc_aes_key *key, fc_stream_mode mode, bool pkcs7,
                         PyObject *iv_object) {
  uint8_t iv[16];
  if (!copy_block(iv_object, "iv", iv)) return nullptr;
  Object *self = cast(new_stream(owner, "AESStream", destroy));
  if (self == nullptr) return nullptr;
  self->owner = Py_NewRef(owner);
  self->key = key;
  self->finished = false;
  self->lock.init();
  fc_mode_stream_begin(&self->stream, mode, pkcs7, iv);
  return reinterpret_cast<PyObject *>(self);
}

bool add_aes_streams(PyObject *module) {
  return add_stream_type(module, {"fastcrypt.AESStream", sizeof(Object), doc, destroy, methods});
}

}  // namespace fc

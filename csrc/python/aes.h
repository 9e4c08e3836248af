/* SPDX-License-Identifier: Apache-2.0 */
/* The modes of AES as Python operations on a key schedule; shared by class AES and aes_encrypt(). */
#ifndef FC_PYTHON_AES_H
#define FC_PYTHON_AES_H

#include "python/buffers.h"

extern "C" {
#include "aes/mode_stream.h"
#include "kernels.h"
}

namespace fc {

enum class Direction { encrypt, decrypt };

/* True for None, NULL (no padding) and "pkcs7" (*pkcs7 is set); else false with an exception. */
bool parse_padding(PyObject *padding, bool *pkcs7);

/* A key argument of 16, 24 or 32 bytes, or false with ValueError("<owner> key must be ..."). */
bool open_key(Input *input, PyObject *object, const char *owner);

/* Copy an IV, a counter block or a tweak of 16 bytes out of its argument, named as `role`. */
bool copy_block(PyObject *object, const char *role, uint8_t block[16]);

/* Each returns a new bytes object, or with `out` the number of bytes written. */
PyObject *run_ecb(const fc_aes_key *key, Direction direction, PyObject *data, bool pkcs7,
                  PyObject *out);
PyObject *run_cbc(const fc_aes_key *key, Direction direction, PyObject *iv, PyObject *data,
                  bool pkcs7, PyObject *out);
PyObject *run_ctr(const fc_aes_key *key, PyObject *iv, PyObject *data, uint64_t offset,
                  PyObject *out);
PyObject *run_cbc_encrypt_many(const fc_aes_key *key, PyObject *ivs, PyObject *datas,
                               PyObject *out);
PyObject *run_gcm(const fc_gcm_key *key, Py_ssize_t tag_length, Direction direction,
                  PyObject *nonce, PyObject *data, PyObject *aad, PyObject *out, PyObject *module);

/* A nonce of 8 to 128 bytes, or false with an exception that names `role`. */
bool open_nonce(Input *nonce, PyObject *object, const char *role);

/* generate_key(): bytes from the system. ValueError unless 128, 256 or, if they may be, 192 bits. */
PyObject *random_key(PyObject *bit_length, bool with_192);

/* A text of at most 2^36 - 32 bytes and associated data of at most 2^61 - 1, or false with
 * OverflowError. */
bool check_gcm_sizes(Py_ssize_t size, Py_ssize_t aad_size);

/* The `buf` of the _into methods is no `out`: None is TypeError. */
bool require_buffer(PyObject *object);

/* Sets the module's InvalidTag and returns NULL. */
PyObject *raise_invalid_tag(PyObject *module);

/* The same with its `index` set. */
PyObject *raise_invalid_tag_at(PyObject *module, Py_ssize_t index);

/* The methods of AESGCM that take many records; `module` has InvalidTag. */
PyObject *encrypt_many(const fc_gcm_key *key, Py_ssize_t tag_length, PyObject *const *args,
                       Py_ssize_t nargs, PyObject *kwnames);
PyObject *decrypt_many(const fc_gcm_key *key, Py_ssize_t tag_length, PyObject *const *args,
                       Py_ssize_t nargs, PyObject *kwnames, PyObject *module);

/* What AES.cbc_encryptor and its like return; keeps `owner`, whose key it uses, alive. */
PyObject *new_aes_stream(PyObject *owner, const fc_aes_key *key, fc_stream_mode mode, bool pkcs7,
                         PyObject *iv);

/* What AESGCM.encryptor and .decryptor return; keeps `owner`, whose key it uses, alive. */
PyObject *new_gcm_stream(PyObject *owner, const fc_gcm_key *key, Py_ssize_t tag_length,
                         Direction direction, PyObject *nonce, PyObject *aad);

}  // namespace fc

#endif

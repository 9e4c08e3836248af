/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fastcrypt for other extensions: plain C functions on the kernels that the module has chosen. None of
 * them touches Python: they may be called from any thread, with or without the GIL.
 *
 *   const struct fastcrypt_api *api = fastcrypt_import();   (with the GIL, once, in the module's init)
 *   if (api == NULL) return NULL;                           (an exception is set)
 *   api->sha256(data, size, digest);
 *
 * The directory of this header is fastcrypt.get_include().
 */
#ifndef FASTCRYPT_H
#define FASTCRYPT_H

#include <Python.h>

#include <stddef.h>
#include <stdint.h>

#define FASTCRYPT_API_CAPSULE "fastcrypt._core._C_API"

/* Raised when a function changes; new functions are added at the end, and raise `size` alone. */
#define FASTCRYPT_API_VERSION 1

struct fastcrypt_aes_gcm_key;

struct fastcrypt_api {
  uint32_t version;
  uint32_t size; /* of this struct, in bytes, in the fastcrypt that runs */

  /* SHA-256 (FIPS 180-4) of data[0..size). */
  void (*sha256)(const void *data, size_t size, uint8_t digest[32]);

  /* 0 if a[0..size) and b[0..size) are equal, else 1, in time that depends on size alone. */
  int (*timingsafe_bcmp)(const void *a, const void *b, size_t size);

  /*
   * AES-GCM (SP 800-38D). A key of 16, 24 or 32 bytes, immutable and shared by threads; NULL for other
   * sizes and when there is no memory. key_free wipes; NULL is allowed.
   */
  struct fastcrypt_aes_gcm_key *(*aes_gcm_key_new)(const uint8_t *bytes, size_t size);
  void (*aes_gcm_key_free)(struct fastcrypt_aes_gcm_key *key);

  /*
   * Encrypt in[0..size) to out[0..size), which may be the same memory, and write the tag of 16 bytes.
   * 0, or -1 with nothing written for an empty nonce or a size beyond 2^36 - 32.
   */
  int (*aes_gcm_seal)(const struct fastcrypt_aes_gcm_key *key, const uint8_t *nonce,
                      size_t nonce_size, const uint8_t *aad, size_t aad_size, const uint8_t *in,
                      size_t size, uint8_t *out, uint8_t tag[16]);

  /*
   * The inverse. 0, or -1 with out[0..size) zeroed for a tag that does not verify; and as above with
   * nothing written.
   */
  int (*aes_gcm_open)(const struct fastcrypt_aes_gcm_key *key, const uint8_t *nonce,
                      size_t nonce_size, const uint8_t *aad, size_t aad_size, const uint8_t *in,
                      size_t size, const uint8_t tag[16], uint8_t *out);
};

/* The functions, or NULL with an exception: ImportError where the version is another. */
static inline const struct fastcrypt_api *fastcrypt_import(void) {
  const struct fastcrypt_api *api =
      (const struct fastcrypt_api *)PyCapsule_Import(FASTCRYPT_API_CAPSULE, 0);
  if (api != NULL &&
      (api->version != FASTCRYPT_API_VERSION || api->size < sizeof(struct fastcrypt_api))) {
    PyErr_Format(PyExc_ImportError, "fastcrypt has version %u of its C API; %d is wanted",
                 api->version, FASTCRYPT_API_VERSION);
    return NULL;
  }
  return api;
}

#endif

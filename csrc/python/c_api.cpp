/* SPDX-License-Identifier: Apache-2.0 */
/* The capsule of C functions for other extensions; src/fastcrypt/include/fastcrypt.h is its contract. */
#include "../../src/fastcrypt/include/fastcrypt.h"

#include <cstdlib>

#include "python/binding.h"

extern "C" {
#include "aes/gcm.h"
#include "cpu/dispatch.h"
#include "ct/wipe.h"
#include "hash/sha.h"
}

struct fastcrypt_aes_gcm_key {
  void *block; /* what malloc gave; the key lies in it at its alignment */
  fc_gcm_key key;
};

namespace fc {
namespace {

void sha256(const void *data, size_t size, uint8_t *digest) {
  fc_sha256_oneshot(static_cast<const uint8_t *>(data), size, digest);
}

int bcmp(const void *a, const void *b, size_t size) { return FC_TABLE.timingsafe_bcmp(a, b, size); }

fastcrypt_aes_gcm_key *key_new(const uint8_t *bytes, size_t size) {
  if (size != 16 && size != 24 && size != 32) return nullptr;
  constexpr size_t align = alignof(fastcrypt_aes_gcm_key);
  void *block = std::malloc(sizeof(fastcrypt_aes_gcm_key) + align);
  if (block == nullptr) return nullptr;
  const uintptr_t at = (reinterpret_cast<uintptr_t>(block) + align - 1) & ~(align - 1);
  auto *key = reinterpret_cast<fastcrypt_aes_gcm_key *>(at);
  key->block = block;
  fc_gcm_init(&key->key, bytes, size);
  return key;
}

void key_free(fastcrypt_aes_gcm_key *key) {
  if (key == nullptr) return;
  void *block = key->block;
  fc_wipe(key, sizeof *key);
  std::free(block);
}

bool allowed(size_t nonce_size, size_t size) {
  return nonce_size != 0 && uint64_t{size} <= FC_GCM_MAX_BYTES;
}

int seal(const fastcrypt_aes_gcm_key *key, const uint8_t *nonce, size_t nonce_size,
         const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t size, uint8_t *out,
         uint8_t *tag) {
  if (!allowed(nonce_size, size)) return -1;
  uint8_t j0[16];
  fc_gcm_j0(&key->key, nonce, nonce_size, j0);
  const fc_gcm_message message = {j0, aad, aad_size, in, out, size, tag};
  FC_TABLE.aes.gcm_seal(&key->key, &message);
  return 0;
}

int open(const fastcrypt_aes_gcm_key *key, const uint8_t *nonce, size_t nonce_size,
         const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t size, const uint8_t *tag,
         uint8_t *out) {
  if (!allowed(nonce_size, size)) return -1;
  uint8_t j0[16], computed[FC_GCM_TAG_BYTES];
  fc_gcm_j0(&key->key, nonce, nonce_size, j0);
  const fc_gcm_message message = {j0, aad, aad_size, in, out, size, computed};
  return fc_gcm_open(&key->key, &message, tag, FC_GCM_TAG_BYTES);
}

const fastcrypt_api api = {
    FASTCRYPT_API_VERSION, sizeof(fastcrypt_api), sha256, bcmp, key_new, key_free, seal, open};

}  // namespace

bool add_c_api(PyObject *module) {
  PyObject *capsule =
      PyCapsule_New(const_cast<fastcrypt_api *>(&api), FASTCRYPT_API_CAPSULE, nullptr);
  const bool added = capsule != nullptr && PyModule_AddObjectRef(module, "_C_API", capsule) == 0;
  Py_XDECREF(capsule);
  return added;
}

}  // namespace fc

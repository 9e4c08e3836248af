/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an exported state, numbers big-endian: "FCHS", version, algorithm, two zeros; bytes hashed
 * so far (8); the words of the state; the bytes of the block begun.
 */
#ifndef FC_PYTHON_HASH_STATE_H
#define FC_PYTHON_HASH_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstring>

namespace fc {

constexpr size_t HASH_HEADER_BYTES = 16;

inline size_t hash_state_size(size_t block_bytes, size_t state_bytes, uint64_t length) {
  return HASH_HEADER_BYTES + state_bytes + static_cast<size_t>(length % block_bytes);
}

template <class Word>
uint8_t *put_word(uint8_t *at, Word word) {
  for (size_t i = sizeof word; i-- > 0; word = static_cast<Word>(word >> 8)) {
    at[i] = static_cast<uint8_t>(word);
  }
  return at + sizeof word;
}

template <class Word>
const uint8_t *take_word(const uint8_t *at, Word *word) {
  *word = 0;
  for (size_t i = 0; i < sizeof *word; i++) *word = static_cast<Word>(*word << 8 | at[i]);
  return at + sizeof *word;
}

inline void hash_magic(uint8_t algorithm, uint8_t magic[8]) {
  const uint8_t bytes[8] = {'F', 'C', 'H', 'S', 1, algorithm, 0, 0};
  std::memcpy(magic, bytes, sizeof bytes);
}

inline uint8_t *put_hash_header(uint8_t *at, uint8_t algorithm, uint64_t length) {
  hash_magic(algorithm, at);
  return put_word(at + 8, length);
}

/* Where the words begin, or NULL if these are not the bytes of this version and algorithm. */
inline const uint8_t *take_hash_header(const uint8_t *at, Py_ssize_t size, uint8_t algorithm,
                                       uint64_t *length) {
  uint8_t magic[8];
  hash_magic(algorithm, magic);
  if (size < static_cast<Py_ssize_t>(HASH_HEADER_BYTES) || std::memcmp(at, magic, 8) != 0) {
    return nullptr;
  }
  return take_word(at + 8, length);
}

}  // namespace fc

#endif

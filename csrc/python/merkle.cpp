/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merkle_root: the root of a SHA-256 tree over leaves, level by level on the multi-lane kernels. Both
 * schemes promote the last node of an odd level as it is, which is the tree of RFC 6962 section 2.1
 * too: its left subtree is the largest full one. Nothing is ever hashed with itself (CVE-2012-2459).
 */
#include <cstring>

#include "python/arguments.h"
#include "python/batches.h"
#include "python/binding.h"
#include "python/thresholds.h"

extern "C" {
#include "hash/sha.h"
}

namespace fc {
namespace {

constexpr Py_ssize_t NODE = 32;

/* What is hashed before a leaf and before two nodes; none in the scheme "plain". */
constexpr uint8_t LEAF_PREFIX = 0, NODE_PREFIX = 1;

/* A prefix moves a leaf by a byte, so it is copied; a longer leaf is hashed on its own instead. */
constexpr size_t LONGEST_COPY = 4096;

/* The nodes of one level. They may come from secrets: they are wiped. */
class Level {
 public:
  Level() = default;
  Level(const Level &) = delete;
  Level &operator=(const Level &) = delete;
  ~Level() { release(nodes_, capacity_); }

  /* Room for `more` nodes behind the others; NULL with MemoryError. */
  uint8_t *add(Py_ssize_t more) {
    if (count_ + more > capacity_ && !grow(count_ + more)) return nullptr;
    uint8_t *added = nodes_ + count_ * NODE;
    count_ += more;
    return added;
  }

  uint8_t *nodes() { return nodes_; }
  Py_ssize_t count() const { return count_; }

  /* The first `pairs` nodes are the parents now; an odd last node follows them. */
  void end_level(Py_ssize_t pairs) {
    if (count_ % 2 != 0) std::memcpy(nodes_ + pairs * NODE, nodes_ + 2 * pairs * NODE, NODE);
    count_ = pairs + count_ % 2;
  }

 private:
  static void release(uint8_t *nodes, Py_ssize_t capacity) {
    fc_wipe(nodes, static_cast<size_t>(capacity * NODE));
    PyMem_Free(nodes);
  }

  bool grow(Py_ssize_t wanted) {
    const Py_ssize_t capacity = wanted + capacity_ / 2;
    uint8_t *nodes = nullptr;
    if (capacity <= PY_SSIZE_T_MAX / NODE) {
      nodes = static_cast<uint8_t *>(PyMem_Malloc(static_cast<size_t>(capacity * NODE)));
    }
    if (nodes == nullptr) {
      PyErr_NoMemory();
      return false;
    }
    if (count_ != 0) std::memcpy(nodes, nodes_, static_cast<size_t>(count_ * NODE));
    release(nodes_, capacity_);
    nodes_ = nodes;
    capacity_ = capacity;
    return true;
  }

  uint8_t *nodes_ = nullptr;
  Py_ssize_t count_ = 0, capacity_ = 0;
};

/* ---- Leaves ------------------------------------------------------------------------------------ */

void hash_long_leaf(const fc_message &leaf) {
  fc_sha256 context;
  DetachIf detached(static_cast<Py_ssize_t>(leaf.len) >= FC_HASH_DETACH_BYTES);
  fc_sha256_init(&context);
  fc_sha256_update(&context, &LEAF_PREFIX, 1);
  fc_sha256_update(&context, leaf.data, leaf.len);
  fc_sha256_digest(&context, leaf.digest);
  fc_wipe(&context, sizeof context);
}

/* Short leaves with their prefix in `copies`, as the first messages of the chunk; how many. */
Py_ssize_t copy_short_leaves(Chunk *chunk, uint8_t *copies) {
  Py_ssize_t count = 0;
  for (Py_ssize_t i = 0; i < chunk->count(); i++) {
    fc_message leaf = chunk->messages()[i];
    if (leaf.len > LONGEST_COPY) {
      hash_long_leaf(leaf);
      continue;
    }
    copies[0] = LEAF_PREFIX;
    if (leaf.len != 0) std::memcpy(copies + 1, leaf.data, leaf.len);
    leaf.data = copies;
    leaf.len++;
    copies += leaf.len;
    chunk->messages()[count++] = leaf;
  }
  return count;
}

bool hash_batch(Chunk *chunk, Py_ssize_t count, Py_ssize_t bytes) {
  fc_batch batch = {};
  batch.messages = chunk->messages();
  batch.count = static_cast<size_t>(count);
  return run_batch(many_sha256, &batch, bytes, 1);
}

bool hash_prefixed_leaves(Chunk *chunk) {
  size_t bytes = 0;
  for (Py_ssize_t i = 0; i < chunk->count(); i++) {
    const size_t len = chunk->messages()[i].len;
    if (len <= LONGEST_COPY) bytes += len + 1;
  }
  uint8_t *copies = static_cast<uint8_t *>(PyMem_Malloc(bytes));
  if (copies == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  const Py_ssize_t count = copy_short_leaves(chunk, copies);
  const bool done = hash_batch(chunk, count, static_cast<Py_ssize_t>(bytes));
  fc_wipe(copies, bytes);
  PyMem_Free(copies);
  return done;
}

bool take_digests(Chunk *chunk, Py_ssize_t before) {
  for (Py_ssize_t i = 0; i < chunk->count(); i++) {
    const fc_message &leaf = chunk->messages()[i];
    if (leaf.len != static_cast<size_t>(NODE)) {
      PyErr_Format(PyExc_ValueError, "leaves[%zd] must be 32 bytes, received %zu", before + i,
                   leaf.len);
      return false;
    }
    std::memcpy(leaf.digest, leaf.data, static_cast<size_t>(NODE));
  }
  return true;
}

bool fill_leaves(PyObject *leaves, bool prefixes, bool hashes, Level *level) {
  Chunk chunk;
  if (!chunk.open(leaves, "leaves", 1)) return false;
  for (;; chunk.clear()) {
    if (!chunk.fill(nullptr)) return false;
    if (chunk.count() == 0) return true;
    const Py_ssize_t before = level->count();
    uint8_t *nodes = level->add(chunk.count());
    if (nodes == nullptr) return false;
    for (Py_ssize_t i = 0; i < chunk.count(); i++) {
      chunk.messages()[i].digest = nodes + i * NODE;
    }
    const bool done = !hashes    ? take_digests(&chunk, before)
                      : prefixes ? hash_prefixed_leaves(&chunk)
                                 : hash_batch(&chunk, chunk.count(), chunk.bytes());
    if (!done) return false;
  }
}

/* ---- Levels ------------------------------------------------------------------------------------ */

/* Two nodes and their prefix are 65 bytes: rows of them are made some hundred at a time. */
bool hash_prefixed_pairs(uint8_t *nodes, Py_ssize_t pairs) {
  constexpr Py_ssize_t ROWS = 256, ROW = 1 + 2 * NODE;
  uint8_t rows[ROWS * ROW];
  bool done = true;
  for (Py_ssize_t at = 0; done && at < pairs; at += ROWS) {
    const Py_ssize_t count = pairs - at < ROWS ? pairs - at : ROWS;
    for (Py_ssize_t i = 0; i < count; i++) {
      rows[i * ROW] = NODE_PREFIX;
      std::memcpy(rows + i * ROW + 1, nodes + 2 * (at + i) * NODE, 2 * NODE);
    }
    done = run_rows(many_sha256, rows, ROW, count, nodes + at * NODE, 1);
  }
  fc_wipe(rows, sizeof rows);
  return done;
}

bool hash_level(Level *level, bool prefixes) {
  const Py_ssize_t pairs = level->count() / 2;
  const bool done = prefixes
                        ? hash_prefixed_pairs(level->nodes(), pairs)
                        : run_rows(many_sha256, level->nodes(), 2 * NODE, pairs, level->nodes(), 1);
  if (done) level->end_level(pairs);
  return done;
}

PyObject *node_object(const uint8_t *node) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(node), NODE);
}

PyObject *empty_root(bool prefixes) {
  if (!prefixes) {
    PyErr_SetString(PyExc_ValueError, "leaves must not be empty with scheme='plain'");
    return nullptr;
  }
  uint8_t digest[NODE];
  fc_sha256_oneshot(nullptr, 0, digest);
  return node_object(digest);
}

bool parse_scheme(PyObject *scheme, bool *prefixes) {
  *prefixes = true;
  if (scheme == nullptr) return true;
  if (!PyUnicode_Check(scheme)) {
    PyErr_Format(PyExc_TypeError, "scheme must be a str, not '%.200s'", Py_TYPE(scheme)->tp_name);
    return false;
  }
  *prefixes = PyUnicode_CompareWithASCIIString(scheme, "rfc6962") == 0;
  if (*prefixes || PyUnicode_CompareWithASCIIString(scheme, "plain") == 0) return true;
  PyErr_Format(PyExc_ValueError, "scheme must be 'rfc6962' or 'plain', received %R", scheme);
  return false;
}

PyObject *merkle_root(PyObject *, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
  static const Signature signature = {"merkle_root", 1, 1, 3, {"leaves", "scheme", "hash_leaves"}};
  PyObject *values[3];
  bool prefixes;
  if (!bind(signature, args, nargs, kwnames, values) || !parse_scheme(values[1], &prefixes)) {
    return nullptr;
  }
  const int hashes = values[2] == nullptr ? 1 : PyObject_IsTrue(values[2]);
  if (hashes < 0) return nullptr;
  Level level;
  if (!fill_leaves(values[0], prefixes, hashes != 0, &level)) return nullptr;
  if (level.count() == 0) return empty_root(prefixes);
  while (level.count() > 1) {
    if (!hash_level(&level, prefixes)) return nullptr;
  }
  return node_object(level.nodes());
}

}  // namespace

bool add_merkle(PyObject *module) {
  static PyMethodDef functions[] = {
      {"merkle_root", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(merkle_root)),
       METH_FASTCALL | METH_KEYWORDS,
       "merkle_root($module, leaves, *, scheme='rfc6962', hash_leaves=True)\n--\n\n"
       "The root of the Merkle tree over leaves, any iterable of contiguous buffers, as 32 "
       "bytes.\n\n"
       "scheme 'rfc6962' is the tree of Certificate Transparency (RFC 6962 section 2.1): SHA-256 "
       "of\n"
       "0x00 and the leaf, and of 0x01 and two nodes; the root of no leaves is SHA-256 of "
       "nothing.\n"
       "'plain' has no prefixes, and no leaves are ValueError. A node without a sibling is "
       "promoted\n"
       "as it is in both, never paired with itself. With hash_leaves=False the leaves are the "
       "hashes,\n"
       "32 bytes each (else ValueError). TypeError for a bytes or str as leaves and for leaves "
       "that\n"
       "are no buffers; an exception of the iterable passes through. Safe to call from several\n"
       "threads."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace fc

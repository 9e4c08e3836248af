/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One adaptor per op: takes buffers, never addresses, checks every size, calls the row's function.
 * A key is expanded by the row's own key schedule on each call; this is no fast path.
 */
#include "python/call_kernel.h"

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "cpu/detect.h"
#include "ct/wipe.h"
#include "kernels.h"
}

namespace py = pybind11;

namespace fc {
namespace {

/* A contiguous buffer argument of call_kernel. */
class Operand {
 public:
  Operand(const py::handle &object, bool writable) {
    const int flags = writable ? PyBUF_WRITABLE : PyBUF_SIMPLE;
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::error_already_set();
  }
  ~Operand() { PyBuffer_Release(&view_); }
  Operand(const Operand &) = delete;
  Operand &operator=(const Operand &) = delete;

  uint8_t *data() const { return static_cast<uint8_t *>(view_.buf); }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_ = {};
};

[[noreturn]] void bad_size(const char *role, const std::string &wanted, size_t received) {
  throw py::value_error(std::string(role) + " must be " + wanted + " bytes, received " +
                        std::to_string(received));
}

void require_size(const char *role, const Operand &operand, size_t wanted) {
  if (operand.size() != wanted) bad_size(role, std::to_string(wanted), operand.size());
}

void require_multiple(const char *role, const Operand &operand, size_t unit) {
  if (operand.size() % unit != 0) {
    bad_size(role, "a multiple of " + std::to_string(unit), operand.size());
  }
}

void require_args(const py::args &args, size_t wanted) {
  if (args.size() != wanted) {
    throw py::type_error("this op takes " + std::to_string(wanted) + " buffers, received " +
                         std::to_string(args.size()));
  }
}

/* ---- Hash and compare -------------------------------------------------------------------------- */

template <class Word, size_t words, size_t block_bytes>
py::object call_blocks(void (*fn)(Word *, const uint8_t *, size_t), const py::args &args) {
  require_args(args, 2);
  Operand state(args[0], true), data(args[1], false);
  Word copy[words];
  require_size("state", state, sizeof copy);
  require_multiple("data", data, block_bytes);
  std::memcpy(copy, state.data(), sizeof copy);
  fn(copy, data.data(), data.size() / block_bytes);
  std::memcpy(state.data(), copy, sizeof copy);
  return py::none();
}

py::object call_sha1_blocks(fc_sha1_blocks_fn *fn, const py::args &args) {
  return call_blocks<uint32_t, 5, 64>(fn, args);
}

py::object call_sha256_blocks(fc_sha256_blocks_fn *fn, const py::args &args) {
  return call_blocks<uint32_t, 8, 64>(fn, args);
}

py::object call_sha512_blocks(fc_sha512_blocks_fn *fn, const py::args &args) {
  return call_blocks<uint64_t, 8, 128>(fn, args);
}

/* (state, data): the states as words by lanes, and as many messages of one length, one after another. */
py::object call_lanes(const fc_row &row, size_t state_words, size_t word_bytes, size_t block_bytes,
                      const py::args &args) {
  require_args(args, 2);
  Operand state(args[0], true), data(args[1], false);
  require_size("state", state, state_words * word_bytes * row.lanes);
  require_multiple("data", data, block_bytes * row.lanes);
  uint64_t words[8 * FC_MAX_LANES];
  const uint8_t *messages[FC_MAX_LANES];
  const size_t size = data.size() / row.lanes;
  for (size_t j = 0; j < row.lanes; j++) messages[j] = data.data() + j * size;
  std::memcpy(words, state.data(), state.size());
  reinterpret_cast<fc_lanes_fn *>(row.kernels[0].fn)(words, messages, size / block_bytes);
  std::memcpy(state.data(), words, state.size());
  return py::none();
}

py::object call_sha256_lanes(const fc_row &row, const py::args &args) {
  return call_lanes(row, 8, 4, 64, args);
}

template <class Function>
py::object call_compare(Function *fn, const py::args &args) {
  require_args(args, 2);
  Operand a(args[0], false), b(args[1], false);
  require_size("b", b, a.size());
  return py::int_(fn(a.data(), b.data(), a.size()));
}

py::object call_timingsafe_bcmp(fc_timingsafe_bcmp_fn *fn, const py::args &args) {
  return call_compare(fn, args);
}

py::object call_timingsafe_memcmp(fc_timingsafe_memcmp_fn *fn, const py::args &args) {
  return call_compare(fn, args);
}

/* ---- AES --------------------------------------------------------------------------------------- */

/* The functions of one suite, and a key expanded by it. */
class Suite {
 public:
  Suite(const fc_row &row, const py::handle &key_bytes) : row_(row) {
    Operand key(key_bytes, false);
    if (key.size() != 16 && key.size() != 24 && key.size() != 32) {
      bad_size("key", "16, 24 or 32", key.size());
    }
    get<fc_aes_expand_key_fn>(FC_AES_expand_key)(&key_.aes, key.data(), key.size());
    uint8_t h[16] = {0};
    get<fc_aes_ecb_encrypt_fn>(FC_AES_ecb_encrypt)(&key_.aes, h, h, 1);
    get<fc_aes_ghash_key_fn>(FC_AES_ghash_key)(&key_.ghash, h);
  }
  ~Suite() { fc_wipe(&key_, sizeof key_); }

  template <class Function>
  Function *get(fc_aes_function function) const {
    return reinterpret_cast<Function *>(row_.kernels[function].fn);
  }

  const fc_gcm_key *key() const { return &key_; }

 private:
  const fc_row &row_;
  fc_gcm_key key_;
};

py::bytes as_bytes(const void *data, size_t size) {
  return py::bytes(static_cast<const char *>(data), size);
}

/* (key, data, out): whole blocks. */
py::object call_ecb(const Suite &suite, fc_aes_function function, const py::args &args) {
  require_args(args, 3);
  Operand data(args[1], false), out(args[2], true);
  require_multiple("data", data, 16);
  require_size("out", out, data.size());
  suite.get<fc_aes_ecb_encrypt_fn>(function)(&suite.key()->aes, data.data(), out.data(),
                                             data.size() / 16);
  return py::none();
}

/* (key, iv, data, out): iv, or the tweak of XTS, is writable and advances. */
py::object call_chained(const Suite &suite, fc_aes_function function, const py::args &args) {
  require_args(args, 4);
  Operand iv(args[1], true), data(args[2], false), out(args[3], true);
  require_size("iv", iv, 16);
  require_multiple("data", data, 16);
  require_size("out", out, data.size());
  suite.get<fc_aes_cbc_encrypt_fn>(function)(&suite.key()->aes, iv.data(), data.data(), out.data(),
                                             data.size() / 16);
  return py::none();
}

/* (key, ivs, data, out): one chain for each 16 bytes of ivs, which is writable and advances. */
py::object call_cbc_many(const Suite &suite, const py::args &args) {
  require_args(args, 4);
  Operand ivs(args[1], true), data(args[2], false), out(args[3], true);
  require_multiple("ivs", ivs, 16);
  require_size("out", out, data.size());
  const size_t count = ivs.size() / 16;
  if (count == 0) require_size("data", data, 0);
  if (count != 0) require_multiple("data", data, 16 * count);
  const size_t each = count == 0 ? 0 : data.size() / count;
  std::vector<fc_cbc_chain> chains(count);
  for (size_t i = 0; i < count; i++) {
    chains[i] = {ivs.data() + 16 * i, data.data() + each * i, out.data() + each * i};
  }
  suite.get<fc_aes_cbc_encrypt_many_fn>(FC_AES_cbc_encrypt_many)(&suite.key()->aes, chains.data(),
                                                                 count, each / 16);
  return py::none();
}

/* (key, counter, data, out): counter is writable and advances. */
py::object call_ctr(const Suite &suite, const py::args &args) {
  require_args(args, 4);
  Operand counter(args[1], true), data(args[2], false), out(args[3], true);
  require_size("counter", counter, 16);
  require_size("out", out, data.size());
  suite.get<fc_aes_ctr_fn>(FC_AES_ctr)(&suite.key()->aes, counter.data(), data.data(), out.data(),
                                       data.size());
  return py::none();
}

/* (key, y, data): y is writable and advances; H is the key's own. */
py::object call_ghash(const Suite &suite, const py::args &args) {
  require_args(args, 3);
  Operand y(args[1], true), data(args[2], false);
  require_size("y", y, 16);
  suite.get<fc_aes_ghash_fn>(FC_AES_ghash)(&suite.key()->ghash, y.data(), data.data(), data.size());
  return py::none();
}

/* (key, counter, y, data, out): counter and y are writable and advance. */
py::object call_gcm_middle(const Suite &suite, fc_aes_function function, const py::args &args) {
  require_args(args, 5);
  Operand counter(args[1], true), y(args[2], true), data(args[3], false), out(args[4], true);
  require_size("counter", counter, 16);
  require_size("y", y, 16);
  require_size("out", out, data.size());
  suite.get<fc_aes_gcm_encrypt_fn>(function)(suite.key(), counter.data(), y.data(), data.data(),
                                             out.data(), data.size());
  return py::none();
}

/* (key, j0, aad, data, out): returns the 16-byte tag. */
py::object call_gcm_message(const Suite &suite, fc_aes_function function, const py::args &args) {
  require_args(args, 5);
  Operand j0(args[1], false), aad(args[2], false), data(args[3], false), out(args[4], true);
  require_size("j0", j0, 16);
  require_size("out", out, data.size());
  uint8_t tag[16];
  const fc_gcm_message message = {j0.data(),  aad.data(),  aad.size(), data.data(),
                                  out.data(), data.size(), tag};
  suite.get<fc_aes_gcm_seal_fn>(function)(suite.key(), &message);
  return as_bytes(tag, sizeof tag);
}

py::object call_aes(const fc_row &row, int function, const py::args &args) {
  if (args.empty()) throw py::type_error("the functions of a suite take the key first");
  const Suite suite(row, args[0]);
  switch (static_cast<fc_aes_function>(function)) {
    case FC_AES_expand_key:
      require_args(args, 1);
      return as_bytes(&suite.key()->aes, sizeof suite.key()->aes);
    case FC_AES_ghash_key:
      require_args(args, 1);
      return as_bytes(&suite.key()->ghash, sizeof suite.key()->ghash);
    case FC_AES_ecb_encrypt:
    case FC_AES_ecb_decrypt:
      return call_ecb(suite, static_cast<fc_aes_function>(function), args);
    case FC_AES_cbc_encrypt:
    case FC_AES_cbc_decrypt:
    case FC_AES_xts_encrypt:
    case FC_AES_xts_decrypt:
      return call_chained(suite, static_cast<fc_aes_function>(function), args);
    case FC_AES_cbc_encrypt_many:
      return call_cbc_many(suite, args);
    case FC_AES_ctr:
      return call_ctr(suite, args);
    case FC_AES_ghash:
      return call_ghash(suite, args);
    case FC_AES_gcm_encrypt:
    case FC_AES_gcm_decrypt:
      return call_gcm_middle(suite, static_cast<fc_aes_function>(function), args);
    case FC_AES_gcm_seal:
    case FC_AES_gcm_open:
      return call_gcm_message(suite, static_cast<fc_aes_function>(function), args);
    default:
      throw py::value_error("no adaptor for this function");
  }
}

/* The function that "aes_ctr" names, or -1. */
int aes_function_named(const std::string &op) {
  for (int i = 0; i < FC_AES_FUNCTION_COUNT; i++) {
    if (op == std::string("aes_") + fc_aes_function_names[i]) return i;
  }
  return -1;
}

/* ---- Which row --------------------------------------------------------------------------------- */

const fc_row &runnable_row(const std::string &op, const std::string &name) {
  /* CPUID traps in virtual machines: 45 us a call. */
  static const fc_features detected = fc_cpu_detect();
  for (size_t i = 0; i < fc_row_count; i++) {
    const fc_row &row = fc_rows[i];
    if (op != fc_op_names[row.op] || name != row.name) continue;
    if (!fc_row_built(&row)) throw py::value_error(op + "-" + name + " is not in this build");
    if (!fc_row_runnable(&row, detected)) {
      throw py::value_error("this CPU cannot run " + op + "-" + name);
    }
    return row;
  }
  throw py::value_error("no row " + op + "-" + name);
}

py::object call_kernel(const std::string &op, const std::string &name, const py::args &args) {
  const int function = aes_function_named(op);
  if (function >= 0) return call_aes(runnable_row("aes", name), function, args);
  const fc_row &row = runnable_row(op, name);
  fc_any_fn *fn = row.kernels[0].fn;
  switch (row.op) {
#define X(op)      \
  case FC_OP_##op: \
    return call_##op(reinterpret_cast<fc_##op##_fn *>(fn), args);
    FC_ONE_STREAM_OPS(X)
#undef X
#define X(op)      \
  case FC_OP_##op: \
    return call_##op(row, args);
    FC_LANES_OPS(X)
#undef X
    default:
      throw py::value_error("name a function of the suite, such as aes_ctr");
  }
}

std::string text_argument(const py::args &args, size_t at) {
  if (at < args.size() && py::isinstance<py::str>(args[at])) return py::cast<std::string>(args[at]);
  throw py::type_error("call_kernel takes an op, a name and buffers");
}

py::object call_row(const py::args &args) {
  const std::string op = text_argument(args, 0), name = text_argument(args, 1);
  return call_kernel(op, name,
                     py::args(args[py::slice(2, static_cast<py::ssize_t>(args.size()), 1)]));
}

}  // namespace

void add_call_kernel(py::module_ &module) {
  /* All arguments as one tuple: pybind11's own TypeError would print them, a key among them. */
  module.def("call_kernel", call_row,
             "Run one row directly: call_kernel('sha256_blocks', 'shani', state, data), or\n"
             "call_kernel('aes_ctr', 'aesni', key, counter, data, out). Buffers that the kernel\n"
             "updates must be writable.\n\n"
             "ValueError for a row that this CPU cannot run and for a buffer of the wrong size.");
}

}  // namespace fc

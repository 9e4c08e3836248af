/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One adaptor per op: takes buffers, never addresses, checks every size, calls the row's function.
 * A key is expanded by the row's own key schedule on each call; this is no fast path.
 */
#include "python/call_kernel.h"

#include <cstring>
#include <string>

extern "C" {
#include "cpu/detect.h"
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

py::object call_sha256_blocks(fc_sha256_blocks_fn *fn, const py::args &args) {
  require_args(args, 2);
  Operand state(args[0], true), data(args[1], false);
  require_size("state", state, 32);
  require_multiple("data", data, 64);
  uint32_t words[8];
  std::memcpy(words, state.data(), sizeof words);
  fn(words, data.data(), data.size() / 64);
  std::memcpy(state.data(), words, sizeof words);
  return py::none();
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

/* ---- Which row --------------------------------------------------------------------------------- */

const fc_row &runnable_row(const std::string &op, const std::string &name) {
  for (size_t i = 0; i < fc_row_count; i++) {
    const fc_row &row = fc_rows[i];
    if (op != fc_op_names[row.op] || name != row.name) continue;
    if (!fc_row_built(&row)) throw py::value_error(op + "-" + name + " is not in this build");
    if (!fc_row_runnable(&row, fc_cpu_detect())) {
      throw py::value_error("this CPU cannot run " + op + "-" + name);
    }
    return row;
  }
  throw py::value_error("no row " + op + "-" + name);
}

py::object call_kernel(const std::string &op, const std::string &name, const py::args &args) {
  const fc_row &row = runnable_row(op, name);
  fc_any_fn *fn = row.kernels[0].fn;
  switch (row.op) {
#define X(op)      \
  case FC_OP_##op: \
    return call_##op(reinterpret_cast<fc_##op##_fn *>(fn), args);
    FC_OPS(X)
#undef X
    default:
      throw py::value_error("no adaptor for " + op);
  }
}

}  // namespace

void add_call_kernel(py::module_ &module) {
  module.def("call_kernel", call_kernel, py::arg("op"), py::arg("name"),
             "Run one row directly: call_kernel('sha256_blocks', 'shani', state, data).\n\n"
             "ValueError for a row that this CPU cannot run and for a buffer of the wrong size.");
}

}  // namespace fc

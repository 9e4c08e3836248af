/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension module: seals the table, puts the hot types and functions on the module, and defines
 * the cold ones (what is running, self-test, direct calls of rows) through pybind11.
 */
#include <pybind11/pybind11.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "python/binding.h"
#include "python/call_kernel.h"

extern "C" {
#include "aes/record_number.h"
#include "cpu/detect.h"
#include "cpu/dispatch.h"
#include "cpu/self_test.h"
}

namespace py = pybind11;

namespace fc {
namespace {

std::string valid_words() {
  std::string words = "scalar, ";
#if defined(__x86_64__)
  words += "x86-64 (or baseline), x86-64-v2, x86-64-v3, x86-64-v4, ";
#endif
  words += "native; then -FEATURE with FEATURE one of avx512";
  for (const fc_feature_info &info : fc_feature_infos) words += std::string(", ") + info.name;
  return words;
}

std::string unknown_word(const std::string &word) {
  return "FASTCRYPT_CPU: unknown word '" + word + "'. Valid: " + valid_words();
}

/* The environment is bytes and may be no text, or cut inside a character; a message is text. */
std::string as_text(const char *bytes) {
  PyObject *text =
      PyUnicode_DecodeUTF8(bytes, static_cast<Py_ssize_t>(std::strlen(bytes)), "replace");
  if (text == nullptr) throw py::error_already_set();
  return py::cast<std::string>(py::reinterpret_steal<py::str>(text));
}

void seal() {
  /* First: whoever finds the table sealed finds forks watched. */
  const int unwatched = fc_watch_forks();
  if (unwatched != 0) {
    throw py::import_error(std::string("fastcrypt: pthread_atfork: ") + std::strerror(unwatched));
  }
  fc_seal_error error;
  switch (fc_seal(std::getenv("FASTCRYPT_CPU"), &error)) {
    case FC_SEAL_OK:
      return;
    case FC_SEAL_UNKNOWN_WORD:
      throw py::import_error(unknown_word(as_text(error.detail)));
    case FC_SEAL_SELF_TEST:
      throw py::import_error(std::string("fastcrypt: self-test failed in kernel ") + error.detail);
  }
}

py::frozenset names_of(fc_features features) {
  py::set names;
  for (size_t id = 0; id < FC_FEATURE_COUNT; id++) {
    const bool present = features >> id & 1;
    if (present && !names.add(fc_feature_infos[id].name)) throw py::error_already_set();
  }
  return py::frozenset(names);
}

fc_features features_of(const py::iterable &names) {
  fc_features features = 0;
  for (py::handle item : names) {
    const std::string name = py::cast<std::string>(item);
    const int id = fc_feature_by_name(name.data(), name.size());
    if (id < 0) throw py::value_error("unknown feature '" + name + "'");
    features |= fc_features{1} << id;
  }
  return features;
}

py::dict chosen_names(const fc_table &table) {
  py::dict names;
  for (size_t op = 0; op < FC_OP_COUNT; op++) names[fc_op_names[op]] = table.chosen[op]->name;
  return names;
}

py::dict resolve(const py::iterable &names) {
  fc_table table;
  fc_resolve(features_of(names), &table);
  return chosen_names(table);
}

py::frozenset narrow(const py::iterable &names, const std::string &setting) {
  fc_features features;
  const char *word;
  size_t len;
  if (fc_features_narrow(features_of(names), setting.c_str(), &features, &word, &len) != 0) {
    throw py::value_error(unknown_word(std::string(word, len)));
  }
  return names_of(features);
}

py::frozenset decode_cpuid(uint32_t leaf1_ecx, uint32_t leaf1_edx, uint32_t leaf7_ebx,
                           uint32_t leaf7_ecx, uint32_t leaf7_1_eax, uint32_t leaf80000001_ecx,
                           uint64_t xcr0) {
  const fc_cpuid cpuid = {leaf1_ecx,   leaf1_edx,        leaf7_ebx, leaf7_ecx,
                          leaf7_1_eax, leaf80000001_ecx, xcr0};
  return names_of(fc_cpu_decode(&cpuid));
}

py::list rows() {
  const fc_features detected = fc_cpu_detect();
  py::list list;
  for (size_t i = 0; i < fc_row_count; i++) {
    const fc_row &row = fc_rows[i];
    py::list symbols;
    for (size_t k = 0; k < fc_row_kernel_count(&row); k++) symbols.append(row.kernels[k].symbol);
    py::dict entry;
    entry["op"] = fc_op_names[row.op];
    entry["name"] = row.name;
    entry["features"] = names_of(row.features);
    entry["lanes"] = row.lanes;
    entry["min_fill"] = row.min_fill;
    entry["symbols"] = py::tuple(symbols);
    entry["constant_time"] = true; /* the contract of every op; the proof checks every row */
    entry["built"] = fc_row_built(&row) != 0;
    entry["runnable"] = fc_row_runnable(&row, detected) != 0;
    entry["chosen"] = FC_TABLE.chosen[row.op] == &row;
    list.append(entry);
  }
  return list;
}

/* Known answers over every row that this CPU can run, chosen or not. */
void self_test() {
  const fc_features detected = fc_cpu_detect();
  for (size_t i = 0; i < fc_row_count; i++) {
    if (!fc_row_runnable(&fc_rows[i], detected)) continue;
    const char *failed = fc_self_test_row(&fc_rows[i]);
    if (failed != nullptr) {
      throw std::runtime_error(std::string("self-test failed in kernel ") + failed);
    }
  }
}

py::dict build_info() {
  py::dict info = py::module_::import("json").attr("loads")(FC_BUILD_INFO);
  info["version"] = FC_VERSION;
  info["table_is_read_only"] = fc_sealed.read_only != 0;
  return info;
}

void add_cold_functions(py::module_ &module) {
  module.def(
      "cpu_features", [] { return names_of(FC_TABLE.features); },
      "The CPU features that are usable here and that FASTCRYPT_CPU has not removed.");
  module.def(
      "detected_features", [] { return names_of(fc_cpu_detect()); },
      "The CPU features that are usable here, whatever FASTCRYPT_CPU says.");
  module.def(
      "kernels", [] { return chosen_names(FC_TABLE); },
      "The kernel that runs for each op: {'sha256_blocks': 'shani', ...}.");
  module.def("build_info", build_info, "Version, compiler and flags of this build.");
  module.def("self_test", self_test,
             "Run the known answers over every kernel that this CPU can run.\n\n"
             "RuntimeError names a kernel that fails.");
  module.def("rows", rows, "Every row of the table, best first within its op.");
  module.def("resolve", resolve, py::arg("features"),
             "The table that a CPU with these features would get. Pure.");
  module.def("narrow", narrow, py::arg("features"), py::arg("setting"),
             "A feature set narrowed by a FASTCRYPT_CPU setting. Pure.");
  module.def("decode_cpuid", decode_cpuid, py::arg("leaf1_ecx"), py::arg("leaf1_edx"),
             py::arg("leaf7_ebx"), py::arg("leaf7_ecx"), py::arg("leaf7_1_eax"),
             py::arg("leaf80000001_ecx"), py::arg("xcr0"),
             "The usable features that these CPUID words and XCR0 mean. Pure.");
  module.def(
      "table_address", [] { return reinterpret_cast<uintptr_t>(&fc_sealed); },
      "Where the sealed table lies, to look its page up in the process map.");
  add_call_kernel(module);
}

}  // namespace
}  // namespace fc

PYBIND11_MODULE(_core, module, py::mod_gil_not_used(),
                py::multiple_interpreters::per_interpreter_gil()) {
  fc::seal();
  module.attr("__version__") = FC_VERSION;
  for (bool (*add)(PyObject *) :
       {fc::add_hashes, fc::add_compare, fc::add_aes, fc::add_aes_gcm, fc::add_aes_gcm_streams,
        fc::add_record_cipher, fc::add_aes_streams, fc::add_aes_xts, fc::add_aes_gcm_siv,
        fc::add_aes_cmac, fc::add_aes_key_wrap, fc::add_hmac_key, fc::add_hmac_state, fc::add_kdf,
        fc::add_hash_parts, fc::add_hash_many, fc::add_merkle, fc::add_c_api}) {
    if (!add(module.ptr())) throw py::error_already_set();
  }
  fc::add_cold_functions(module);
}

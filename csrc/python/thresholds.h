/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From which size on an operation releases the GIL (detaches the thread). Releasing and taking it
 * back costs about 50 ns without contention and a hand-over of up to the switch interval with it,
 * so the work has to be worth some microseconds. Measured by bench/gil_threshold.py.
 */
#ifndef FC_PYTHON_THRESHOLDS_H
#define FC_PYTHON_THRESHOLDS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Hashing: 8 KiB are 4 us with SHA-NI. hashlib's 2047 loses single-thread time at 4 KiB. */
constexpr Py_ssize_t FC_HASH_DETACH_BYTES = 8192;

/* What is worth another thread, which costs 20 to 50 us to start: 64 KiB are 30 us with SHA-NI. */
constexpr Py_ssize_t FC_THREAD_BYTES = 65536;

/* Compare: 128 KiB are 3 to 10 us. */
constexpr Py_ssize_t FC_COMPARE_DETACH_BYTES = 131072;

/* AES: 16 KiB are 4 us of GCM with AES-NI. */
constexpr Py_ssize_t FC_AES_DETACH_BYTES = 16384;

/* What a GCM record costs besides its bytes, in bytes of a long message. */
constexpr Py_ssize_t FC_AES_RECORD_BYTES = 256;

namespace fc {

/* Releases the GIL for a scope if the work is long enough. */
class DetachIf {
 public:
  explicit DetachIf(bool detach) : state_(detach ? PyEval_SaveThread() : nullptr) {}
  ~DetachIf() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  DetachIf(const DetachIf &) = delete;
  DetachIf &operator=(const DetachIf &) = delete;

 private:
  PyThreadState *state_;
};

}  // namespace fc

#endif

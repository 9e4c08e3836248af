/* SPDX-License-Identifier: Apache-2.0 */
/* Work on several native threads, through Python's thread API. */
#ifndef FC_PYTHON_THREADS_H
#define FC_PYTHON_THREADS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace fc {

constexpr Py_ssize_t FC_MAX_THREADS = 64;

/*
 * Calls work(argument) on this thread and on count - 1 new ones, and returns when all have returned.
 * The caller has released the GIL, and `work` touches no Python object. `work` must be right on any
 * number of threads: one that cannot be started is done without.
 */
void run_on_threads(Py_ssize_t count, void (*work)(void *), void *argument);

/* The `threads` argument: NULL is 1, and more than FC_MAX_THREADS are as many. False with an exception. */
bool parse_threads(PyObject *object, Py_ssize_t *count);

}  // namespace fc

#endif

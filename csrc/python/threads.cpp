/* SPDX-License-Identifier: Apache-2.0 */
#include "python/threads.h"

namespace fc {
namespace {

struct Worker {
  void (*work)(void *);
  void *argument;
  PyThread_type_lock running; /* held from before the start to the end */
};

void work_and_release(void *object) {
  Worker *worker = static_cast<Worker *>(object);
  const PyThread_type_lock running = worker->running;
  worker->work(worker->argument);
  PyThread_release_lock(running);
}

bool start(Worker *worker) {
  worker->running = PyThread_allocate_lock();
  if (worker->running == nullptr) return false;
  PyThread_acquire_lock(worker->running, WAIT_LOCK);
  if (PyThread_start_new_thread(work_and_release, worker) != PYTHREAD_INVALID_THREAD_ID)
    return true;
  PyThread_release_lock(worker->running);
  PyThread_free_lock(worker->running);
  return false;
}

void join(Worker *worker) {
  PyThread_acquire_lock(worker->running, WAIT_LOCK);
  PyThread_release_lock(worker->running);
  PyThread_free_lock(worker->running);
}

}  // namespace

void run_on_threads(Py_ssize_t count, void (*work)(void *), void *argument) {
  Worker workers[FC_MAX_THREADS];
  Py_ssize_t started = 0;
  while (started < count - 1) {
    workers[started].work = work;
    workers[started].argument = argument;
    if (!start(&workers[started])) break;
    started++;
  }
  work(argument);
  for (Py_ssize_t i = 0; i < started; i++) join(&workers[i]);
}

bool parse_threads(PyObject *object, Py_ssize_t *count) {
  *count = 1;
  if (object == nullptr) return true;
  *count = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (*count == -1 && PyErr_Occurred()) return false;
  if (*count < 1) {
    PyErr_Format(PyExc_ValueError, "threads must be at least 1, received %zd", *count);
    return false;
  }
  if (*count > FC_MAX_THREADS) *count = FC_MAX_THREADS;
  return true;
}

}  // namespace fc

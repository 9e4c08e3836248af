/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock of one streaming object, so that its updates happen whole and in some order.
 *
 * With a GIL, holding the GIL is holding the object, except while some thread hashes a long input
 * with the GIL released. That thread holds the lock; a short operation takes the lock only if it
 * finds it held. Before 3.13 there is no PyMutex: the lock is then made when first needed, which is
 * when the GIL is about to be released. Without a GIL every operation takes the lock.
 */
#ifndef FC_PYTHON_OBJECT_LOCK_H
#define FC_PYTHON_OBJECT_LOCK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace fc {

#if PY_VERSION_HEX >= 0x030D0000

class ObjectLock {
 public:
  void init() { mutex_ = PyMutex{}; }
  void destroy() {}
  bool prepare() { return true; }
  void acquire() { PyMutex_Lock(&mutex_); }
  void release() { PyMutex_Unlock(&mutex_); }
#ifdef Py_GIL_DISABLED
  bool needed() const { return true; }
#else
  /* Every writer of the byte holds the GIL at the moment that matters to us. */
  bool needed() const { return __atomic_load_n(&mutex_._bits, __ATOMIC_RELAXED) != 0; }
#endif

 private:
  PyMutex mutex_;
};

#else

class ObjectLock {
 public:
  void init() {
    lock_ = nullptr;
    users_ = 0;
  }
  void destroy() {
    if (lock_ != nullptr) PyThread_free_lock(lock_);
  }
  /* False when there is no memory for a lock: the caller then keeps the GIL. */
  bool prepare() {
    if (lock_ == nullptr) lock_ = PyThread_allocate_lock();
    return lock_ != nullptr;
  }
  bool needed() const { return users_ != 0; }
  /* users_ counts holders and waiters and is changed under the GIL only. */
  void acquire() {
    users_++;
    if (!PyThread_acquire_lock(lock_, NOWAIT_LOCK)) {
      Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(lock_, WAIT_LOCK);
      Py_END_ALLOW_THREADS
    }
  }
  void release() {
    PyThread_release_lock(lock_);
    users_--;
  }

 private:
  PyThread_type_lock lock_;
  int users_;
};

#endif

/*
 * Holds the object for one operation: a short one, in a scope that keeps the GIL, or one that wants
 * to release it, which detach() then allows.
 */
class Hold {
 public:
  explicit Hold(ObjectLock &lock, bool wants_detach = false)
      : lock_(lock), detach_(wants_detach && lock.prepare()), held_(detach_ || lock.needed()) {
    if (held_) lock_.acquire();
  }
  ~Hold() {
    if (held_) lock_.release();
  }
  Hold(const Hold &) = delete;
  Hold &operator=(const Hold &) = delete;
  bool detach() const { return detach_; }

 private:
  ObjectLock &lock_;
  bool detach_, held_;
};

}  // namespace fc

#endif

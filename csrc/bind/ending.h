// The end of the interpreter, and the end of its threads.
#pragma once

#include <memory>

#include "bind/python.h"

namespace fb::bind {

// Lets kernels run without the interpreter's lock, and prepares for threads that are still in a
// kernel when the interpreter ends. See Note [Threads at the end].
void install_blocking();

// Holds the lock while a Python object is dropped, from any thread and at any time. False once the
// interpreter is ending: objects are leaked then.
class LockToDrop {
 public:
  LockToDrop() : can_(Py_IsInitialized()), took_(can_ && !PyGILState_Check()) {
    if (took_) state_ = PyGILState_Ensure();
  }
  ~LockToDrop() {
    if (took_) PyGILState_Release(state_);
  }
  LockToDrop(const LockToDrop&) = delete;
  LockToDrop& operator=(const LockToDrop&) = delete;
  explicit operator bool() const { return can_; }

 private:
  bool can_;
  bool took_;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

// Hands an object over to Python's own state of this thread, which drops it with the lock held:
// when the thread ends, or when the interpreter does.
void keep_with_thread(PyObject* object, const char* name);

// A T for each thread, which may hold Python objects. C++ would destroy a thread_local T when there
// is no lock and perhaps no interpreter any more. T::kName names it.
template <class T>
class OfThread {
 public:
  // Null where this thread has none.
  static T* find() { return here_; }
  static T& get() {
    if (!here_) make();
    return *here_;
  }

 private:
  static inline constinit thread_local T* here_ = nullptr;

  static void make() {
    auto made = std::make_unique<T>();
    const Ref owner = checked(PyCapsule_New(made.get(), T::kName, drop));
    T* const kept = made.release();
    keep_with_thread(owner.get(), T::kName);
    here_ = kept;
  }
  // When the interpreter ends, another thread does this for the remaining threads.
  static void drop(PyObject* owner) {
    const std::unique_ptr<T> dropped(static_cast<T*>(PyCapsule_GetPointer(owner, T::kName)));
    if (here_ == dropped.get()) here_ = nullptr;
  }
};

}  // namespace fb::bind

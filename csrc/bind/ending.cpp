// Threads that are left when the interpreter ends.
//
// Note [Threads at the end]: Python ends while daemon threads still run. One that then asks for its
// lock is terminated: before Python 3.14 by pthread_exit, which unwinds the stack. Destructors
// would drop Python objects without the lock, and handlers that catch everything would stop the
// unwinding, which is not allowed. So such a thread blocks until the process has ended, as it does
// in Python 3.14. All frames of this module are unwound through one personality routine (see
// CMakeLists.txt), which checks for this. A thread that is in a kernel at that time keeps
// computing: then the process ends without destroying the libraries that the thread runs in.
#include "bind/ending.h"

#include <unistd.h>
#include <unwind.h>

#include <cstdio>
#include <cstdlib>

#include "core/blocking.h"

namespace fb::bind {
namespace {

bool is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

[[noreturn]] void stay() {
  for (;;) pause();
}

// While the interpreter ends, only the thread that ends it has the lock.
constinit thread_local bool ends_interpreter = false;

void* give_lock() {
  if (!PyGILState_Check()) return nullptr;
  if (is_ending()) ends_interpreter = true;
  return PyEval_SaveThread();
}

void take_lock(void* state) {
  if (is_ending() && !ends_interpreter) {
    --blocking_regions;  // the kernel is done
    stay();
  }
  PyEval_RestoreThread(static_cast<PyThreadState*>(state));
}

void leave_libraries(int status, void*) {
  if (blocking_regions == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

void install_blocking() {
  blocking_hooks = {give_lock, take_lock};
  // Functions at exit run in reverse order. This one is registered when Python has ended, after
  // those that libraries registered while they were used, so it runs first.
  Py_AtExit([] { on_exit(leave_libraries, nullptr); });
}

void keep_with_thread(PyObject* object, const char* name) {
  PyObject* kept = PyThreadState_GetDict();
  FB_ASSERT(kept);
  if (PyDict_SetItemString(kept, name, object) < 0) throw PythonError{};
}

}  // namespace fb::bind

extern "C" {

_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

// The linker uses it instead of the C++ library's for all frames of this module.
_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
  if (actions & _UA_FORCE_UNWIND && (fb::bind::is_ending() || !Py_IsInitialized()))
    fb::bind::stay();
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}
}

// The user's innermost running code. See Note [Cheap source locations] in
// core/source_location.h.
#include <Python.h>
// The interpreter's internal frames: public frame objects would have to be made for every operator.
// Versions whose internals are not known here use the public functions.
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000
#define FB_INNER_FRAMES 1
#define Py_BUILD_CORE 1
#undef HAVE_STD_ATOMIC
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#else
#include <frameobject.h>
#endif

#include <string>

#include "bind/ending.h"
#include "bind/python.h"
#include "bind/source_location.h"
#include "core/profile.h"
#include "core/source_location.h"

namespace fb::bind {
namespace {

// Files of the package are not the user's. All code of a file shares its name, so names are
// compared by address, and the answers are cached with them.
std::string package_folder;

struct KnownFile {
  PyObject* name = nullptr;
  bool is_ours = false;
};
constexpr size_t kKnownFiles = 256;
KnownFile known_files[kKnownFiles];

bool is_ours(PyObject* filename) {
  KnownFile& known = known_files[reinterpret_cast<uintptr_t>(filename) / 16 % kKnownFiles];
  if (known.name != filename) {
    const char* text = PyUnicode_AsUTF8(filename);
    Py_XDECREF(known.name);
    known.name = new_ref(filename);
    known.is_ours = text && std::string_view(text).starts_with(package_folder);
    PyErr_Clear();
  }
  return known.is_ours;
}

#if defined(FB_INNER_FRAMES)

// A frame that runs Python code, and those it was called from. Skips frames that the interpreter
// inserts for itself (where C calls Python, and around `__init__`), as its public functions do:
// their code has neither file nor lines.
class Frame {
 public:
  static Frame innermost() {
    PyThreadState* thread = _PyThreadState_UncheckedGet();
    if (!thread) return Frame(nullptr);
#if PY_VERSION_HEX >= 0x030D0000
    return Frame(thread->current_frame);
#else
    return Frame(thread->cframe ? thread->cframe->current_frame : nullptr);
#endif
  }
  explicit operator bool() const { return frame_ != nullptr; }
  Frame caller() const { return Frame(frame_->previous); }
  PyCodeObject* code() const {
#if PY_VERSION_HEX >= 0x030D0000
    return reinterpret_cast<PyCodeObject*>(frame_->f_executable);
#else
    return frame_->f_code;
#endif
  }
  int32_t position() const {
    return static_cast<int32_t>(_PyInterpreterFrame_LASTI(frame_) * sizeof(_Py_CODEUNIT));
  }

 private:
  explicit Frame(_PyInterpreterFrame* frame) : frame_(frame) {
    while (frame_ && _PyFrame_IsIncomplete(frame_)) frame_ = frame_->previous;
  }
  _PyInterpreterFrame* frame_;
};

#else

class Frame {
 public:
  static Frame innermost() {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    return Frame(frame);
  }
  explicit operator bool() const { return static_cast<bool>(frame_); }
  Frame caller() const { return Frame(PyFrame_GetBack(get())); }
  PyCodeObject* code() const {
    PyCodeObject* code = PyFrame_GetCode(get());
    Py_DECREF(code);  // the frame holds it
    return code;
  }
  int32_t position() const {
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti(get());
#else
    return get()->f_lasti * static_cast<int32_t>(sizeof(_Py_CODEUNIT));
#endif
  }

 private:
  explicit Frame(PyFrameObject* owned) : frame_(reinterpret_cast<PyObject*>(owned)) {}
  PyFrameObject* get() const { return reinterpret_cast<PyFrameObject*>(frame_.get()); }
  Ref frame_;
};

#endif

void* captured(const Frame& frame, int32_t* position) {
  *position = frame.position();
  return new_ref(reinterpret_cast<PyObject*>(frame.code()));
}

void* capture(int32_t* position) {
  for (Frame frame = Frame::innermost(); frame; frame = frame.caller())
    if (!is_ours(frame.code()->co_filename)) return captured(frame, position);
  // Only the package itself is running.
  if (const Frame frame = Frame::innermost()) return captured(frame, position);
  return nullptr;
}

void release(void* code) {
  // Tensors may outlive the interpreter.
  if (Py_IsInitialized()) Py_DECREF(static_cast<PyObject*>(code));
}

std::string describe(void* code, int32_t position) {
  auto* object = static_cast<PyCodeObject*>(code);
  // Whoever waits for a GPU without the lock may find an error of a kernel's.
  const PyGILState_STATE lock = PyGILState_Ensure();
  const char* file = PyUnicode_AsUTF8(object->co_filename);
  const int line = PyCode_Addr2Line(object, position);
  std::string text = std::string(file ? file : "?") + ":" + std::to_string(line);
  PyGILState_Release(lock);
  return text;
}

using Frames = std::vector<std::pair<void*, int32_t>>;

// All frames, for profilers: also those of the package.
void capture_stack(Frames& frames) {
  constexpr size_t kMost = 128;
  if (!PyGILState_Check()) return;
  for (Frame frame = Frame::innermost(); frame && frames.size() < kMost; frame = frame.caller()) {
    int32_t position = 0;
    void* code = captured(frame, &position);
    frames.emplace_back(code, position);
  }
}

// Threads may drop what they have recorded without the interpreter's lock.
void release_stack(Frames& frames) {
  const LockToDrop lock;
  if (!lock) return;
  for (const auto& [code, position] : frames) Py_DECREF(static_cast<PyObject*>(code));
}

}  // namespace

PyObject* describe_frame(void* code, int32_t position) {
  auto* object = static_cast<PyCodeObject*>(code);
  return PyUnicode_FromFormat("%U(%d): %U", object->co_filename, PyCode_Addr2Line(object, position),
                              object->co_name);
}

void install_source_locations(const char* folder) {
  package_folder = folder;
  source_location_hooks = {capture, release, describe};
  profile::stack_hooks = {capture_stack, release_stack};
}

}  // namespace fb::bind

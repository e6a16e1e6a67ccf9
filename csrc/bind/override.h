// Calls that an argument's class or a mode handles instead of the operator: __torch_function__.
//
// Note [Overriding]: a plain call never checks for it. An object whose class overrides fits no
// parameter, so its calls end where no overload matches, and only there are the arguments searched.
// Tensor and Parameter are recognised by their types; other classes are asked for the attribute,
// which Python caches. Modes see every call: entry points test one global count, which is zero
// unless some thread has a mode.
#pragma once

#include <initializer_list>

#include "bind/tensor_object.h"

namespace fb::bind {

// nn.Parameter, which never overrides; null until that module is imported.
extern PyTypeObject* parameter_type;

// How many modes are active in all threads together.
inline int mode_count = 0;
bool thread_has_mode();
inline bool is_mode_active() { return mode_count != 0 && thread_has_mode(); }

// Whether objects of the class, which is neither Tensor nor Parameter, override calls now.
bool class_overrides(PyTypeObject* type);
inline bool overrides(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  // Classes that are not made at run time are Python's own or NumPy's.
  if (type == tensor_type || type == parameter_type || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
    return false;
  return class_overrides(type);
}
// A tensor that operators take as it is.
inline bool is_native_tensor(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensor_type || type == parameter_type) return true;
  return PyType_IsSubtype(type, tensor_type) && !class_overrides(type);
}

// Whether a call with these arguments, or with the items of lists among them, is to be handed over.
bool is_overridden(PyObject* const* args, Py_ssize_t count);
inline bool is_overridden(PyObject* object) { return is_mode_active() || overrides(object); }

// Hands a call over: to the innermost mode, then to the arguments, those of subclasses first.
// `owner` has the function that was called as its attribute `name`; `self` is null unless it is a
// method's.
PyObject* call_override(PyObject* owner, const char* name, FB_PY_ARGUMENTS);
// Hands a call to `function` of a Python module, as (called function, arguments, keywords).
PyObject* call_instead(const char* module, const char* function, PyObject* owner, const char* name,
                       FB_PY_ARGUMENTS);
// call_override for a method of Tensor whose arguments, `self` first, are all positional.
PyObject* call_method_override(const char* name, std::initializer_list<PyObject*> args);
// The same for any function; `relevant` are the arguments that may take over.
PyObject* hand_over(PyObject* function, PyObject* const* relevant, Py_ssize_t count, PyObject* args,
                    PyObject* kwargs);

// What the switches of override_switch.cpp change in this thread.
enum class OverrideLevel : uint8_t { kAll, kModesOnly, kNone };
OverrideLevel set_override_level(OverrideLevel level);
OverrideLevel override_level();
void push_mode(PyObject* mode);
Ref pop_mode();
// Counted from the outermost; null where there is none.
PyObject* mode_at(Py_ssize_t index);
Py_ssize_t mode_depth();

// Classes with this object as their __torch_function__ do not override. Called once.
void set_disabled_override(PyObject* function);

// Adds what Python sees of it to the module.
void add_overrides(PyObject* module);

}  // namespace fb::bind

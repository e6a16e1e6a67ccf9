// flambeau._C: the module that everything native is reached through.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/autocast.h"
#include "bind/backward.h"
#include "bind/boxed.h"
#include "bind/call.h"
#include "bind/config.h"
#include "bind/cuda.h"
#include "bind/ending.h"
#include "bind/function.h"
#include "bind/generator_object.h"
#include "bind/grad_switch.h"
#include "bind/image.h"
#include "bind/interop.h"
#include "bind/nn_module.h"
#include "bind/node_object.h"
#include "bind/optim.h"
#include "bind/override.h"
#include "bind/packed_list.h"
#include "bind/profile.h"
#include "bind/registry.h"
#include "bind/replay.h"
#include "bind/saved_hooks.h"
#include "bind/scope.h"
#include "bind/serialization.h"
#include "bind/settings.h"
#include "bind/shared_memory.h"
#include "bind/source_location.h"
#include "bind/tape.h"
#include "bind/tensor_object.h"
#include "bind/transforms.h"
#include "bind/value_types.h"
#include "core/tensor.h"
#include "core/warning.h"
#include "cpu/isa.h"
#include "cpu/libraries.h"
#include "cpu/table.h"
#if defined(FB_SHADOW)
#include "shadow/memory.h"
#include "shadow/table.h"
#endif

namespace nb = nanobind;

namespace fb::bind {
namespace {

// Functions of a namespace (`linalg`, `nn.functional`) live in a submodule that can be imported
// from.
PyObject* submodule(PyObject* module, const std::string& name) {
  if (const size_t dot = name.find('.'); dot != std::string::npos) {
    const Ref outer(submodule(module, name.substr(0, dot)));
    return submodule(outer.get(), name.substr(dot + 1));
  }
  if (PyObject_HasAttrString(module, name.c_str()))
    return checked(PyObject_GetAttrString(module, name.c_str())).release();
  const std::string full = std::string(PyModule_GetName(module)) + "." + name;
  PyObject* made = PyImport_AddModule(full.c_str());
  if (!made) throw PythonError{};
  PyModule_AddObjectRef(module, name.c_str(), made);
  return new_ref(made);
}

void add_functions(PyObject* module) {
  for (const FamilyBindings* const* family = kFamilies; *family; ++family) {
    for (const FunctionDef* f = (*family)->functions; f->method.ml_name; ++f) {
      const Ref target(f->name_space ? submodule(module, f->name_space) : new_ref(module));
      const Ref name = checked(PyModule_GetNameObject(target.get()));
      const Ref function = checked(
          PyCFunction_NewEx(const_cast<PyMethodDef*>(&f->method), target.get(), name.get()));
      if (PyModule_AddObjectRef(target.get(), f->method.ml_name, function.get()) < 0)
        throw PythonError{};
    }
  }
}

void add_cpu(nb::module_& m) {
  m.def("_set_onednn_verbose", &cpu::set_onednn_verbose, nb::arg("level"),
        "Lets oneDNN print what it runs; returns whether it can.");
}

// The type of the results of an operator that may not have been called yet. The strings are kept
// as long as the type, which is forever.
nb::object named_return_type(const std::string& name, const std::vector<std::string>& fields) {
  auto* kept = new std::vector<std::string>(fields);
  std::vector<const char*> pointers;
  for (const std::string& field : *kept) pointers.push_back(field.c_str());
  const char* kept_name = (new std::string(name))->c_str();
  PyTypeObject* type = return_type(kept_name, pointers.data(), pointers.size());
  return nb::borrow(reinterpret_cast<PyObject*>(type));
}

PyObject* op_info(PyObject*, PyObject*) {
  const Ref json(PyImport_ImportModule("json"));
  return json ? PyObject_CallMethod(json.get(), "loads", "s", kOpInfoJson) : nullptr;
}

void add_op_info(nb::module_& m) {
  m.def("_return_type", named_return_type);
  static PyMethodDef functions[] = {{"op_info", op_info, METH_NOARGS, R"(op_info($module, /)
--

Return what the operator table says: one dictionary per entry.

Example:
    >>> add = next(entry for entry in torch.op_info() if entry["name"] == "add")
    >>> "inplace" in add["forms"]
    True)"},
                                    {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(m.ptr(), functions) < 0) throw PythonError{};
}

void register_errors(nb::module_& m) {
  out_of_memory_error = PyErr_NewException("torch.OutOfMemoryError", PyExc_RuntimeError, nullptr);
  m.attr("OutOfMemoryError") = nb::borrow(out_of_memory_error);
  linalg_error = PyErr_NewException("torch._C._LinAlgError", PyExc_RuntimeError, nullptr);
  m.attr("_LinAlgError") = nb::borrow(linalg_error);
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error&) {
      set_python_error(nullptr);
    } catch (const PythonError&) {
      // Python knows of it already.
    }
  });
}

}  // namespace
}  // namespace fb::bind

NB_MODULE(_C, m) {
  using namespace fb;
  using namespace fb::bind;
  nb::set_leak_warnings(false);
  if (!cpu::has_baseline())
    throw nb::import_error("this processor lacks instructions that Flambeau needs (x86-64-v2)");
  cpu::register_kernels();
#if defined(FB_SHADOW)
  shadow::register_memory();
  shadow::register_kernels();
  m.def("_take_shadow_faults", &shadow::take_faults,
        "Where the host touched memory of the device shadow since the last call.");
  m.def("_set_shadow_kernels", &shadow::set_kernels, nb::arg("present"),
        "Whether the device shadow has its kernels, or none.");
#endif
  warning_hooks.warn = [](const std::string& text) {
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw PythonError{};
  };
  install_blocking();
  register_errors(m);
  add_value_types(m.ptr());
  add_generator_type(m.ptr());
  add_tensor_type(m.ptr());
  add_overrides(m.ptr());
  add_node_type(m.ptr());
  add_nn_module(m.ptr());
  add_optim(m.ptr());
  add_functions(m.ptr());
  add_interop(m.ptr());
  add_shared_memory(m.ptr());
  add_packed_list(m.ptr());
  add_settings(m.ptr());
  add_cpu(m);
  add_config(m);
  add_cuda(m);
  add_op_info(m);
  add_backward(m);
  add_function(m.ptr());
  add_saved_hooks(m.ptr());
  add_grad_switches(m.ptr());
  add_scopes(m.ptr());
  add_autocast(m);
  add_transforms(m);
  add_serialization(m);
  add_image(m);
  add_profile(m);
  add_boxed(m.ptr());
  add_tape(m);
  add_replay(m);
  m.def(
      "_install_source_locations", [](const char* folder) { install_source_locations(folder); },
      nb::arg("folder"));
}

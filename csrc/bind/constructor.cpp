// Calling the class, as in torch.Tensor(2, 3), and objects of subclasses.
#include "bind/call.h"
#include "bind/tape.h"
#include "bind/tensor_object.h"
#include "gen/ops/view.h"
#include "ops/layout.h"

namespace fb::bind {
namespace {

// A second tensor on the same elements: an object of another class needs a handle of its own.
Tensor another_handle(const Tensor& t) {
  if (is_sparse(t)) return autograd::detached(t);
  // A call for recorders, so that the size may differ the next time.
  if (is_recorded()) [[unlikely]]
    return ops::_alias(t);
  ops::settle(t);
  return ops::as_strided(t, t.sizes(), t.strides(), t.offset());
}

PyTypeObject* subclass(PyObject* object) {
  FB_CHECK_TYPE(PyType_Check(object), "argument 'cls' must be type, not ",
                Py_TYPE(object)->tp_name);
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  FB_CHECK_TYPE(PyType_IsSubtype(type, tensor_type), "expected a subclass of Tensor, got ",
                type->tp_name);
  return type;
}

}  // namespace

// Sizes are the common case; the other forms of the old constructor are told apart in Python.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded("Tensor", [&] {
    if (!kwargs && PyTuple_GET_SIZE(args) > 0 && fits(ArgType::kInts, args))
      return wrap_as(type, noted(make_tensor(read::int_list(args), default_dtype(), kHost)));
    const Ref module = checked(PyImport_ImportModule("flambeau._core.legacy"));
    const Ref make = checked(PyObject_GetAttrString(module.get(), "new_tensor"));
    Ref made = checked(PyObject_Call(make.get(), args, kwargs));
    if (type == tensor_type) return made.release();
    return wrap_as(type, another_handle(tensor_of(made.get())));
  });
}

PyObject* tensor_make_subclass(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded("_make_subclass", [&] {
    FB_CHECK_TYPE(count == 2 || count == 3, "expected a class, a tensor and requires_grad, got ",
                  count, " arguments");
    auto* type = subclass(args[0]);
    FB_CHECK_TYPE(is_tensor(args[1]), "argument 'data' must be Tensor, not ",
                  Py_TYPE(args[1])->tp_name);
    const Tensor& data = tensor_of(args[1]);
    Ref made(wrap_as(type, is_recorded() ? recorded_detach(data) : autograd::detached(data)));
    if (count == 3) autograd::set_requires_grad(tensor_of(made.get()), read::boolean(args[2]));
    return made.release();
  });
}

// Never handed over to overrides, which use it to make their results.
PyObject* as_subclass_entry(FB_PY_ARGUMENTS) {
  return guarded("as_subclass", [&] {
    const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    const bool is_cls =
        named == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "cls") == 0;
    FB_CHECK_TYPE(nargs + named == 1 && is_cls, "expected one argument, cls, got ", nargs,
                  " positional and ", named, " keyword arguments");
    return wrap_as(subclass(args[0]), another_handle(tensor_of(self)));
  });
}

}  // namespace fb::bind

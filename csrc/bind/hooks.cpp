// Python functions on gradients. They live in dictionaries, keyed by handles that remove them.
#include "bind/hooks.h"

#include "autograd/history.h"
#include "bind/call.h"

namespace fb::bind {
namespace {

using autograd::Gradients;

// An owned reference that hooks can share; the interpreter's lock is held wherever they die.
std::shared_ptr<PyObject> shared(PyObject* object) {
  return std::shared_ptr<PyObject>(new_ref(object), [](PyObject* o) {
    if (Py_IsInitialized()) Py_DECREF(o);
  });
}

// The functions in the dictionary now: a hook may remove itself.
Ref functions_in(const std::shared_ptr<PyObject>& dict) {
  return checked(
      PySequence_List(Ref(checked(PyObject_CallMethod(dict.get(), "values", nullptr))).get()));
}

Tensor call_tensor_hooks(const std::shared_ptr<PyObject>& dict, const Tensor& grad) {
  const Ref functions = functions_in(dict);
  Tensor current = grad;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
    const Ref given = checked(wrap(current));
    const Ref result =
        checked(PyObject_CallOneArg(PyList_GET_ITEM(functions.get(), i), given.get()));
    if (result.get() == Py_None) continue;
    FB_CHECK_TYPE(is_tensor(result.get()), "a hook must return a Tensor or None, not ",
                  Py_TYPE(result.get())->tp_name);
    current = tensor_of(result.get());
  }
  return current;
}

// What a hook gave back for several gradients: a tuple, or one tensor.
void replace(Gradients& gradients, PyObject* result) {
  if (result == Py_None) return;
  if (is_tensor(result) && gradients.size() == 1) {
    gradients[0] = tensor_of(result);
    return;
  }
  FB_CHECK(PyTuple_Check(result) || PyList_Check(result),
           "a hook must return None, a Tensor or a tuple of Tensors, not ",
           Py_TYPE(result)->tp_name);
  FB_CHECK(PySequence_Fast_GET_SIZE(result) == static_cast<Py_ssize_t>(gradients.size()),
           "hook has returned an incorrect number of values (got ",
           PySequence_Fast_GET_SIZE(result), ", but expected ", gradients.size(), ")");
  for (size_t i = 0; i < gradients.size(); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(result, static_cast<Py_ssize_t>(i));
    gradients[i] = item == Py_None ? Tensor() : tensor_of(item);
  }
}

std::span<const Tensor> view(const Gradients& gradients) {
  return {gradients.data(), gradients.size()};
}

}  // namespace

PyObject* wrap_gradients(std::span<const Tensor> gradients) {
  Ref tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(gradients.size())));
  for (size_t i = 0; i < gradients.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     gradients[i] ? wrap(gradients[i]) : none());
  return tuple.release();
}

PyObject* tensor_hooks(const Tensor& t) {
  if (!t->autograd || !t->autograd->python_hooks) return none();
  return new_ref(static_cast<PyObject*>(t->autograd->python_hooks.get()));
}

void set_tensor_hooks(const Tensor& t, PyObject* dict) {
  autograd::Meta& meta = autograd::meta_of(t);
  if (!dict || dict == Py_None) {
    meta.python_hooks.reset();
    return;
  }
  const std::shared_ptr<PyObject> kept = shared(dict);
  meta.python_hooks = kept;
  const auto hook = [kept](const Tensor& grad) { return call_tensor_hooks(kept, grad); };
  if (const autograd::NodeRef node = autograd::grad_fn(t))
    node->hooks_or_new().tensor.push_back({t->output_nr, hook});
  else
    meta.hooks.push_back(hook);
}

PyObject* add_node_hook(autograd::Node& node, PyObject* hook, bool before) {
  const Ref module = checked(PyImport_ImportModule("flambeau.utils.hooks"));
  const Ref dict = checked(PyDict_New());
  Ref handle = checked(PyObject_CallMethod(module.get(), "register_in", "OO", dict.get(), hook));
  const std::shared_ptr<PyObject> kept = shared(dict.get());
  if (before) {
    node.hooks_or_new().before.push_back([kept](Gradients& grads) {
      const Ref functions = functions_in(kept);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
        const Ref given = checked(wrap_gradients(view(grads)));
        replace(
            grads,
            checked(PyObject_CallOneArg(PyList_GET_ITEM(functions.get(), i), given.get())).get());
      }
    });
  } else {
    node.hooks_or_new().after.push_back([kept](Gradients& results, std::span<const Tensor> grads) {
      const Ref functions = functions_in(kept);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
        const Ref inputs = checked(wrap_gradients(view(results)));
        const Ref outputs = checked(wrap_gradients(grads));
        replace(results, checked(PyObject_CallFunctionObjArgs(PyList_GET_ITEM(functions.get(), i),
                                                              inputs.get(), outputs.get(), nullptr))
                             .get());
      }
    });
  }
  return handle.release();
}

}  // namespace fb::bind

// Python functions on gradients. They live in dictionaries, keyed by handles that remove them.
#include "bind/hooks.h"

#include "autograd/history.h"
#include "bind/call.h"
#include "bind/ending.h"

namespace fb::bind {

std::shared_ptr<PyObject> shared(PyObject* object) {
  return std::shared_ptr<PyObject>(new_ref(object), [](PyObject* o) {
    if (const LockToDrop lock; lock) Py_DECREF(o);
  });
}

namespace {

using autograd::Gradients;

// The result of a hook must be able to replace its argument.
const Tensor& replacement(PyObject* hook, PyObject* returned, const Tensor& given) {
  FB_CHECK_TYPE(is_tensor(returned), "a hook must return a Tensor or None, not ",
                Py_TYPE(returned)->tp_name);
  const Tensor& result = tensor_of(returned);
  if (given && result.sizes() == given.sizes() && result.dtype() == given.dtype()) return result;
  Ref name(PyObject_GetAttrString(hook, "__name__"));
  if (!name) PyErr_Clear();
  const std::string called = name ? PyUnicode_AsUTF8(name.get()) : "<unknown>";
  FB_CHECK(given, "hook '", called, "' can't replace a None gradient with a non-None value");
  FB_CHECK(result.sizes() == given.sizes(), "hook '", called,
           "' has changed the size of value (was ", given.sizes(), ", got ", result.sizes(), ")");
  fail(ErrorKind::kRuntime, "hook '", called, "' has changed the type of value (was ",
       given.dtype(), ", got ", result.dtype(), ")");
}

// A copy of the functions in the dictionary: a hook may remove itself.
Ref functions_in(const std::shared_ptr<PyObject>& dict) {
  return checked(
      PySequence_List(Ref(checked(PyObject_CallMethod(dict.get(), "values", nullptr))).get()));
}

Tensor call_tensor_hooks(const std::shared_ptr<PyObject>& dict, const Tensor& grad) {
  const Ref functions = functions_in(dict);
  Tensor current = grad;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
    PyObject* hook = PyList_GET_ITEM(functions.get(), i);
    const Ref given = checked(wrap(current));
    const Ref result = checked(PyObject_CallOneArg(hook, given.get()));
    if (result.get() != Py_None) current = replacement(hook, result.get(), current);
  }
  return current;
}

// What a hook returned for several gradients: a tuple, or one tensor.
void replace(Gradients& gradients, PyObject* hook, const Ref& returned) {
  PyObject* result = returned.get();
  if (result == Py_None) return;
  if (is_tensor(result) && gradients.size() == 1) {
    gradients[0] = replacement(hook, result, gradients[0]);
    return;
  }
  FB_CHECK(PyTuple_Check(result) || PyList_Check(result),
           "a hook must return None, a Tensor or a tuple of Tensors, not ",
           Py_TYPE(result)->tp_name);
  FB_CHECK(PySequence_Fast_GET_SIZE(result) == static_cast<Py_ssize_t>(gradients.size()),
           "hook has returned an incorrect number of values (got ",
           PySequence_Fast_GET_SIZE(result), ", but expected ", gradients.size(), ")");
  for (size_t i = 0; i < gradients.size(); ++i) {
    FB_CHECK(static_cast<Py_ssize_t>(i) < PySequence_Fast_GET_SIZE(result),
             "the list that a hook has returned was changed while it was read");
    const Ref item(new_ref(PySequence_Fast_GET_ITEM(result, static_cast<Py_ssize_t>(i))));
    gradients[i] = item.get() == Py_None ? Tensor() : replacement(hook, item.get(), gradients[i]);
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

int visit_hooks(const autograd::Node& node, visitproc visit, void* arg) {
  if (!node.hooks) return 0;
  Py_VISIT(static_cast<PyObject*>(node.hooks->metadata.get()));
  for (const std::shared_ptr<void>& object : node.hooks->objects)
    Py_VISIT(static_cast<PyObject*>(object.get()));
  return 0;
}

PyObject* tensor_hooks(const Tensor& t) {
  autograd::grad_fn(t);  // a view that was changed in place loses its hooks
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
  if (const autograd::NodeRef node = autograd::grad_fn(t)) {
    autograd::Hooks& hooks = node->hooks_or_new();
    hooks.tensor.push_back({t->output_nr, hook});
    hooks.objects.push_back(kept);
  } else {
    meta.hooks.push_back(hook);
  }
}

void set_accumulation_hooks(const Tensor& leaf, PyObject* dict) {
  FB_CHECK(autograd::requires_grad(leaf),
           "cannot register a hook on a tensor that doesn't require gradient");
  FB_CHECK(autograd::is_leaf(leaf),
           "post accumulate grad hooks cannot be registered on non-leaf tensors");
  autograd::Meta& meta = autograd::meta_of(leaf);
  const std::shared_ptr<PyObject> kept = shared(dict);
  meta.python_after_accumulation = kept;
  meta.after_accumulation = [kept](const Tensor& accumulated) {
    const Ref functions = functions_in(kept);
    const Ref given = checked(wrap(accumulated));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i)
      checked(PyObject_CallOneArg(PyList_GET_ITEM(functions.get(), i), given.get()));
  };
}

PyObject* add_node_hook(autograd::Node& node, PyObject* hook, bool before) {
  const Ref module = checked(PyImport_ImportModule("flambeau.utils.hooks"));
  const Ref dict = checked(PyDict_New());
  Ref handle = checked(PyObject_CallMethod(module.get(), "register_in", "OO", dict.get(), hook));
  const std::shared_ptr<PyObject> kept = shared(dict.get());
  autograd::Hooks& hooks = node.hooks_or_new();
  hooks.objects.push_back(kept);
  if (before) {
    hooks.before.push_back([kept](Gradients& grads) {
      const Ref functions = functions_in(kept);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
        PyObject* function = PyList_GET_ITEM(functions.get(), i);
        const Ref given = checked(wrap_gradients(view(grads)));
        replace(grads, function, checked(PyObject_CallOneArg(function, given.get())));
      }
    });
  } else {
    hooks.after.push_back([kept](Gradients& results, std::span<const Tensor> grads) {
      const Ref functions = functions_in(kept);
      for (Py_ssize_t i = 0; i < PyList_GET_SIZE(functions.get()); ++i) {
        PyObject* function = PyList_GET_ITEM(functions.get(), i);
        const Ref inputs = checked(wrap_gradients(view(results)));
        const Ref outputs = checked(wrap_gradients(grads));
        replace(
            results, function,
            checked(PyObject_CallFunctionObjArgs(function, inputs.get(), outputs.get(), nullptr)));
      }
    });
  }
  return handle.release();
}

}  // namespace fb::bind

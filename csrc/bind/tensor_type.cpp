// The Tensor type: life and death of its objects, and the slots that are not generated.

#include <string_view>
#include <vector>

#include "autograd/batch.h"
#include "autograd/history.h"
#include "bind/call.h"
#include "bind/ending.h"
#include "bind/hooks.h"
#include "bind/interop.h"
#include "bind/override.h"
#include "bind/registry.h"
#include "bind/tape.h"
#include "bind/tensor_object.h"
#include "gen/ops/sparse.h"
#include "ops/host.h"

namespace fb::bind {

PyTypeObject* tensor_type = nullptr;

// constructor.cpp
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
PyObject* tensor_make_subclass(PyObject*, PyObject* const* args, Py_ssize_t count);

namespace {

binaryfunc comparisons[6] = {};

// Python finalizes an object only once, but a revived one may have to be kept again. Since Python
// 3.8 the flag is the lowest bit of the second word of the collector's header.
void forget_finalized(PyObject* self) { reinterpret_cast<uintptr_t*>(self)[-1] &= ~uintptr_t{1}; }

// The tensor that kept its object is destroyed, and the object with it.
void release_object(void* kept) {
  auto* object = static_cast<PyTensor*>(kept);
  object->value.leak();  // it only borrowed
  if (const LockToDrop lock; lock) Py_DECREF(reinterpret_cast<PyObject*>(object));
}

// Objects of the Tensor type itself are kept for reuse: allocating one through Python's collector
// costs more than a small operator.
constexpr int kFreeListCapacity = 128;
PyTensor* free_list[kFreeListCapacity];
int free_count = 0;

PyTensor* new_object(PyTypeObject* type) {
  if (type == tensor_type && free_count > 0) {
    PyTensor* object = free_list[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), type);
    PyObject_GC_Track(object);
    return object;
  }
  return reinterpret_cast<PyTensor*>(type->tp_alloc(type, 0));
}

// Keeps an object that its tensor outlives: see Note [One Python object per tensor].
void tensor_finalize(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  TensorImpl* impl = object->value.get();
  if (!impl || impl->flags & kKeepsObject || impl->python_object != self) return;
  const bool has_state = Py_TYPE(self) != tensor_type || object->weak_references ||
                         (object->dict && PyDict_GET_SIZE(object->dict));
  if (!has_state || impl->refs.load(std::memory_order_relaxed) < 2) return;
  Py_INCREF(self);
  impl->flags |= kKeepsObject;
  // The object borrows now.
  impl->refs.fetch_sub(1, std::memory_order_relaxed);
  forget_finalized(self);
}

void tensor_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  PyTypeObject* type = Py_TYPE(self);
  if (type == tensor_type) {
    const bool may_stay = object->dict || object->weak_references;
    if (may_stay && PyObject_CallFinalizerFromDealloc(self) < 0) return;
  }
  PyObject_GC_UnTrack(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->dict);
  if (object->value.defined() && object->value->python_object == self)
    object->value->python_object = nullptr;
  object->value.~Tensor();
  if (type == tensor_type && free_count < kFreeListCapacity) {
    new (&object->value) Tensor();
    forget_finalized(self);  // to be finalized again with the next tensor
    free_list[free_count++] = object;
  } else {
    type->tp_free(self);
  }
  Py_DECREF(type);
}

// Python objects that a tensor's part of the graph holds: the hooks of a leaf. Those of a result
// belong to its node, and count as the tensor's only if nobody else holds the node.
int visit_history(const TensorImpl& impl, visitproc visit, void* arg) {
  if (impl.flags & kCut || !impl.grad_fn) {
    if (!impl.autograd) return 0;
    Py_VISIT(static_cast<PyObject*>(impl.autograd->python_hooks.get()));
    Py_VISIT(static_cast<PyObject*>(impl.autograd->python_after_accumulation.get()));
    return 0;
  }
  const autograd::Node& node = *impl.grad_fn;
  if (node.refs.load(std::memory_order_relaxed) != 1) return 0;
  if (!node.is_python) return visit_hooks(node, visit, arg);
  Py_VISIT(static_cast<PyObject*>(node.python_object));
  return 0;
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  const auto* object = reinterpret_cast<PyTensor*>(self);
  Py_VISIT(Py_TYPE(self));
  // A tensor that the graph also holds keeps its attributes; what only this object refers to is its
  // own.
  const TensorImpl* impl = object->value.get();
  if (impl && impl->refs.load(std::memory_order_relaxed) > 1) return 0;
  Py_VISIT(object->dict);
  return impl && !(impl->flags & kKeepsObject) ? visit_history(*impl, visit, arg) : 0;
}

int tensor_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<PyTensor*>(self)->dict);
  return 0;
}

PyObject* tensor_repr(PyObject* self) {
  if (is_overridden(self))
    return guarded("__repr__", [&] { return call_method_override("__repr__", {self}); });
  static PyObject* format = nullptr;
  if (!format) {
    const Ref module(PyImport_ImportModule("flambeau._core.printing"));
    if (!module) return nullptr;
    format = PyObject_GetAttrString(module.get(), "tensor_repr");
    if (!format) return nullptr;
  }
  return PyObject_CallOneArg(format, self);
}

Py_hash_t tensor_hash(PyObject* self) { return _Py_HashPointer(self); }

PyObject* tensor_compare(PyObject* a, PyObject* b, int operation) {
  if (!comparisons[operation]) return new_ref(Py_NotImplemented);
  return comparisons[operation](a, b);
}

Py_ssize_t tensor_length(PyObject* self) {
  if (is_overridden(self)) [[unlikely]] {
    const Ref length(guarded("__len__", [&] { return call_method_override("__len__", {self}); }));
    return length ? PyLong_AsSsize_t(length.get()) : -1;
  }
  const Tensor& t = tensor_of(self);
  if (t.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  if (observe::watches(observe::kRecord)) [[unlikely]]
    if (guarded_int("__len__", [&] { return note_read(t, "__len__"), 0; }) < 0) return -1;
  return t.size(0);
}

// `method` is how Python asks for it.
Scalar single_element(const Tensor& t, const char* wanted, const char* method) {
  if (is_sparse(t)) [[unlikely]]
    return single_element(ops::to_dense(t), wanted, method);
  autograd::check_has_elements(t, "item");
  if (t->is_promised()) refuse_missing_memory();
  FB_CHECK_VALUE(t.numel() == 1, "only a tensor with one element can become a Python ", wanted,
                 "; this one has size ", t.sizes());
  const Scalar element = ops::host_number(t);
  if (observe::watches(observe::kRecord)) [[unlikely]]
    note_read(t, method, element);
  return element;
}

int tensor_bool(PyObject* self) {
  return guarded_int("__bool__", [&] {
    if (is_overridden(self)) [[unlikely]] {
      const Ref answer(call_method_override("__bool__", {self}));
      return PyObject_IsTrue(answer.get());
    }
    const Tensor& t = tensor_of(self);
    autograd::check_no_branch(t);
    FB_CHECK(t.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
    FB_CHECK(t.numel() == 1,
             "Boolean value of Tensor with more than one value is ambiguous; use any() or all()");
    return static_cast<int>(single_element(t, "bool", "__bool__").to<bool>());
  });
}

PyObject* tensor_int(PyObject* self) {
  return guarded("__int__", [&] {
    if (is_overridden(self)) [[unlikely]]
      return call_method_override("__int__", {self});
    const Scalar value = single_element(tensor_of(self), "int", "__int__");
    if (value.is_integral()) return wrap(value.to<int64_t>());
    FB_CHECK_TYPE(value.kind() == Scalar::Kind::kFloat, "can't convert a complex number to int");
    return PyLong_FromDouble(value.to<double>());
  });
}

PyObject* tensor_index(PyObject* self) {
  return guarded("__index__", [&] {
    if (is_overridden(self)) [[unlikely]]
      return call_method_override("__index__", {self});
    const Tensor& t = tensor_of(self);
    FB_CHECK_TYPE(is_integral(t.dtype()) && t.numel() == 1,
                  "only integer tensors of a single element can be converted to an index");
    return wrap(single_element(t, "int", "__index__").to<int64_t>());
  });
}

PyObject* tensor_float(PyObject* self) {
  return guarded("__float__", [&] {
    if (is_overridden(self)) [[unlikely]]
      return call_method_override("__float__", {self});
    const Scalar value = single_element(tensor_of(self), "float", "__float__");
    FB_CHECK(value.kind() != Scalar::Kind::kComplex || value.to<Complex<double>>().im == 0,
             "value cannot be converted to type double without overflow");
    return wrap(value.to<double>());
  });
}

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded_int("buffer", [&] {
    if (is_on_meta(self)) {
      PyErr_SetString(PyExc_BufferError, "a tensor on meta has no elements");
      throw PythonError{};
    }
    if (is_mode_active()) {  // and is told when Python reads elements
      const Ref array(call_method_override("numpy", {self}));
      return PyObject_GetBuffer(array.get(), view, flags);
    }
    if (observe::watches(observe::kRecord)) [[unlikely]]
      note_read(tensor_of(self), "numpy");
    fill_buffer(self, tensor_of(self), view, flags);
    return 0;
  });
}

void tensor_releasebuffer(PyObject*, Py_buffer* view) { release_buffer(view); }

PyMemberDef tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// Methods of all families in one array, which must outlive the type.
PyMethodDef* all_methods() {
  auto* methods = new std::vector<PyMethodDef>;
  for (const FamilyBindings* const* family = kFamilies; *family; ++family)
    for (const PyMethodDef* m = (*family)->methods; m->ml_name; ++m) methods->push_back(*m);
  methods->push_back(
      {"_make_subclass",
       reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(tensor_make_subclass)),
       METH_FASTCALL | METH_STATIC,
       "An object of a subclass on the elements of a tensor, without its history."});
  methods->push_back({nullptr, nullptr, 0, nullptr});
  return methods->data();
}

// Hands the access over: `accessor` is __get__ or __set__ of the attribute's descriptor.
PyObject* call_property_override(const PyGetSetDef& property, const char* accessor,
                                 std::initializer_list<PyObject*> args) {
  const Ref descriptor =
      checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), property.name));
  return call_override(descriptor.get(), accessor, nullptr, args.begin(),
                       static_cast<Py_ssize_t>(args.size()), nullptr);
}

// An attribute with a check for overrides.
PyObject* get_property(PyObject* self, void* closure) {
  const auto* property = static_cast<const PyGetSetDef*>(closure);
  if (!is_overridden(self)) [[likely]]
    return property->get(self, property->closure);
  return guarded(property->name,
                 [&] { return call_property_override(*property, "__get__", {self}); });
}
int set_property(PyObject* self, PyObject* value, void* closure) {
  const auto* property = static_cast<const PyGetSetDef*>(closure);
  if (!value || !is_overridden(self)) return property->set(self, value, property->closure);
  return guarded_int(property->name, [&] {
    const Ref ignored(call_property_override(*property, "__set__", {self, value}));
    return 0;
  });
}

PyGetSetDef* all_properties() {
  auto* properties = new std::vector<PyGetSetDef>;
  for (const PyGetSetDef* list : {tensor_properties, grad_properties}) {
    for (; list->name; ++list) {
      if (std::string_view(list->name) == "__dict__")
        properties->push_back(*list);
      else
        properties->push_back({list->name, get_property, list->set ? set_property : nullptr,
                               list->doc, const_cast<PyGetSetDef*>(list)});
    }
  }
  properties->push_back({nullptr, nullptr, nullptr, nullptr, nullptr});
  return properties->data();
}

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (tensor->python_object) {
    auto* object = static_cast<PyObject*>(tensor->python_object);
    if (!(tensor->flags & kKeepsObject)) return new_ref(object);
    tensor->flags &= ~kKeepsObject;  // the reference that it held goes to Python,
    tensor.leak();                   // and this one to the object
    return object;
  }
  return wrap_as(tensor_type, std::move(tensor));
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  PyTensor* object = new_object(type);
  if (!object) throw PythonError{};
  new (&object->value) Tensor(std::move(tensor));
  object->value->python_object = object;
  // A new tensor on existing elements, as from detach(), is an inference tensor only if those are.
  if (inference_depth && autograd::mode.inference && !object->value->base &&
      object->value->storage->refs.load(std::memory_order_relaxed) == 1)
    object->value->flags |= kInference;
  return reinterpret_cast<PyObject*>(object);
}

namespace {

constexpr const char* kDoc = R"(Tensor(*data, device=None)
--

N-dimensional array of one element type.

`torch.tensor`, `torch.zeros` and other functions make tensors. The class itself
is an older way: it takes sizes and leaves the elements undefined, or it copies
a sequence into a tensor of the default type.

Operators are methods and functions alike: `x.exp()` is `torch.exp(x)`. Names
that end in an underscore change the tensor itself.

Args:
    data: Sizes as separate ints, or a sequence of numbers. Nothing makes an
        empty tensor.
    device: The device of the elements. Default: the CPU.

Attributes:
    shape: The sizes of the dimensions, a `torch.Size`.
    dtype: The type of the elements.
    device: Where the elements are.
    requires_grad: Whether autograd records what is computed from the tensor.
    grad: The gradient that `backward` computed, or None.
    T: The transposed matrix.

Example:
    >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> x.shape, x.dtype
    (torch.Size([2, 2]), torch.float32)
    >>> (x @ x.T).sum().backward()
    >>> x.grad
    tensor([[ 8., 12.],
            [ 8., 12.]])
    >>> torch.Tensor([1, 2])
    tensor([1., 2.])

See also:
    `torch.tensor`, `torch.from_numpy`, `nn.Parameter`.)";

}  // namespace

void add_tensor_type(PyObject* module) {
  object_hooks.release = release_object;
  const auto slot = [](int id, auto* function) {
    return PyType_Slot{id, reinterpret_cast<void*>(function)};
  };
  std::vector<PyType_Slot> slots = {
      slot(Py_tp_new, tensor_new),
      slot(Py_tp_dealloc, tensor_dealloc),
      slot(Py_tp_finalize, tensor_finalize),
      slot(Py_tp_traverse, tensor_traverse),
      slot(Py_tp_clear, tensor_clear),
      slot(Py_tp_repr, tensor_repr),
      slot(Py_tp_hash, tensor_hash),
      slot(Py_tp_richcompare, tensor_compare),
      slot(Py_mp_length, tensor_length),
      slot(Py_mp_subscript, tensor_getitem),
      slot(Py_mp_ass_subscript, tensor_setitem),
      slot(Py_nb_bool, tensor_bool),
      slot(Py_nb_int, tensor_int),
      slot(Py_nb_index, tensor_index),
      slot(Py_nb_float, tensor_float),
      slot(Py_bf_getbuffer, tensor_getbuffer),
      slot(Py_bf_releasebuffer, tensor_releasebuffer),
      {Py_tp_methods, all_methods()},
      {Py_tp_getset, all_properties()},
      {Py_tp_members, tensor_members},
      {Py_tp_doc, const_cast<char*>(kDoc)},
  };
  for (const FamilyBindings* const* family = kFamilies; *family; ++family) {
    for (const PyType_Slot* s = (*family)->slots; s->slot; ++s) slots.push_back(*s);
    for (int i = 0; i < 6; ++i)
      if ((*family)->comparisons[i]) comparisons[i] = (*family)->comparisons[i];
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"torch.Tensor", sizeof(PyTensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw PythonError{};
  PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(tensor_type));
}

}  // namespace fb::bind

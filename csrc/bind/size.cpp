// torch.Size: the tuple that a tensor's shape is.
#include "bind/tape.h"
#include "bind/value_types.h"

namespace fb::bind {

PyTypeObject* size_type = nullptr;

namespace {

PyObject* as_size(PyObject* tuple_owned) {
  const Ref tuple(tuple_owned);
  if (!tuple || !PyTuple_Check(tuple.get())) return tuple ? new_ref(tuple.get()) : nullptr;
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_type), tuple.get());
}

PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  const Ref made(PyTuple_Type.tp_new(type, args, kwargs));
  if (!made) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(made.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(made.get(), i);
    if (PyLong_Check(item) || is_size(item)) continue;
    PyObject* exact = PyNumber_Index(item);
    if (!exact) {
      PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   Py_TYPE(item)->tp_name);
      return nullptr;
    }
    PyTuple_SET_ITEM(made.get(), i, exact);
    Py_DECREF(item);  // last: destroying it may run code
  }
  return new_ref(made.get());
}

PyObject* size_repr(PyObject* self) {
  const Ref list(PySequence_List(self));
  if (!list) return nullptr;
  return PyUnicode_FromFormat("torch.Size(%R)", list.get());
}

PyObject* size_subscript(PyObject* self, PyObject* key) {
  PyObject* item = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(item) : item;
}

PyObject* size_add(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) return new_ref(Py_NotImplemented);
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}

// Python calls this if neither operand can add, and takes any answer as the result.
PyObject* size_concat(PyObject* self, PyObject* other) {
  if (PyTuple_Check(other)) return size_add(self, other);
  PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to torch.Size",
               Py_TYPE(other)->tp_name);
  return nullptr;
}

PyObject* size_repeat(PyObject* self, Py_ssize_t times) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, times));
}

// By Python's arithmetic: traced sizes record it, and the product may exceed 64 bits.
PyObject* size_numel(PyObject* self, PyObject*) {
  Ref product(PyLong_FromLong(1));
  for (Py_ssize_t i = 0; product && i < PyTuple_GET_SIZE(self); ++i)
    product = Ref(PyNumber_Multiply(PyTuple_GET_ITEM(self, i), product.get()));
  return product.release();
}

// The class is named torch.Size, where pickle would not find it, so it pickles a function.
PyObject* size_reduce(PyObject* self, PyObject*) {
  const Ref module(PyImport_ImportModule("flambeau._core.pickling"));
  if (!module) return nullptr;
  const Ref rebuild(PyObject_GetAttrString(module.get(), "rebuild_size"));
  const Ref plain(rebuild ? PySequence_Tuple(self) : nullptr);
  return plain ? Py_BuildValue("O(O)", rebuild.get(), plain.get()) : nullptr;
}

PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS,
                               R"(numel($self, /)
--

Return the number of elements of a tensor of this size.

Example:
    >>> torch.Size([2, 3]).numel()
    6)"},
                              {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

constexpr const char* kDoc = R"(Size(iterable=(), /)
--

Shape of a tensor: a tuple of ints.

Slices and sums of sizes are sizes, too.

Args:
    iterable: Whole numbers.

Example:
    >>> shape = torch.zeros(2, 3, 4).shape
    >>> shape
    torch.Size([2, 3, 4])
    >>> shape[1:], shape.numel()
    (torch.Size([3, 4]), 24)
    >>> torch.zeros(torch.Size([2]) + shape[2:]).shape
    torch.Size([2, 4])

See also:
    `Tensor.size`, `Tensor.numel`.)";

}  // namespace

PyObject* size_object(IntSpan sizes) {
  PyObject* result = size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size()));
  if (!result) throw PythonError{};
  for (size_t i = 0; i < sizes.size(); ++i)
    PyTuple_SET_ITEM(result, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(sizes[i]));
  return result;
}

void add_size_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(size_new)},
                         {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                         {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                         {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
                         {Py_nb_add, reinterpret_cast<void*>(size_add)},
                         {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                         {Py_tp_methods, size_methods},
                         {Py_tp_doc, const_cast<char*>(kDoc)},
                         {0, nullptr}};
  PyType_Spec spec = {"torch.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  const Ref bases = checked(PyTuple_Pack(1, &PyTuple_Type));
  size_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get()));
  if (!size_type) throw PythonError{};
  PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject*>(size_type));
}

}  // namespace fb::bind

// The Python object around a tensor.
//
// Note [One Python object per tensor]: a tensor remembers its Python object while that lives, so
// `wrap` returns the same object and `is` works as users expect. When Python drops the last
// reference while the graph still holds the tensor, an object with something to keep (attributes,
// weak references, a class of its own) stays: the tensor then owns the object, and the object only
// borrows the tensor, until `wrap` hands it to Python again.
#pragma once

#include "bind/python.h"
#include "core/tensor.h"

namespace fb::bind {

struct PyTensor {
  PyObject_HEAD Tensor value;
  PyObject* dict;
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
inline const Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<PyTensor*>(object)->value;
}

// A new reference to the tensor's Python object, made if there is none.
PyObject* wrap(Tensor tensor);
// A new object of a subclass (Parameter, a user's class) around the same elements.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);

// How many threads are in inference mode: their tensors are marked when Python gets them.
inline int inference_depth = 0;

// Builds the type from the generated methods and slots and adds it to the module. Called once.
void add_tensor_type(PyObject* module);

// Hand-written parts of the type, one file each.
extern const PyGetSetDef tensor_properties[];               // tensor_properties.cpp
extern const PyGetSetDef grad_properties[];                 // grad_properties.cpp
PyObject* tensor_getitem(PyObject* self, PyObject* index);  // indexing.cpp
int tensor_setitem(PyObject* self, PyObject* index, PyObject* value);

}  // namespace fb::bind

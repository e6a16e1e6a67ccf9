// Tensors from Python data: numbers, nested sequences, arrays, tensors.
#pragma once

#include <optional>

#include "bind/python.h"
#include "core/tensor.h"

namespace fb::bind {

// A new tensor with the elements of `data`. Without a dtype: the smallest type that holds every
// element, where a Python float counts as the default dtype.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype);
// The same, but a tensor or a NumPy array of the right type is shared instead of copied.
Tensor tensor_on_data(PyObject* data, std::optional<DType> dtype);

}  // namespace fb::bind

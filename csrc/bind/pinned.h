// pin_memory=True of new tensors, which needs a device that copies from page-locked memory.
#pragma once

#include "bind/python.h"
#include "core/tensor.h"

namespace fb::bind {

// Refuses it where no device could use such memory, before anything is made.
void check_pinned(PyObject* pin_memory);
// A tensor that was just made, in page-locked memory if that is asked for.
Tensor as_pinned(Tensor made, PyObject* pin_memory);
// The same elements in page-locked memory.
Tensor pinned_copy(const Tensor& tensor);

}  // namespace fb::bind

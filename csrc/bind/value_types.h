// The small Python types around a tensor: dtype, device, layout, memory_format and Size.
#pragma once

#include "bind/python.h"
#include "core/device.h"
#include "core/dims.h"
#include "core/dtype.h"

namespace fb::bind {

// A dtype object, or Python's bool, int, float and complex, which stand for one.
bool is_dtype(PyObject* object);
DType dtype_of(PyObject* object);
PyObject* dtype_object(DType t);  // borrowed

// A device object, or "cuda:0", or the index of a GPU.
bool is_device_like(PyObject* object);
Device device_of(PyObject* object);
PyObject* device_object(Device device);

bool is_layout(PyObject* object);
Layout layout_of(PyObject* object);
PyObject* layout_object(Layout layout);  // borrowed

bool is_memory_format(PyObject* object);
MemoryFormat memory_format_of(PyObject* object);
PyObject* memory_format_object(MemoryFormat format);  // borrowed

// torch.Size([2, 3]): a tuple with this repr.
PyObject* size_object(IntSpan sizes);
extern PyTypeObject* size_type;

void add_value_types(PyObject* module);

}  // namespace fb::bind

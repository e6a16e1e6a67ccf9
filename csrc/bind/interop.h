// Tensors that share memory with NumPy arrays, buffers, DLPack producers and Arrow arrays, and
// Python lists of elements.
//
// Note [Lifetime of shared memory]
// A borrower of memory keeps its owner alive: an array made from a tensor holds the tensor's
// *storage* (not the tensor, which may get another storage), and the storage of a tensor made from
// an array holds the array. A storage that was lent out is never resized. The last tensor may die
// in a thread without the interpreter lock, so releasing Python objects takes the lock first.
#pragma once

#include "bind/python.h"
#include "core/tensor.h"

namespace fb::bind {

// Each function throws fb::Error for the user's mistakes and PythonError for errors that
// Python has raised. PyObject* results are new references.

// Whether `object` is a numpy.ndarray. Never imports NumPy.
bool is_numpy_array(PyObject* object);
// A tensor on the memory of a numpy.ndarray. Warns once about a read-only array, unless the tensor
// is only read.
Tensor from_numpy(PyObject* array, bool for_reading = false);
// A numpy.ndarray on the memory of `tensor`, which must be on the CPU.
PyObject* to_numpy(const Tensor& tensor);

// A flat tensor on the memory of an object with the buffer protocol; a `count` below zero means all
// of it.
Tensor from_buffer(PyObject* object, DType dtype, int64_t count, int64_t offset);
// The tensor's side of the buffer protocol: fills `view`, which will hold a reference to
// `exporter`.
void fill_buffer(PyObject* exporter, const Tensor& tensor, Py_buffer* view, int flags);
void release_buffer(Py_buffer* view);

// A capsule of the DLPack protocol, of its versioned form (1.0) or the older one; `copied`: nobody
// else uses the memory.
PyObject* to_dlpack(const Tensor& tensor, bool versioned, bool copied);
// Consumes a capsule of either form.
Tensor from_dlpack(PyObject* capsule);

// Whether an object, which is neither a tensor nor a NumPy array, offers memory of a GPU by
// __cuda_array_interface__; and a tensor on that memory.
bool is_cuda_array(PyObject* object);
Tensor from_cuda_array(PyObject* object);

// Consumes the capsules of an Arrow array of bytes, or of lists of as many bytes each: a tensor on
// its memory, which must not be written to.
Tensor from_arrow(PyObject* schema, PyObject* array);

// One element as bool, int, float or complex.
PyObject* to_python_number(DType dtype, const void* element);
// Nested lists of Python numbers; a number for a 0-d tensor.
PyObject* to_list(const Tensor& tensor);

// All of the memory behind `tensor`, as uint8.
Tensor storage_bytes(const Tensor& tensor);
// A view of the storage of `bytes`; refuses one that exceeds it.
Tensor tensor_on_storage(const Tensor& bytes, DType dtype, int64_t offset, IntSpan sizes,
                         IntSpan strides);

// Memory that `owner`, a Python object, keeps alive.
Storage adopt_python(void* data, size_t bytes, PyObject* owner);
// A capsule that keeps `storage` alive.
PyObject* storage_capsule(const Storage& storage);
// Adds the functions that only the package's own Python code calls.
void add_interop(PyObject* module);
// Whether an object is a tensor of the class that flambeau/_meta has for the device meta.
bool is_on_meta(PyObject* tensor);

// The distance between the first and the last element, plus one; 0 for an empty tensor.
int64_t span_of(IntSpan sizes, IntSpan strides);

}  // namespace fb::bind

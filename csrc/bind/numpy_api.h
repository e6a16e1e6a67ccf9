// The few entries of NumPy's C interface that are needed, found at run time: the build needs no
// NumPy, and `import flambeau` does not import it.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// The public fields of an array and of its element type, which have kept their positions since
// NumPy 1.7.
struct ArrayDescription {
  PyObject_HEAD PyTypeObject* scalar_type;
  char kind;
  char type;
  char byte_order;
  char former_flags;
  int type_number;
};
struct Array {
  PyObject_HEAD char* data;
  int nd;
  Py_intptr_t* shape;
  Py_intptr_t* strides;  // in bytes
  PyObject* base;
  ArrayDescription* description;
  int flags;
};

inline constexpr int kArrayAligned = 0x100;
inline constexpr int kArrayWriteable = 0x400;

struct NumpyApi {
  PyTypeObject* array_type;
  PyObject* (*new_array)(PyTypeObject*, int nd, const Py_intptr_t* shape, int type_number,
                         const Py_intptr_t* strides, void* data, int itemsize, int flags,
                         PyObject*);
  int (*set_base_object)(PyObject* array, PyObject* stolen_base);
};

// Imports NumPy on the first call; throws PythonError where that fails.
const NumpyApi& numpy_api();
// The same, or null if NumPy has not been imported.
const NumpyApi* loaded_numpy_api();

}  // namespace fb::bind

// The few entries of NumPy's C interface that are needed, found at run time: the build needs no
// NumPy, and `import flambeau` does not import it.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// What `array.__array_struct__` holds; the layout is part of NumPy's array interface protocol.
struct ArrayInterface {
  int two;  // always 2
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;  // in bytes
  void* data;
  PyObject* descr;
};

enum ArrayFlags : int { kArrayAligned = 0x100, kArrayNotSwapped = 0x200, kArrayWriteable = 0x400 };

struct NumpyApi {
  PyTypeObject* array_type;
  PyObject* (*new_array)(PyTypeObject*, int nd, const Py_intptr_t* shape, int type_number,
                         const Py_intptr_t* strides, void* data, int itemsize, int flags,
                         PyObject*);
  int (*set_base_object)(PyObject* array, PyObject* stolen_base);
};

// Imports NumPy on the first call; throws PythonError where that fails.
const NumpyApi& numpy_api();
// The same, or null as long as nobody has imported NumPy.
const NumpyApi* loaded_numpy_api();

}  // namespace fb::bind

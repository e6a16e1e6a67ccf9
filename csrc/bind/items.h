// Reading the user's lists while user code may run and change them.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// Calls f(item) for every item of a tuple or list. Reading an item may run code of its class, which
// may change the list: the item is held while it is read, and the length is read again each time. A
// tuple holds its items itself, and plain numbers, of which most lists consist, run no code.
template <class F>
void for_each_item(PyObject* sequence, F&& f) {
  const Ref held(new_ref(sequence));
  if (PyTuple_Check(sequence)) {
    const Py_ssize_t count = PyTuple_GET_SIZE(sequence);
    for (Py_ssize_t i = 0; i < count; ++i) f(PyTuple_GET_ITEM(sequence, i));
    return;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sequence); ++i) {
    PyObject* item = PyList_GET_ITEM(sequence, i);
    if (PyFloat_CheckExact(item) || PyLong_CheckExact(item)) {
      f(item);
    } else {
      const Ref kept(new_ref(item));
      f(item);
    }
  }
}

}  // namespace fb::bind

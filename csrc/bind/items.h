// Reading lists of the user's: his code may run on the way, and change them.
#pragma once

#include "bind/python.h"

namespace fb::bind {

// Calls f(item) for every item of a tuple or list. Reading an item may run code of its class, which
// may change the list: what is being read is held, and the length is asked again each time.
template <class F>
void for_each_item(PyObject* sequence, F&& f) {
  const Ref held(new_ref(sequence));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    const Ref item(new_ref(PySequence_Fast_GET_ITEM(sequence, i)));
    f(item.get());
  }
}

}  // namespace fb::bind

// The Python object around a random number generator.
#pragma once

#include "bind/python.h"

namespace fb {
class Generator;
}

namespace fb::bind {

bool is_generator(PyObject* object);
Generator* generator_of(PyObject* object);
// The object around a generator; None if it no longer exists.
PyObject* generator_object(Generator* generator);
void add_generator_type(PyObject* module);

}  // namespace fb::bind

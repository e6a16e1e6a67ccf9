// Python objects as values of operators, and calls with such values.
#pragma once

#include "bind/arguments.h"
#include "ops/operator.h"

namespace fb::bind {

// `object` must fit the type; null and None become none.
ops::Value boxed(ArgType type, PyObject* object);
PyObject* unboxed(const ops::Value& value);
// The result of a call from Python.
ops::Results results_of(const ops::Operator& op, PyObject* result);

// The class of an object as messages name it, without its module.
std::string type_name(PyObject* object);

void add_boxed(PyObject* module);

}  // namespace fb::bind

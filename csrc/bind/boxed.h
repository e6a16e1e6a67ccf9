// Objects of Python as values of operators, and calls by them.
#pragma once

#include "bind/arguments.h"
#include "ops/operator.h"

namespace fb::bind {

// `object` fits the type; null and None are none.
ops::Value boxed(ArgType type, PyObject* object);
PyObject* unboxed(const ops::Value& value);
// What a call from Python has returned.
ops::Results results_of(const ops::Operator& op, PyObject* result);

// The class of an object as messages name it, without its module.
std::string type_name(PyObject* object);

void add_boxed(PyObject* module);

}  // namespace fb::bind

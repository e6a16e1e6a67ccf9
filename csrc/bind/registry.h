// What the generator hands to the module: functions, methods and operator slots of every family.
#pragma once

#include "bind/python.h"

namespace fb::bind {

struct FunctionDef {
  const char* name_space;  // null for functions of the package itself
  PyMethodDef method;
};

struct FamilyBindings {
  const FunctionDef* functions;
  PyMethodDef* methods;
  const PyType_Slot* slots;       // number protocol of the Tensor
  const binaryfunc* comparisons;  // six, by Py_LT..Py_GE; null where another family has it
};

extern const FamilyBindings* const kFamilies[];  // ends with null
extern const char* const kOpInfoJson;

}  // namespace fb::bind

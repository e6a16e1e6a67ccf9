// Spans that begin in Python: calls of operators and modules, ranges, and the sessions themselves.
#pragma once

#include <nanobind/nanobind.h>

#include "bind/python.h"
#include "core/profile.h"

namespace fb::bind {

// A call whose operator opens no span of its own; `slots` are the arguments as they came.
class CallSpan : public profile::Span {
 public:
  CallSpan(const char* name, PyObject* const* slots, int count);
};

class ModuleSpan : public profile::Span {
 public:
  explicit ModuleSpan(PyObject* module) {
    if (profile::wants(profile::kModules)) [[unlikely]]
      begin(module);
  }

 private:
  void begin(PyObject* module);
};

void add_profile(nanobind::module_& m);

}  // namespace fb::bind

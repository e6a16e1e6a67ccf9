// Spans that begin in Python: calls of modules, ranges, and the sessions themselves.
#pragma once

#include <nanobind/nanobind.h>

#include "bind/python.h"
#include "core/profile.h"

namespace fb::bind {

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

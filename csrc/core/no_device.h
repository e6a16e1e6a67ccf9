// Errors of devices on which operators do not compute.
#pragma once

#include "core/error.h"

namespace fb {

// A device that this build does not compute on. Programs that fall back to the CPU catch PyTorch's
// class for it, which is AssertionError.
class NoDevice : public Error {
 public:
  explicit NoDevice(std::string message) : Error(ErrorKind::kRuntime, std::move(message)) {}
};

// The device of tensors without elements, which are a matter of Python: see flambeau/_meta. The
// binding hands calls that end in this error over to it.
class OnMeta : public Error {
 public:
  OnMeta() : Error(ErrorKind::kNotImplemented, "cannot compute on the device meta") {}
};

}  // namespace fb

// The error of a device that this build does not compute on. Programs that fall back to the CPU
// catch PyTorch's class for it, which is AssertionError.
#pragma once

#include "core/error.h"

namespace fb {

class NoDevice : public Error {
 public:
  explicit NoDevice(std::string message) : Error(ErrorKind::kRuntime, std::move(message)) {}
};

}  // namespace fb

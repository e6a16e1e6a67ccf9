// A kernel as operators see it: one slot of a device's table.
#pragma once

#include <utility>

namespace fb::kernel {

// Raises: the device whose table holds this slot has no such kernel.
[[noreturn, gnu::cold]] void refuse(const void* slot);

template <class Signature>
class Slot;

template <class Result, class... Arguments>
class Slot<Result(Arguments...)> {
 public:
  using Function = Result(Arguments...);

  Slot() = default;
  Slot(Function* function) : function_(function) {}

  Result operator()(Arguments... arguments) const {
    if (!function_) [[unlikely]]
      refuse(this);
    return function_(std::forward<Arguments>(arguments)...);
  }

 private:
  Function* function_ = nullptr;
};

}  // namespace fb::kernel

// The tensors of a call have to be on one device.
#pragma once

#include <optional>

#include "ops/operator.h"

namespace fb::autograd {

using ops::Operand;

// The tensors of a call.
class CallTensors {
 public:
  // `numbers`: a tensor without dimensions in the host's memory stands for a number.
  explicit CallTensors(bool numbers) : numbers_(numbers) {}
  CallTensors& add(const Tensor& t);
  CallTensors& add(const Operand& o) { return o.is_tensor() ? add(o.tensor()) : *this; }
  CallTensors& add(TensorList list) {
    for (const Tensor& t : list) add(t);
    return *this;
  }
  CallTensors& add(const std::optional<TensorList>& list) { return list ? add(*list) : *this; }

 private:
  bool numbers_;
  std::optional<Device> device_;
};
// Refuses tensors of several devices.
template <class... Inputs>
[[gnu::cold, gnu::noinline]] void check_one_device(bool numbers, const Inputs&... inputs) {
  CallTensors tensors(numbers);
  (tensors.add(inputs), ...);
}

}  // namespace fb::autograd

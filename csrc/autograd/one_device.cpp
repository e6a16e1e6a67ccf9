// Tensors of several devices are refused.
#include "autograd/one_device.h"

namespace fb::autograd {

CallTensors& CallTensors::add(const Tensor& t) {
  if (!t || (numbers_ && t.dim() == 0 && t.device() == kHost)) return *this;
  if (!device_) device_ = t.device();
  FB_CHECK(t.device() == *device_,
           "Expected all tensors to be on the same device, but found at least two devices, ",
           *device_, " and ", t.device(), "! Move one of them with .to(device)");
  return *this;
}

}  // namespace fb::autograd

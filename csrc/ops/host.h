// Elements that the host reads: bounds, counts, numbers that were given as tensors.
//
// Everything that csrc/ops reads of a tensor passes here, as elements of another device are not in
// the host's memory. It is also where a recording will learn that Python's way may depend on them.
#pragma once

#include <optional>
#include <vector>

#include "core/tensor.h"

namespace fb::ops {

// The only element of a tensor.
Scalar host_number(const Tensor& t);
// The same where it lies, or else copied to `room`.
using RoomForElement = char[16];
const void* host_element(const Tensor& t, RoomForElement& room);
// All elements of a tensor of integers, in row-major order.
std::vector<int64_t> host_integers(const Tensor& t);
// The reverse: numbers of the host as a vector of int64 on a device.
Tensor device_integers(IntSpan values, Device device);
// The first of contiguous int64 elements outside [least, greatest], if any.
std::optional<int64_t> first_outside(const Tensor& t, int64_t least, int64_t greatest);
// The elements as a contiguous tensor in the host's memory: `t` itself where it is one already.
Tensor on_host(const Tensor& t, DType dtype);
inline Tensor on_host(const Tensor& t) { return on_host(t, t.dtype()); }
// The reverse: moves what the host has computed to a device.
Tensor on_device(const Tensor& t, Device device);

}  // namespace fb::ops

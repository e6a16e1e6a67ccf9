// How the random operators fill a tensor: which elements get the next numbers.
#pragma once

#include "core/generator.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {

// The generator for the elements of `out`, which lie on the generator's device.
inline Generator& generator_for(const Tensor& out, Generator* generator) {
  if (!generator) return default_generator(out.device());
  FB_CHECK(generator->is_on_gpu() == (out.device().type == DeviceType::kCuda), "Expected a '",
           name_of(out.device().type), "' device type for generator but found '",
           name_of(generator->device().type), "'");
  return *generator;
}

// The dims from the slowest to the fastest in memory, which is the order in which PyTorch's
// iterators visit the elements of an output.
Dims memory_order(const Tensor& t);
Tensor permuted(const Tensor& t, const Dims& order);

// Calls fill(memory, order) for contiguous memory that becomes the elements of `out` in memory
// order.
template <class Fill>
void fill_in_memory_order(const Tensor& out, Fill&& fill) {
  if (out.numel() == 0) return;
  check_writable(out);
  if (out.is_contiguous()) return fill(out.data(), Dims());
  const Dims order = memory_order(out);
  const Tensor target = permuted(out, order);
  if (target.is_contiguous()) return fill(target.data(), order);
  const Tensor numbers = make_tensor(target.sizes(), target.dtype(), target.device());
  fill(numbers.data(), order);
  kernel::copy(target, numbers);
}

// Smallest and largest finite value of a floating type.
std::pair<double, double> limits_of(DType dtype);

// NotImplementedError for a type that PyTorch has no kernel for either.
void check_implemented(bool condition, const Tensor& t);

}  // namespace fb::ops

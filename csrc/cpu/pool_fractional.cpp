// The largest elements of windows at random positions.
#include <algorithm>

#include "core/error.h"
#include "cpu/pool.h"

namespace fb::cpu {
namespace {

template <class T>
std::vector<int64_t> window_starts(T sample, int64_t room, int64_t count) {
  FB_CHECK(sample >= 0 && sample <= 1, "_random_samples must lie in [0, 1), got ", sample);
  std::vector<int64_t> starts;
  if (count > 1) {
    const T step = static_cast<T>(room) / static_cast<T>(count - 1);
    const auto first = static_cast<int64_t>(sample * step);
    for (int64_t i = 0; i + 1 < count; ++i)
      starts.push_back(
          std::min(static_cast<int64_t>((static_cast<T>(i) + sample) * step) - first, room));
  }
  if (count > 0) starts.push_back(room);
  return starts;
}

template <class T>
PoolPlan plane_plan(const kernel::FractionalPlan& plan, const T* samples) {
  PoolPlan result;
  result.planes = 1;
  for (int64_t a = 3 - plan.rank; a < 3; ++a)
    result.axis[a] = kernel::axis_at(
        plan.in[a], plan.kernel[a],
        window_starts(samples[plan.sample_of(a)], plan.in[a] - plan.kernel[a], plan.out[a]));
  result.set_offsets();
  return result;
}

}  // namespace

void fractional_max_pool(DType dtype, const kernel::FractionalPlan& plan, const void* samples,
                         const void* in, void* out, int64_t* indices) {
  const auto width = static_cast<int64_t>(size_of(dtype));
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  for (int64_t p = 0; p < plan.planes; ++p) {
    const int64_t at = p * plan.rank;
    const PoolPlan plane = dtype == DType::kFloat64
                               ? plane_plan(plan, static_cast<const double*>(samples) + at)
                               : plane_plan(plan, static_cast<const float*>(samples) + at);
    FB_KERNEL(max_pool)(dtype, plane, from, to, nullptr, indices);
    from += plane.in_size() * width;
    to += plane.out_size() * width;
    indices += plane.out_size();
  }
}

}  // namespace fb::cpu

// Windows of pooling.
#include "kernel/pool.h"

#include <algorithm>

namespace fb::kernel {
namespace {

// Rounded up, for b > 0 and a of either sign.
int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); }

// With room for `out` windows.
PoolAxis empty_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation) {
  PoolAxis axis{in, 0, kernel, stride, dilation, 0, false, {}, {}, {}};
  for (auto* list : {&axis.origin, &axis.first, &axis.last})
    list->reserve(static_cast<size_t>(out));
  return axis;
}

}  // namespace

void PoolAxis::push(int64_t start, int64_t k_first, int64_t k_last) {
  origin.push_back(static_cast<int32_t>(start));
  first.push_back(static_cast<int32_t>(k_first));
  last.push_back(static_cast<int32_t>(k_last));
  ++out;
}

void PoolAxis::whole(int64_t& begin, int64_t& end) const {
  begin = 0;
  while (begin < out && last[begin] - first[begin] < kernel) ++begin;
  end = out;
  while (end > begin && last[end - 1] - first[end - 1] < kernel) --end;
}

PoolCover cover_of(const PoolAxis& axis) {
  PoolCover cover;
  cover.begin.assign(static_cast<size_t>(axis.in) + 1, 0);
  const auto visit = [&](auto&& f) {
    for (int64_t o = 0; o < axis.out; ++o)
      for (int32_t k = axis.first[o]; k < axis.last[o]; ++k)
        f(axis.origin[o] + k * axis.dilation, static_cast<int32_t>(o), k);
  };
  visit([&](int64_t position, int32_t, int32_t) { ++cover.begin[position + 1]; });
  for (int64_t i = 0; i < axis.in; ++i) cover.begin[i + 1] += cover.begin[i];
  cover.output.resize(static_cast<size_t>(cover.begin.back()));
  cover.number.resize(cover.output.size());
  std::vector<int32_t> next(cover.begin.begin(), cover.begin.end() - 1);
  visit([&](int64_t position, int32_t o, int32_t k) {
    const auto at = static_cast<size_t>(next[position]++);
    cover.output[at] = o;
    cover.number[at] = k;
  });
  return cover;
}

int64_t pooled_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool ceil_mode) {
  const int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  int64_t out = (ceil_mode ? ceil_div(room, stride) : floor_div(room, stride)) + 1;
  if (ceil_mode && (out - 1) * stride >= in + padding) --out;
  return out;
}

PoolAxis sliding_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
                      int64_t dilation) {
  PoolAxis axis = empty_axis(in, out, kernel, stride, dilation);
  axis.padding = padding;
  for (int64_t o = 0; o < out; ++o) {
    const int64_t start = o * stride - padding;
    const int64_t first = std::max<int64_t>(0, ceil_div(-start, dilation));
    const int64_t last = std::min(kernel, ceil_div(in - start, dilation));
    // A wide dilation may step over all of a short input. Such an empty window is placed at the
    // beginning, so that every position exists.
    if (first < last)
      axis.push(start, first, last);
    else
      axis.push(0, 0, 0);
  }
  return axis;
}

PoolAxis adaptive_axis(int64_t in, int64_t out) {
  if (out > 0 && in % out == 0) return sliding_axis(in, out, in / out, in / out, 0, 1);
  PoolAxis axis = empty_axis(in, out, 0, 0, 1);
  axis.is_even = true;
  for (int64_t o = 0; o < out; ++o) {
    const int64_t start = o * in / out;
    const int64_t length = ceil_div((o + 1) * in, out) - start;
    axis.push(start, 0, length);
    axis.kernel = std::max(axis.kernel, length);
  }
  return axis;
}

PoolAxis axis_at(int64_t in, int64_t kernel, const std::vector<int64_t>& starts) {
  PoolAxis axis = empty_axis(in, static_cast<int64_t>(starts.size()), kernel, 0, 1);
  for (const int64_t start : starts) axis.push(start, 0, kernel);
  return axis;
}

void PoolPlan::set_offsets() {
  offsets.clear();
  offsets.reserve(static_cast<size_t>(volume()));
  for (int64_t d = 0; d < axis[0].kernel; ++d)
    for (int64_t h = 0; h < axis[1].kernel; ++h)
      for (int64_t w = 0; w < axis[2].kernel; ++w)
        offsets.push_back((d * axis[0].dilation * axis[1].in + h * axis[1].dilation) * axis[2].in +
                          w * axis[2].dilation);
}

}  // namespace fb::kernel

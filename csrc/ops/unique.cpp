// Distinct elements and slices.
#include "cpu/unique.h"

#include <cstring>

#include "gen/ops/index.h"
#include "gen/ops/sort.h"
#include "gen/ops/unique.h"
#include "gen/ops/view.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

Tensor tensor_of(const std::vector<int64_t>& values, Device device) {
  Tensor t = make_tensor({static_cast<int64_t>(values.size())}, DType::kInt64, device);
  if (!values.empty()) std::memcpy(t.data(), values.data(), values.size() * sizeof(int64_t));
  return t;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::_unique(const Tensor& input, bool consecutive,
                                                    std::optional<int64_t> dim) {
  if (is_complex(input.dtype()))
    fail(ErrorKind::kNotImplemented, "not implemented for dtype ", input.dtype());
  const bool whole = !dim || input.dim() == 0;
  const int64_t d = dim ? wrap_dim(*dim, input.dim()) : 0;
  // Slices along dim become rows; without one, every element is a row.
  const Tensor x = contiguous(whole ? reshape(input, {-1}) : movedim(input, {d}, {0}));
  const int64_t n = x.sizes()[0];
  FB_CHECK(n > 0 || x.numel() == 0, "expected a non-empty dim ", d);
  const int64_t width = n == 0 ? 1 : x.numel() / n;
  FB_CHECK(whole || width > 0 || n == 0, "expected slices with elements, got shape ",
           input.sizes());
  const cpu::Slices slices{x.dtype(), x.data(), n, width};

  Tensor order;
  if (!consecutive) {
    order = width == 1 ? argsort(reshape(x, {n}), 0, false, true)
                       : tensor_of(cpu::sorted_order(slices), x.device());
  }
  Tensor inverse = make_tensor({n}, DType::kInt64, x.device());
  std::vector<int64_t> counts;
  const std::vector<int64_t> firsts = cpu::group_equal(
      slices, consecutive ? nullptr : order.data_as<int64_t>(), inverse.data_as<int64_t>(), counts);
  const Tensor values = index_select(x, 0, tensor_of(firsts, x.device()));
  return {whole ? values : movedim(values, {0}, {d}),
          whole ? reshape(inverse, input.sizes()) : inverse, tensor_of(counts, x.device())};
}

}  // namespace fb::ops

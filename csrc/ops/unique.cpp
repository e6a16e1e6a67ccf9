// Distinct elements and slices.
#include "gen/ops/unique.h"

#include "gen/ops/index.h"
#include "gen/ops/sort.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

Tensor numbers(int64_t n, Device device) { return make_tensor({n}, DType::kInt64, device); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> compute::_unique(const Tensor& input, bool consecutive,
                                                    std::optional<int64_t> dim) {
  const bool whole = !dim || input.dim() == 0;
  const int64_t d = dim ? wrap_dim(*dim, input.dim()) : 0;
  // Slices along dim become rows; without one, every element is a row.
  const Tensor x = contiguous(whole ? ops::reshape(input, {-1}) : ops::movedim(input, {d}, {0}));
  const int64_t n = x.sizes()[0];
  FB_CHECK(n > 0 || x.numel() == 0, "expected a non-empty dim ", d);
  const int64_t width = n == 0 ? 1 : x.numel() / n;
  FB_CHECK(whole || width > 0 || n == 0, "expected slices with elements, got shape ",
           input.sizes());
  const kernel::Slices slices{x.dtype(), x.data(), n, width};

  Tensor order;
  if (!consecutive && width == 1) {
    order = compute::argsort(ops::reshape(x, {n}), 0, false, true);
  } else if (!consecutive) {
    order = numbers(n, x.device());
    kernel::of(x).sorted_order(slices, order.data_as<int64_t>());
  }
  const Tensor inverse = numbers(n, x.device());
  const Tensor firsts = numbers(n, x.device()), counts = numbers(n, x.device());
  const int64_t groups = kernel::of(x).group_equal(
      slices, consecutive ? nullptr : order.data_as<int64_t>(), inverse.data_as<int64_t>(),
      firsts.data_as<int64_t>(), counts.data_as<int64_t>());
  const Tensor values = compute::index_select(x, 0, as_view(firsts, {groups}, {1}));
  return {whole ? values : ops::movedim(values, {0}, {d}),
          whole ? ops::reshape(inverse, input.sizes()) : inverse,
          groups == n ? counts : copy_contiguous(as_view(counts, {groups}, {1}))};
}

Tensor _distinct(const Tensor& input, bool consecutive) {
  const int64_t n = input.numel();
  // A gradient needs to know where elements went.
  const int wants = is_integral(input.dtype()) ? 0 : kRequiresGrad | kIsView | kDual;
  if (input->flags & (wants | kBatched) || n >= kernel::kMaxSortLength)
    return std::get<0>(ops::_unique(input, consecutive, {}));
  Tensor x = contiguous(ops::reshape(input, {-1}));
  if (!consecutive) {
    const Tensor sorted = make_tensor({n}, x.dtype(), x.device());
    if (n > 0) {
      const kernel::SortRows row{x.dtype(), x.data(), 1, n};
      kernel::of(x).sort_rows(row, n, false, sorted.data(), nullptr);
    }
    x = sorted;
  }
  const Tensor found = make_tensor({n}, x.dtype(), x.device());
  const int64_t count = kernel::of(x).distinct({x.dtype(), x.data(), n, 1}, found.data());
  return count == n ? found : copy_contiguous(as_view(found, {count}, {1}));
}

}  // namespace fb::ops

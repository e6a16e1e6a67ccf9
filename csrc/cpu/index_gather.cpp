// gather and scatter: one position per element, along one dimension.
#include <atomic>
#include <limits>

#include "cpu/index.h"
#include "cpu/strided.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

void check_range(const Tensor& index, int64_t dim, int64_t size) {
  const auto* positions = index.data_as<int64_t>();
  const auto within = FB_KERNEL(are_within);
  // The first error in the order of the elements is the one that reaches the caller.
  parallel_for(index.numel(), kGrain, [&](int64_t begin, int64_t end) {
    if (within(end - begin, positions + begin, size)) return;
    for (int64_t i = begin; i < end; ++i)
      FB_CHECK(positions[i] >= 0 && positions[i] < size, "index ", positions[i],
               " is out of bounds for dimension ", dim, " with size ", size);
  });
}

// Positions of a run.
constexpr int64_t kRun = 1024;

// Calls run(index, indexed side, other side, count, inner step) for runs of elements. All runs that
// can touch the same elements of the indexed side run in order on one thread: they differ only in
// their coordinate along `dim`. If that is the last one, `width` positions are a run: all, where
// the indexed side is written. `other_strides` are in bytes.
template <class F>
void each_run(const Tensor& indexed, int64_t dim, const Tensor& index, IntSpan other_strides,
              int64_t width, F&& run) {
  const auto size = static_cast<int64_t>(indexed.element_size());
  const int64_t last = index.dim() - 1;
  // The indexed side has stride 0 along `dim`: the positions move it.
  Dims own(static_cast<size_t>(index.dim()));
  for (int64_t d = 0; d < index.dim(); ++d) own[d] = d == dim ? 0 : indexed.strides()[d] * size;
  const Dims index_strides = index.strides().vec();
  // Rows are all dimensions but `dim` and the last; along the last run the kernels.
  Dims order;
  for (int64_t d = 0; d < last; ++d)
    if (d != dim) order.push_back(d);
  StridedLoop<3> rows(index.sizes(), {own, index_strides, other_strides}, 3, order);
  rows.sizes.push_back(1);  // so that a cursor visits all of them
  for (Dims& strides : rows.strides) strides.push_back(0);
  ++rows.ndim;
  const int64_t n = index.sizes()[last];
  const int64_t steps = dim == last ? 1 : index.sizes()[dim];
  width = std::min(n, dim == last ? width : kRun);
  const int64_t pieces = (n + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width * steps));
  parallel_for(rows.rows() * pieces, grain, [&](int64_t begin, int64_t end) {
    RowCursor<3> at(rows, 3, begin / pieces);
    int64_t piece = begin % pieces;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = piece * width;
      const int64_t count = std::min(width, n - first);
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t shift = dim == last ? 0 : i;
        run(at.offset[1] + shift * index_strides[dim] + first * index_strides[last],
            at.offset[0] + first * own[last],
            at.offset[2] + shift * other_strides[dim] + first * other_strides[last], count,
            own[last]);
      }
      if (++piece < pieces) continue;
      piece = 0;
      at.next();
    }
  });
}

Dims in_bytes(const Tensor& t) {
  Dims strides = t.strides().vec();
  for (int64_t& stride : strides) stride *= static_cast<int64_t>(t.element_size());
  return strides;
}

}  // namespace

void gather(const Tensor& out, const Tensor& input, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return;
  const int64_t length = input.sizes()[dim];
  const auto size = static_cast<int64_t>(input.element_size());
  const int64_t dim_step = input.strides()[dim] * size;
  const auto run = FB_KERNEL(gather_run);
  const auto* positions = index.data_as<int64_t>();
  const auto* source = static_cast<const char*>(input.data());
  auto* target = static_cast<char*>(out.data());
  // Each run is checked as it is read: a pass of its own over the positions would cost as much.
  std::atomic<bool> is_within{true};
  each_run(input, dim, index, in_bytes(out), kRun,
           [&](int64_t offset, int64_t in, int64_t to, int64_t n, int64_t inner_step) {
             if (!run(static_cast<size_t>(size), n, positions + offset, length, source + in,
                      inner_step, dim_step, target + to))
               is_within.store(false, std::memory_order_relaxed);
           });
  if (!is_within) check_range(index, dim, length);  // names the first
}

void scatter(const Tensor& target, int64_t dim, const Tensor& index, const Tensor& source,
             ScatterMode mode) {
  if (index.numel() == 0) return;
  check_range(index, dim, target.sizes()[dim]);
  const auto size = static_cast<int64_t>(target.element_size());
  const int64_t dim_step = target.strides()[dim] * size;
  const ScatterFn run = FB_KERNEL(scatter_kernel)(target.dtype(), mode);
  const auto* positions = index.data_as<int64_t>();
  const auto* from = static_cast<const char*>(source.data());
  auto* to = static_cast<char*>(target.data());
  const Dims steps = in_bytes(source);
  each_run(target, dim, index, steps, index.sizes()[index.dim() - 1],
           [&](int64_t offset, int64_t out, int64_t in, int64_t n, int64_t inner_step) {
             run(n, positions + offset, to + out, inner_step, dim_step, from + in, steps.back());
           });
}

void divide_by_counts(const Tensor& sums, const Tensor& counts) {
  const auto* count = counts.data_as<int64_t>();
  visit_all(sums.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* sum = sums.data_as<T>();
    parallel_for(sums.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (count[i] < 2) continue;
        if constexpr (is_integral(kDTypeOf<T>)) {
          const auto value = convert<int64_t>(sum[i]);
          const int64_t quotient = value / count[i];
          sum[i] = static_cast<T>(quotient - (value % count[i] < 0));  // rounds down
        } else if constexpr (kIsComplex<T>) {
          sum[i] = sum[i] / T(static_cast<RealOf<T>>(count[i]));
        } else {
          sum[i] = convert<T>(convert<double>(sum[i]) / static_cast<double>(count[i]));
        }
      }
    });
  });
}

}  // namespace fb::cpu

// Copies and conversions of strided memory.
#include "cpu/copy.h"

#include <cstdlib>
#include <cstring>

#include "cpu/strided.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

Dims byte_strides(const Tensor& t) {
  Dims strides = t.strides().vec();
  for (int64_t& s : strides) s *= static_cast<int64_t>(t.element_size());
  return strides;
}

// From the slowest to the fastest dimension of the target.
Dims order_by_stride(IntSpan strides) {
  Dims order(strides.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return order;
}

// Whether source and target have different fastest dimensions: rows of one are columns of the
// other.
bool is_transposition(const StridedLoop<2>& loop, int64_t element_size) {
  if (loop.ndim < 2) return false;
  const int last = loop.ndim - 1;
  if (loop.strides[0][last] != element_size || loop.inner() < 8) return false;
  for (int d = 0; d < last; ++d)
    if (loop.strides[1][d] == element_size && loop.sizes[d] >= 8) return true;
  return false;
}

// A run of a few elements costs more to start than to copy: moves a longer dimension innermost, the
// one with the smallest stride if there are several. The rows of a batch, say, are far apart.
void lengthen_runs(StridedLoop<2>& loop) {
  constexpr int64_t kShort = 8;
  if (loop.inner() >= kShort) return;
  const auto distance = [&](int d) {
    return std::abs(loop.strides[0][d]) + std::abs(loop.strides[1][d]);
  };
  int chosen = loop.ndim - 1;
  for (int d = 0; d < loop.ndim - 1; ++d)
    if (loop.sizes[d] >= kShort && (chosen == loop.ndim - 1 || distance(d) < distance(chosen)))
      chosen = d;
  for (Dims* dims : {&loop.sizes, &loop.strides[0], &loop.strides[1]})
    std::swap((*dims)[static_cast<size_t>(chosen)], dims->back());
}

template <int bytes>
void copy_units(int64_t n, const void* in, int64_t in_step, void* out, int64_t out_step) {
  const auto* from = static_cast<const char*>(in);
  auto* to = static_cast<char*>(out);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * out_step, from + i * in_step, bytes);
}

// A few elements that are adjacent on both sides, such as the channels of a pixel, are copied as
// one: takes them out of the loop and returns the copy function; null if there are none.
ConvertFn take_units(StridedLoop<2>& loop, int64_t element_size) {
  if (loop.ndim < 2 || loop.strides[0].back() != element_size ||
      loop.strides[1].back() != element_size)
    return nullptr;
  const auto copier = [&]() -> ConvertFn {
    switch (loop.inner() * element_size) {
      case 2: return copy_units<2>;
      case 3: return FB_KERNEL(copy_triples);
      case 4: return copy_units<4>;
      case 8: return copy_units<8>;
      case 12: return copy_units<12>;
      case 16: return copy_units<16>;
      default: return nullptr;
    }
  }();
  if (!copier) return nullptr;
  for (Dims* dims : {&loop.sizes, &loop.strides[0], &loop.strides[1]})
    dims->erase(static_cast<size_t>(loop.ndim - 1));
  --loop.ndim;
  return copier;
}

void copy_transposed(const StridedLoop<2>& loop, int64_t element_size, char* out, const char* in) {
  // Bring the dimension that is fast in the source next to the last one, then tile the two.
  StridedLoop<2> nest = loop;
  const int last = nest.ndim - 1;
  int fast = 0;
  while (nest.strides[1][fast] != element_size || nest.sizes[fast] < 8) ++fast;
  const int64_t columns = nest.sizes[fast];
  const int64_t column_step = nest.strides[0][fast] / element_size;
  const int64_t rows = nest.sizes[last];
  const int64_t row_step = nest.strides[1][last] / element_size;
  for (Dims* dims : {&nest.sizes, &nest.strides[0], &nest.strides[1]}) {
    dims->erase(fast);
    dims->back() = dims == &nest.sizes ? 1 : 0;
  }
  nest.ndim = last;
  const auto kernel = FB_KERNEL(transpose_tile);
  constexpr int64_t kStripe = 64;  // columns of the source that one piece of work transposes
  const int64_t stripes = (columns + kStripe - 1) / kStripe;
  const int64_t matrices = nest.rows();
  const int64_t grain = std::max<int64_t>(1, kGrain / (kStripe * rows));
  parallel_for(matrices * stripes, grain, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const RowCursor<2> at(nest, 2, piece / stripes);
      const int64_t first = piece % stripes * kStripe;
      const int64_t width = std::min(kStripe, columns - first);
      kernel(static_cast<size_t>(element_size), rows, width,
             in + at.offset[1] + first * element_size, row_step,
             out + at.offset[0] + first * column_step * element_size, column_step);
    }
  });
}

}  // namespace

ConvertFn converter(DType from, DType to) { return FB_KERNEL(convert_kernel)(from, to); }

void copy(const Tensor& out, const Tensor& in) {
  if (out.numel() == 0) return;
  if (!out.is_contiguous() || !in.is_contiguous()) {
    copy_strided(out.sizes(), {out.dtype(), static_cast<char*>(out.data()), byte_strides(out)},
                 {in.dtype(), static_cast<const char*>(in.data()), byte_strides(in)});
    return;
  }
  const ConvertFn run = converter(in.dtype(), out.dtype());
  auto* target = static_cast<char*>(out.data());
  const auto* source = static_cast<const char*>(in.data());
  const auto out_size = static_cast<int64_t>(out.element_size());
  const auto in_size = static_cast<int64_t>(in.element_size());
  parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
    run(end - begin, source + begin * in_size, in_size, target + begin * out_size, out_size);
  });
}

void to_host(const void* in, size_t bytes, void* out) { std::memcpy(out, in, bytes); }

void copy_strided(IntSpan shape, const StridedTarget& out, const StridedSource& in) {
  StridedLoop<2> loop(shape, {out.strides, in.strides}, 2, order_by_stride(out.strides));
  const auto element_size = static_cast<int64_t>(size_of(out.dtype));
  if (in.dtype == out.dtype && is_transposition(loop, element_size)) {
    copy_transposed(loop, element_size, out.data, in.data);
    return;
  }
  const ConvertFn units = in.dtype == out.dtype ? take_units(loop, element_size) : nullptr;
  lengthen_runs(loop);
  const ConvertFn run = units ? units : converter(in.dtype, out.dtype);
  const int64_t inner = loop.inner();
  const int64_t out_step = loop.strides[0].back();
  const int64_t in_step = loop.strides[1].back();
  if (loop.ndim == 1) {
    parallel_for(inner, kGrain, [&](int64_t begin, int64_t end) {
      run(end - begin, in.data + begin * in_step, in_step, out.data + begin * out_step, out_step);
    });
    return;
  }
  parallel_for(loop.rows(), std::max<int64_t>(1, kGrain / inner), [&](int64_t begin, int64_t end) {
    RowCursor<2> at(loop, 2, begin);
    for (int64_t row = begin; row < end; ++row, at.next())
      run(inner, in.data + at.offset[1], in_step, out.data + at.offset[0], out_step);
  });
}

void fill(const Tensor& out, const Scalar& value) {
  alignas(16) char element[16] = {};
  value.store(out.dtype(), element);
  const auto size = static_cast<int64_t>(out.element_size());
  auto* target = static_cast<char*>(out.data());
  if (out.numel() == 0) return;
  if (out.is_contiguous() || is_dense(out.sizes(), out.strides())) {
    const bool all_zero = std::all_of(element, element + size, [](char byte) { return byte == 0; });
    const ConvertFn run = converter(out.dtype(), out.dtype());
    parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      if (all_zero)
        std::memset(target + begin * size, 0, static_cast<size_t>((end - begin) * size));
      else
        run(end - begin, element, 0, target + begin * size, size);
    });
    return;
  }
  copy_strided(out.sizes(), {out.dtype(), target, byte_strides(out)},
               {out.dtype(), element, Dims(static_cast<size_t>(out.dim()))});
}

}  // namespace fb::cpu

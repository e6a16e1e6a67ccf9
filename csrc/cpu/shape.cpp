// Concatenation, reversal and triangles.
#include "cpu/shape.h"

#include <cstring>

#include "cpu/copy.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// The view of `out` that a part fills.
Tensor window(const Tensor& out, int64_t dim, int64_t start, int64_t length) {
  Dims sizes = out.sizes().vec();
  sizes[dim] = length;
  return inner_view(out, sizes, out.strides(), out.offset() + start * out.strides()[dim]);
}

}  // namespace

void concatenate(const Tensor& out, TensorList tensors, int64_t dim) {
  if (out.numel() == 0) return;
  int64_t outer = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= out.sizes()[d];
  // Bytes per row of a part below which copying the part as a strided whole is faster.
  constexpr int64_t kNarrow = 32;
  const auto size = static_cast<int64_t>(out.element_size());
  bool by_rows = outer > 1 && out.is_contiguous();
  for (const Tensor& t : tensors)
    by_rows &= t.is_contiguous() && t.numel() / outer * size >= kNarrow;
  if (!by_rows) {
    int64_t start = 0;
    for (const Tensor& t : tensors) {
      copy(window(out, dim, start, t.sizes()[dim]), t);
      start += t.sizes()[dim];
    }
    return;
  }
  // Everything from `dim` on is one run of bytes in every part.
  const int64_t row = out.numel() / outer;
  SmallVec<const char*, 8> sources;
  Dims widths;
  for (const Tensor& t : tensors) {
    sources.push_back(static_cast<const char*>(t.data()));
    widths.push_back(t.numel() / outer * size);
  }
  auto* target = static_cast<char*>(out.data());
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(row, 1));
  parallel_for(outer, grain, [&](int64_t begin, int64_t end) {
    char* to = target + begin * row * size;
    for (int64_t i = begin; i < end; ++i) {
      for (size_t k = 0; k < sources.size(); ++k) {
        std::memcpy(to, sources[k] + i * widths[k], static_cast<size_t>(widths[k]));
        to += widths[k];
      }
    }
  });
}

void flip(const Tensor& out, const Tensor& in, IntSpan dims) {
  if (out.numel() == 0) return;
  const auto size = static_cast<int64_t>(in.element_size());
  const auto* source = static_cast<const char*>(in.data());
  Dims from = in.strides().vec();
  Dims to = out.strides().vec();
  for (int64_t d = 0; d < in.dim(); ++d) from[d] *= size, to[d] *= size;
  for (const int64_t d : dims) {
    source += (in.sizes()[d] - 1) * from[d];
    from[d] = -from[d];
  }
  copy_strided(out.sizes(), {out.dtype(), static_cast<char*>(out.data()), to},
               {in.dtype(), source, from});
}

void clear_triangle(const Tensor& t, int64_t diagonal, bool lower) {
  const int64_t rows = t.size(-2);
  const int64_t columns = t.size(-1);
  if (t.numel() == 0) return;
  const int64_t offset = std::clamp(diagonal, -rows, columns);  // sums with it do not overflow
  const auto size = static_cast<int64_t>(t.element_size());
  auto* data = static_cast<char*>(t.data());
  // The rows with anything to clear: below the last column where a lower triangle stays, above the
  // first one where an upper one does.
  const int64_t first = lower ? 0 : std::clamp<int64_t>(1 - offset, 0, rows);
  const int64_t last = lower ? std::clamp<int64_t>(columns - 1 - offset, 0, rows) : rows;
  const int64_t count = last - first;
  if (count == 0) return;
  const int64_t matrices = t.numel() / (rows * columns);
  parallel_for(
      matrices * count, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = first + i % count;
          // The first column above the diagonal, or on it.
          const int64_t edge = std::clamp<int64_t>(row + offset + (lower ? 1 : 0), 0, columns);
          char* start = data + (i / count * rows + row) * columns * size;
          if (lower)
            std::memset(start + edge * size, 0, static_cast<size_t>((columns - edge) * size));
          else
            std::memset(start, 0, static_cast<size_t>(edge * size));
        }
      });
}

}  // namespace fb::cpu

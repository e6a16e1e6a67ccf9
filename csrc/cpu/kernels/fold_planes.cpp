// Windows of images as columns, and back.
#include <algorithm>

#include "core/error.h"
#include "cpu/fold.h"
#include "cpu/threads.h"
#include "scalar/types.h"

namespace fb::cpu::FB_ISA {
namespace {

// The windows [first, last) that have tap `k` of the kernel inside of the image.
struct Inside {
  int64_t first, last;

  Inside(const Sliding& s, int64_t k) {
    const int64_t start = k * s.dilation - s.padding, windows = s.windows();
    first = std::clamp<int64_t>(start >= 0 ? 0 : (-start + s.stride - 1) / s.stride, 0, windows);
    const int64_t room = s.size - start;
    last = std::clamp<int64_t>(room <= 0 ? 0 : (room + s.stride - 1) / s.stride, first, windows);
  }
};

// Calls f(tap of the plane's columns, row of windows, first element in the image or null) for each
// line of windows that a pair of taps sees.
template <class T, class F>
void visit_plane(const Sliding& y, const Sliding& x, T* image, F&& f) {
  for (int64_t ky = 0; ky < y.kernel; ++ky) {
    const Inside rows(y, ky);
    for (int64_t kx = 0; kx < x.kernel; ++kx) {
      const Inside in_line(x, kx);
      for (int64_t window = 0; window < y.windows(); ++window) {
        const int64_t line = (ky * x.kernel + kx) * y.windows() + window;
        const bool inside = window >= rows.first && window < rows.last;
        const int64_t row = window * y.stride + ky * y.dilation - y.padding;
        f(line * x.windows(), inside ? image + row * x.size : nullptr, in_line,
          kx * x.dilation - x.padding);
      }
    }
  }
}

template <class T>
void unfold_plane(const Sliding& y, const Sliding& x, const T* image, T* columns) {
  const int64_t n = x.windows();
  visit_plane(y, x, image, [&](int64_t at, const T* row, const Inside& in, int64_t start) {
    T* to = columns + at;
    if (!row) {
      std::fill_n(to, n, T{});
      return;
    }
    std::fill_n(to, in.first, T{});
    for (int64_t i = in.first; i < in.last; ++i) to[i] = row[i * x.stride + start];
    std::fill_n(to + in.last, n - in.last, T{});
  });
}

template <class T>
void fold_plane(const Sliding& y, const Sliding& x, const T* columns, T* image) {
  visit_plane(y, x, image, [&](int64_t at, T* row, const Inside& in, int64_t start) {
    if (!row) return;
    for (int64_t i = in.first; i < in.last; ++i) {
      T& pixel = row[i * x.stride + start];
      pixel = element_at(&pixel) + element_at(columns + at + i);
    }
  });
}

template <class F>
void for_each_plane(int64_t planes, const Sliding& y, const Sliding& x, F&& f) {
  const int64_t pixels = y.size * x.size;
  const int64_t elements = y.kernel * x.kernel * y.windows() * x.windows();
  parallel_for(planes, std::max<int64_t>(kGrain / (elements + 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) f(p * pixels, p * elements);
               });
}

template <class T>
void unfold_all(int64_t planes, const Sliding& y, const Sliding& x, const void* from, void* to) {
  for_each_plane(planes, y, x, [&](int64_t image, int64_t columns) {
    unfold_plane(y, x, static_cast<const T*>(from) + image, static_cast<T*>(to) + columns);
  });
}

template <class T>
void fold_all(int64_t planes, const Sliding& y, const Sliding& x, const void* from, void* to) {
  for_each_plane(planes, y, x, [&](int64_t image, int64_t columns) {
    fold_plane(y, x, static_cast<const T*>(from) + columns, static_cast<T*>(to) + image);
  });
}

}  // namespace

void unfold_planes(DType dtype, int64_t planes, const Sliding& y, const Sliding& x,
                   const void* image, void* columns) {
  switch (size_of(dtype)) {
    case 1: return unfold_all<uint8_t>(planes, y, x, image, columns);
    case 2: return unfold_all<uint16_t>(planes, y, x, image, columns);
    case 4: return unfold_all<uint32_t>(planes, y, x, image, columns);
    case 8: return unfold_all<uint64_t>(planes, y, x, image, columns);
    default: return unfold_all<Complex<double>>(planes, y, x, image, columns);
  }
}

void fold_planes(DType dtype, int64_t planes, const Sliding& y, const Sliding& x,
                 const void* columns, void* image) {
  switch (dtype) {
    case DType::kBool: return fold_all<bool>(planes, y, x, columns, image);
    case DType::kFloat32: return fold_all<float>(planes, y, x, columns, image);
    case DType::kFloat64: return fold_all<double>(planes, y, x, columns, image);
    case DType::kComplex64: return fold_all<Complex<float>>(planes, y, x, columns, image);
    case DType::kComplex128: return fold_all<Complex<double>>(planes, y, x, columns, image);
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

}  // namespace fb::cpu::FB_ISA

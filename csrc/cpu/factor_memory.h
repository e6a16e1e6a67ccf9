// Memory for factorisations, and column-major matrices on it.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/allocator.h"
#include "cpu/gemm.h"
#include "cpu/kernels/gemm.h"
#include "cpu/kernels/panels.h"
#include "cpu/kernels/transpose_matrix.h"
#include "cpu/threads.h"

namespace fb::cpu::factor {

// Uninitialised elements.
template <class T>
class Scratch {
 public:
  Scratch() = default;
  explicit Scratch(int64_t count) {
    if (count > 0) storage_ = allocate_cpu(count * sizeof(T));
  }
  T* get() const { return storage_ ? static_cast<T*>(storage_->data) : nullptr; }

 private:
  Storage storage_;
};

template <class T>
void copy_matrix(int64_t rows, int64_t columns, const T* from, int64_t from_ld, T* to,
                 int64_t to_ld) {
  for (int64_t j = 0; j < columns; ++j)
    std::memcpy(to + j * to_ld, from + j * from_ld, rows * sizeof(T));
}

template <class T>
void transpose(int64_t rows, int64_t columns, const T* from, int64_t from_ld, T* to,
               int64_t to_ld) {
  FB_KERNEL(transpose_matrix<T>)({columns, rows, from, from_ld, to, to_ld});
}

// A part of a matrix as kernels want it: a copy, or with kInPlace the part itself if it is stored
// that way already.
enum class Copying { kAlways, kInPlace };
template <class T>
class Padded {
 public:
  Padded(int64_t rows, int64_t columns, T* from, int64_t ld, Copying copying = Copying::kInPlace)
      : from_(from), from_ld_(ld) {
    const int64_t padded = padded_rows(rows);
    panel_ = {rows, columns, from, ld};
    if (copying == Copying::kInPlace && padded == rows && (ld == rows || columns == 1)) return;
    // Columns a power of two apart would share a few lines of the cache.
    panel_.ld = padded % 256 == 0 ? padded + kPanelUnit : padded;
    if (panel_.ld * columns > kLocal) {
      heap_ = Scratch<T>(panel_.ld * columns);
      panel_.data = heap_.get();
    } else {
      panel_.data = local_;
    }
    copy_matrix(rows, columns, from, ld, panel_.data, panel_.ld);
    for (int64_t j = 0; j < columns; ++j)
      std::fill(panel_.column(j) + rows, panel_.column(j + 1), T(0));
  }
  Padded(const Padded&) = delete;
  Padded& operator=(const Padded&) = delete;

  const Panel<T>& operator*() const { return panel_; }
  const Panel<T>* operator->() const { return &panel_; }
  Panel<const T> as_const() const { return {panel_.rows, panel_.columns, panel_.data, panel_.ld}; }
  void write_back() const {
    if (panel_.data != from_)
      copy_matrix(panel_.rows, panel_.columns, panel_.data, panel_.ld, from_, from_ld_);
  }

 private:
  static constexpr int64_t kLocal = 2048;

  T* from_;
  int64_t from_ld_;
  Panel<T> panel_;
  Scratch<T> heap_;
  alignas(64) T local_[kLocal];
};

// A column-major matrix, or the transpose of one.
template <class T>
struct Operand {
  const T* data;
  int64_t ld;
  bool transposed = false;
};

// C = A B, or C + A B, for C of m rows and n columns. A is not transposed. Tiles are computed by
// the kernel at once: each has a shape of its own, for which a library would generate code.
template <class T>
void product(int64_t m, int64_t n, int64_t k, const Operand<T>& a, const Operand<T>& b, T* c,
             int64_t ldc, bool accumulate) {
  constexpr int64_t kLarge = 1 << 16;
  // For row-major code these are the transposes.
  if (m * n > kLarge && k >= 64) {
    return gemm({.dtype = kDTypeOf<T>,
                 .batch = 1,
                 .m = n,
                 .n = m,
                 .k = k,
                 .a = {b.data, b.ld, b.transposed},
                 .b = {a.data, a.ld},
                 .c = {c, ldc},
                 .accumulate = accumulate});
  }
  FB_KERNEL(gemm_block<T>)
  ({.m = n,
    .n = m,
    .k = k,
    .a = b.data,
    .a_row = b.transposed ? 1 : b.ld,
    .a_col = b.transposed ? b.ld : 1,
    .b = a.data,
    .b_row = a.ld,
    .c = c,
    .c_row = ldc,
    .start = accumulate ? c : nullptr,
    .start_stride = ldc});
}

// Calls f(first, count) for tiles of `width` out of n columns or rows, each of which costs `work`
// multiply-adds, on as many threads as that pays for.
template <class F>
void for_each_tile(int64_t n, int64_t width, int64_t work, F&& f) {
  constexpr int64_t kWorthThread = 1 << 18;
  parallel_for((n + width - 1) / width, std::max<int64_t>(kWorthThread / (work + 1), 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin * width; i < std::min(end * width, n); i += width)
                   f(i, std::min(width, n - i));
               });
}

}  // namespace fb::cpu::factor

// Row numbers, bounds of bags, and renormalisation of rows.
#include "cpu/embedding.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/copy.h"

namespace fb::cpu {
namespace {

double norm_of(const double* row, int64_t n, double p) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double size = std::abs(row[i]);
    total =
        std::isinf(p) ? std::max(total, size) : total + (p == 2 ? size * size : std::pow(size, p));
  }
  if (std::isinf(p)) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

}  // namespace

void add_maxima(DType dtype, const void* gradient, const int64_t* rows, int64_t n, int64_t width,
                void* out) {
  visit_floating(dtype, [&](auto tag) {
    using A = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      if (rows[i] >= 0)
        static_cast<A*>(out)[rows[i] * width + i % width] += static_cast<const A*>(gradient)[i];
  });
}

BagOffsets bag_bounds(const int64_t* offsets, int64_t given, int64_t count, int64_t indices,
                      int64_t* bounds) {
  std::copy_n(offsets, given, bounds);
  BagOffsets result;
  if (given > 0) {
    result.first = bounds[0];
    result.last = bounds[given - 1];
  }
  bounds[count] = given == 0 ? 0 : indices;
  result.ascending = std::is_sorted(bounds, bounds + count + 1);
  return result;
}

void number_bags(const Bags& bags, int64_t* of_index, int64_t* sizes) {
  for (int64_t b = 0; b < bags.count; ++b) {
    sizes[b] = 0;
    for (int64_t i = bags.bounds[b]; i < bags.bounds[b + 1]; ++i) {
      of_index[i] = b;
      sizes[b] += bags.index[i] >= 0 ? 1 : 0;
    }
  }
}

void reciprocal_sizes(DType dtype, const int64_t* bags, const int64_t* sizes, int64_t n,
                      void* out) {
  visit_floating(dtype, [&](auto tag) {
    using A = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<A*>(out)[i] = A(1) / static_cast<A>(std::max<int64_t>(sizes[bags[i]], 1));
  });
}

void reciprocal_counts(DType dtype, const int64_t* numbers, int64_t n, int64_t rows, void* out) {
  std::vector<int64_t> counts(static_cast<size_t>(rows));
  for (int64_t i = 0; i < n; ++i) ++counts[numbers[i]];
  visit_floating(dtype, [&](auto tag) {
    using A = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i)
      static_cast<A*>(out)[i] = A(1) / static_cast<A>(counts[numbers[i]]);
  });
}

void replace_number(int64_t* numbers, int64_t n, int64_t number, int64_t other) {
  std::replace(numbers, numbers + n, number, other);
}

void limit_norms(const Tensor& table, const Tensor& numbers, double max_norm, double p) {
  int64_t* const first = numbers.data_as<int64_t>();
  std::sort(first, first + numbers.numel());
  const int64_t* const last = std::unique(first, first + numbers.numel());
  const int64_t width = table.size(1), step = table.strides()[1];
  std::vector<double> numbers_of_row(static_cast<size_t>(width));
  double* const x = numbers_of_row.data();
  const auto bytes = static_cast<int64_t>(table.element_size());
  const ConvertFn read = converter(table.dtype(), DType::kFloat64);
  const ConvertFn write = converter(DType::kFloat64, table.dtype());
  for (const int64_t* at = first; at != last; ++at) {
    char* const row = static_cast<char*>(table.data()) + *at * table.strides()[0] * bytes;
    read(width, row, step * bytes, x, sizeof(double));
    const double norm = norm_of(x, width, p);
    if (!(norm > max_norm)) continue;
    // A little below the limit, as in PyTorch.
    const double scale = max_norm / (norm + 1e-7);
    for (int64_t i = 0; i < width; ++i) x[i] *= scale;
    write(width, x, sizeof(double), row, step * bytes);
  }
}

}  // namespace fb::cpu

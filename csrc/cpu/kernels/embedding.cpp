// Rows of a table picked by number.
#include "cpu/embedding.h"

#include <algorithm>
#include <cstring>

#include "cpu/kernels/float_loops.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T, class A>
FB_FN void add_scaled(A* out, const T* row, int64_t n, A factor) {
  for_vectors<A>(n, [&](auto width, int64_t i) {
    constexpr int W = decltype(width)::value;
    put<W>(out + i, load<A, W>(out + i) + load<A, W>(row + i) * factor);
  });
}

template <class T>
void sums_of_bags(const RowTable& table, const Bags& bags, const AccOf<T>* factor, AccOf<T>* out) {
  using A = AccOf<T>;
  const T* const rows = static_cast<const T*>(table.data);
  const int64_t elements = bags.count == 0 ? 0 : bags.bounds[bags.count] * table.width;
  const int64_t grain = kGrain * bags.count / (elements + 1) + 1;
  parallel_for(bags.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      A* const sum = out + b * table.width;
      std::fill(sum, sum + table.width, A(0));
      for (int64_t i = bags.bounds[b]; i < bags.bounds[b + 1]; ++i)
        if (bags.index[i] >= 0)
          add_scaled(sum, rows + bags.index[i] * table.stride, table.width,
                     factor ? factor[i] : A(1));
    }
  });
}

template <class T>
void maxima_of_bags(const RowTable& table, const Bags& bags, T* out, int64_t* where) {
  using A = AccOf<T>;
  const T* const rows = static_cast<const T*>(table.data);
  parallel_for(bags.count, 1 + kGrain / (table.width * 8 + 1), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      T* const best = out + b * table.width;
      int64_t* const row = where + b * table.width;
      std::fill(row, row + table.width, int64_t{-1});
      for (int64_t d = 0; d < table.width; ++d) best[d] = convert<T>(A(0));
      for (int64_t i = bags.bounds[b]; i < bags.bounds[b + 1]; ++i) {
        const int64_t number = bags.index[i];
        if (number < 0) continue;
        for (int64_t d = 0; d < table.width; ++d) {
          const T element = rows[number * table.stride + d];
          if (row[d] >= 0 && !(load<A, 1>(&element) > load<A, 1>(best + d))) continue;
          best[d] = element;
          row[d] = number;
        }
      }
    }
  });
}

// Adds up the columns [first, last) of the rows [low, high) of out.
template <class T>
void add_block(const RowTable& from, const RowSums& sums, AccOf<T>* out, int64_t low, int64_t high,
               int64_t first, int64_t last) {
  using A = AccOf<T>;
  const T* const rows = static_cast<const T*>(from.data);
  const A* const factor = static_cast<const A*>(sums.factor);
  for (int64_t row = low; row < high; ++row)
    std::fill(out + row * from.width + first, out + row * from.width + last, A(0));
  for (int64_t i = 0; i < sums.n; ++i) {
    const int64_t target = sums.target[i];
    if (target < low || target >= high) continue;
    const int64_t source = sums.source ? sums.source[i] : i;
    add_scaled(out + target * from.width + first, rows + source * from.stride + first, last - first,
               factor ? factor[i] : A(1));
  }
}

template <class T>
void sums_of_rows(const RowTable& from, const RowSums& sums, AccOf<T>* out, int64_t out_rows) {
  constexpr int64_t kLine = 64 / sizeof(AccOf<T>);  // threads do not share cache lines
  const int64_t work = (sums.n + out_rows) * from.width;
  const int64_t threads = work < kGrain ? 1 : num_threads();
  const int64_t lines = (from.width + kLine - 1) / kLine;
  const int64_t slices = std::max<int64_t>(1, std::min(threads, lines));
  const int64_t ranges = std::max<int64_t>(1, std::min((threads + slices - 1) / slices, out_rows));
  parallel_for(slices * ranges, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t slice = unit % slices, range = unit / slices;
      add_block<T>(from, sums, out, out_rows * range / ranges, out_rows * (range + 1) / ranges,
                   std::min(from.width, lines * slice / slices * kLine),
                   std::min(from.width, lines * (slice + 1) / slices * kLine));
    }
  });
}

}  // namespace

void take_rows(const RowTable& table, const int64_t* index, int64_t n, void* out) {
  const int64_t size = static_cast<int64_t>(size_of(table.dtype));
  const size_t bytes = static_cast<size_t>(table.width * size);
  parallel_for(n, kGrain / (table.width + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(static_cast<char*>(out) + i * table.width * size,
                  static_cast<const char*>(table.data) + index[i] * table.stride * size, bytes);
  });
}

void sum_bags(const RowTable& table, const Bags& bags, const void* factor, void* out) {
  with_floating(table.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    sums_of_bags<T>(table, bags, static_cast<const AccOf<T>*>(factor), static_cast<AccOf<T>*>(out));
  });
}

void max_bags(const RowTable& table, const Bags& bags, void* out, int64_t* rows) {
  with_floating(table.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    maxima_of_bags<T>(table, bags, static_cast<T*>(out), rows);
  });
}

void add_rows(const RowTable& from, const RowSums& sums, void* out, int64_t out_rows) {
  with_floating(from.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    sums_of_rows<T>(from, sums, static_cast<AccOf<T>*>(out), out_rows);
  });
}

}  // namespace fb::cpu::FB_ISA

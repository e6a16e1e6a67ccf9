// Rows of a table picked by number, alone or in bags.
#pragma once

#include "cuda/device/embedding_args.h"
#include "cuda/device/reduce.cuh"

namespace fb::device {

__device__ inline long long own_number() {
  return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
}

// Which row, and which element of it.
struct RowElement {
  long long row, column;

  __device__ RowElement(long long number, long long width) {
    if (number < 1ll << 31 && width < 1ll << 31) {
      const unsigned part = static_cast<unsigned>(number) / static_cast<unsigned>(width);
      row = part;
      column = static_cast<unsigned>(number) - part * static_cast<unsigned>(width);
    } else {
      row = number / width;
      column = number - row * width;
    }
  }
};

// A row that does not exist is zero.
template <class T>
__device__ inline void take_element(const RowArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const RowElement at(i, args.width);
  const long long number = args.index[at.row];
  const bool good = number >= 0 && number < args.rows;
  if (!good && at.column == 0) note_bad_index(args.error, number, args.rows, 0);
  static_cast<T*>(args.out)[i] =
      good ? static_cast<const T*>(args.table)[number * args.stride + at.column] : T();
}

template <class T>
__device__ inline void check_number(const RowArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const long long number = args.index[i];
  if (number < 0 || number >= args.rows) note_bad_index(args.error, number, args.rows, 0);
}

// Of bags, numbers that are no row are left out.
__device__ inline bool counts(const RowArguments& args, long long number) {
  return number >= 0 && number < args.rows;
}

template <class T>
__device__ inline void sum_bag(const RowArguments& args) {
  using V = Wide<T>;
  const long long i = own_number();
  if (i >= args.n) return;
  const RowElement at(i, args.width);
  const auto* column = static_cast<const T*>(args.table) + at.column;
  V sum = V(0);
  for (long long k = args.bounds[at.row]; k < args.bounds[at.row + 1]; ++k) {
    const long long number = args.index[k];
    if (!counts(args, number)) continue;
    const V element = convert<V>(column[number * args.stride]);
    sum += args.factor ? element * static_cast<const V*>(args.factor)[k] : element;
  }
  static_cast<V*>(args.out)[i] = sum;
}

template <class T>
__device__ inline void max_bag(const RowArguments& args) {
  using V = Wide<T>;
  const long long i = own_number();
  if (i >= args.n) return;
  const RowElement at(i, args.width);
  const auto* column = static_cast<const T*>(args.table) + at.column;
  V best = V(0);
  long long where = -1;
  for (long long k = args.bounds[at.row]; k < args.bounds[at.row + 1]; ++k) {
    const long long number = args.index[k];
    if (!counts(args, number)) continue;
    const V element = convert<V>(column[number * args.stride]);
    if (where >= 0 && !(element > best)) continue;
    best = element;
    where = number;
  }
  static_cast<T*>(args.out)[i] = convert<T>(best);
  args.where[i] = where;
}

// --- numbers

// The row that a value is added to, or the limit.
template <class T>
__device__ inline void number_rows(const NumberArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const long long row = args.in[i];
  static_cast<T*>(args.keys)[i] = static_cast<T>(row >= 0 && row < args.limit ? row : args.limit);
}

// The same for elements of a row.
template <class T>
__device__ inline void number_maxima(const NumberArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const long long row = args.in[i];
  const long long key = row * args.width + RowElement(i, args.width).column;
  static_cast<T*>(args.keys)[i] = static_cast<T>(row >= 0 ? key : args.limit);
}

// Offsets that are wrong are noted and counted.
template <class T>
__device__ inline void bound_bag(const NumberArguments& args) {
  const long long b = own_number();
  if (b == 0) args.out[args.count] = args.n == 0 ? 0 : args.limit;
  if (b >= args.n) return;
  const long long offset = args.in[b];
  const bool falls = b > 0 && b < args.count && offset < args.in[b - 1];
  if ((b == 0 && offset != 0) || offset > args.limit || falls) {
    note_error(args.error, ErrorCode::kOffset, offset, args.limit, 0);
    atomicAdd(args.counts, 1ull);
  }
  if (b < args.count) args.out[b] = offset;
}
// Then the last bag gets everything, so that the bounds do no harm.
template <class T>
__device__ inline void mend_bound(const NumberArguments& args) {
  const long long b = own_number();
  if (b < args.count && *args.counts != 0) args.out[b] = 0;
}

// A warp for each bag.
template <class T>
__device__ inline void number_bag(const NumberArguments& args) {
  const long long bag = own_number() / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (bag >= args.n) return;
  int64_t size = 0;
  for (long long i = args.bags[bag] + lane; i < args.bags[bag + 1]; i += 32) {
    args.out[i] = bag;
    size += args.in[i] >= 0;
  }
  for (int step = 16; step > 0; step /= 2) size += __shfl_xor_sync(~0u, size, step);
  if (lane == 0) args.counts[bag] = static_cast<unsigned long long>(size);
}

template <class T>
__device__ inline void reciprocal_size(const NumberArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const long long size = args.in[args.bags[i]];
  static_cast<T*>(args.reciprocals)[i] = T(1) / static_cast<T>(size > 1 ? size : 1);
}

template <class T>
__device__ inline void count_number(const NumberArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const long long number = args.in[i];
  if (number >= 0 && number < args.limit) atomicAdd(args.counts + number, 1ull);
}

template <class T>
__device__ inline void reciprocal_count(const NumberArguments& args) {
  const long long i = own_number();
  if (i >= args.n) return;
  const long long number = args.in[i];
  const bool good = number >= 0 && number < args.limit;
  static_cast<T*>(args.reciprocals)[i] = good ? T(1) / static_cast<T>(args.counts[number]) : T(0);
}

template <class T>
__device__ inline void replace_number(const NumberArguments& args) {
  const long long i = own_number();
  if (i < args.n && args.out[i] == args.number) args.out[i] = args.other;
}

// --- norms

// A warp for each number; the first to claim a row scales it.
template <class T>
__device__ inline void limit_norm(const NormArguments& args) {
  const long long i = own_number() / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (i >= args.n) return;
  const long long row = args.numbers[i];
  if (row < 0 || row >= args.rows) return;
  unsigned before = 0;
  if (lane == 0) before = atomicCAS(args.claimed + row, 0u, 1u);
  if (__shfl_sync(~0u, before, 0) != 0) return;
  T* const x = static_cast<T*>(args.table) + row * args.row_step;
  const bool is_maximum = args.p == math::infinity<double>();
  double total = 0;
  for (long long c = lane; c < args.width; c += 32) {
    const double size = math::abs(convert<double>(x[c * args.step]));
    if (is_maximum)
      total = size > total || size != size ? size : total;
    else
      total += args.p == 2 ? size * size : args.p == 1 ? size : math::pow(size, args.p);
  }
  for (int step = 16; step > 0; step /= 2) {
    const double other = __shfl_xor_sync(~0u, total, step);
    if (is_maximum)
      total = other > total || other != other ? other : total;
    else
      total += other;
  }
  const double norm = is_maximum ? total
                      : args.p == 2 ? math::sqrt(total)
                      : args.p == 1 ? total
                                    : math::pow(total, 1 / args.p);
  if (!(norm > args.max_norm)) return;
  // A little below the limit, as in PyTorch.
  const double scale = args.max_norm / (norm + 1e-7);
  for (long long c = lane; c < args.width; c += 32)
    x[c * args.step] = convert<T>(convert<double>(x[c * args.step]) * scale);
}

}  // namespace fb::device

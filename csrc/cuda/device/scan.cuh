// Running sums, products and extrema. A scanner says what is loaded for an element, how neighbours
// are joined and what is stored.
#pragma once

#include "cuda/device/order.cuh"
#include "cuda/device/scan_args.h"
#include "scalar/arith.h"
#include "scalar/math.h"

namespace fb::device {

// As kernel::ScanOp, and others that scan.cpp has.
enum class ScanOp : int { kSum, kProd, kLogSumExp, kMax, kMin, kRecurrence, kRuns };

// Totals run in double where elements are float, as on the CPU.
template <class T>
struct RunningOf {
  using Type = T;
};
template <>
struct RunningOf<float> {
  using Type = double;
};
template <>
struct RunningOf<Complex<float>> {
  using Type = Complex<double>;
};
template <class T>
using Running = typename RunningOf<T>::Type;

// Element j of a row, in the order of the scan, is at `at` of the arrays.
template <class T, ScanOp op>
struct Scanner {
  using Total = Running<T>;
  __device__ static Total identity() { return Total(op == ScanOp::kProd ? 1 : 0); }
  __device__ static Total join(Total a, Total b) {
    return op == ScanOp::kProd ? scalar::mul(a, b) : scalar::add(a, b, Total(1));
  }
  __device__ static Total load(const ScanArguments& args, long long at, long long) {
    return convert<Total>(static_cast<const T*>(args.in)[at]);
  }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total total) {
    static_cast<T*>(args.out)[at] = convert<T>(total);
  }
};

template <class T>
struct Scanner<T, ScanOp::kLogSumExp> : Scanner<T, ScanOp::kSum> {
  using Total = Running<T>;
  __device__ static Total identity() { return Total(-math::infinity<double>()); }
  __device__ static Total join(Total a, Total b) {
    if constexpr (kIsComplex<T>) {
      const Total high = a.re > b.re ? a : b, low = a.re > b.re ? b : a;
      if (high.re == -math::infinity<double>()) return high;
      return high + math::log(Total(1) + math::exp(low - high));
    } else {
      // Equal infinities must not be subtracted; a NaN shows in the sum of the two.
      if (a == b) return a + math::kLn2<Total>;
      if ((a != a) | (b != b)) return a + b;
      const Total high = a > b ? a : b, low = a > b ? b : a;
      return high + math::log1p(math::exp(low - high));
    }
  }
};

// The last element that is at least as good as all before it; NaN is better than numbers.
template <class T, bool largest>
struct ExtremumScanner {
  struct Total {
    T value;
    long long index;  // -1: none yet
  };
  __device__ static Total identity() { return {T(0), -1}; }
  __device__ static Total join(Total a, Total b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool better = largest ? b.value >= a.value : b.value <= a.value;
    return (b.value != b.value) | (better & (a.value == a.value)) ? b : a;
  }
  __device__ static Total load(const ScanArguments& args, long long at, long long j) {
    return {static_cast<const T*>(args.in)[at], j};
  }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total best) {
    static_cast<T*>(args.out)[at] = best.value;
    args.indices[at] = best.index;
  }
};
template <class T>
struct Scanner<T, ScanOp::kMax> : ExtremumScanner<T, true> {};
template <class T>
struct Scanner<T, ScanOp::kMin> : ExtremumScanner<T, false> {};

// Maps y -> value + factor * y, one after the other.
template <class T>
struct Scanner<T, ScanOp::kRecurrence> {
  using Value = Running<T>;
  struct Total {
    Value factor, value;
  };
  __device__ static Total identity() { return {Value(1), Value(0)}; }
  __device__ static Total join(Total a, Total b) {
    return {a.factor * b.factor, b.value + b.factor * a.value};
  }
  __device__ static Total load(const ScanArguments& args, long long at, long long j) {
    const auto* factor = static_cast<const T*>(args.factor) + (args.reverse ? args.inner : 0);
    return {j == 0 ? Value(0) : convert<Value>(factor[at]),
            convert<Value>(static_cast<const T*>(args.in)[at])};
  }
  __device__ static void store(const ScanArguments& args, long long at, long long, Total total) {
    static_cast<T*>(args.out)[at] = convert<T>(total.value);
  }
};

// Sums of the elements with equal keys, added to out[key].
template <class T>
struct Scanner<T, ScanOp::kRuns> {
  using Value = Running<T>;
  struct Total {
    Value sum;
    long long begins;  // whether a key begins among the elements
  };
  __device__ static Total identity() { return {Value(0), 0}; }
  __device__ static Total join(Total a, Total b) {
    return {b.begins ? b.sum : a.sum + b.sum, a.begins | b.begins};
  }
  __device__ static Total load(const ScanArguments& args, long long at, long long j) {
    return {convert<Value>(static_cast<const T*>(args.in)[args.order[at]]),
            j == 0 || args.keys[at] != args.keys[at - 1]};
  }
  __device__ static void store(const ScanArguments& args, long long at, long long j, Total total) {
    const long long key = args.keys[at];
    if (key >= args.limit || (j + 1 < args.n && args.keys[at + 1] == key)) return;
    T& sum = static_cast<T*>(args.out)[key];
    sum = convert<T>(convert<Value>(sum) + total.sum);
  }
};

// `lanes` threads for each row, a block for several rows or for a segment of one.
template <class S, bool writes>
__device__ inline void scan_rows(const ScanArguments& args) {
  using Total = typename S::Total;
  constexpr int kItems = 4;
  const int thread = static_cast<int>(threadIdx.x), lane = thread & (args.lanes - 1);
  const long long per_block = kThreads / args.lanes;
  const long long row = blockIdx.x * per_block + thread / args.lanes;
  const bool inside = row < args.rows;
  const auto joined = [](Total a, Total b) { return S::join(a, b); };
  const long long segment = blockIdx.y, begin = segment * args.segment_length;
  const long long end = begin + args.segment_length < args.n ? begin + args.segment_length : args.n;
  Total* const totals = static_cast<Total*>(args.totals) + row * args.segments;
  Total carry = S::identity();
  if (writes)
    for (long long s = 0; s < segment; s += args.lanes) {
      const Total own = inside && s + lane < segment ? totals[s + lane] : S::identity();
      carry = S::join(carry, scan_group(own, args.lanes, S::identity(), joined).total);
    }
  for (long long tile = begin; tile < end; tile += args.lanes * kItems) {
    const long long first = tile + lane * kItems;
    Total items[kItems], own = S::identity();
    for (int k = 0; k < kItems; ++k) {
      const long long j = first + k;
      items[k] = S::identity();
      if (!inside || j >= end) continue;
      items[k] = S::load(args, row * args.n + (args.reverse ? args.n - 1 - j : j), j);
      own = S::join(own, items[k]);
    }
    const Scanned<Total> scanned = scan_group(own, args.lanes, S::identity(), joined);
    if (writes) {
      Total total = S::join(carry, scanned.before);
      for (int k = 0; k < kItems; ++k) {
        const long long j = first + k;
        if (!inside || j >= end) break;
        total = S::join(total, items[k]);
        S::store(args, row * args.n + (args.reverse ? args.n - 1 - j : j), j, total);
      }
    }
    carry = S::join(carry, scanned.total);
  }
  if (!writes && inside && lane == 0) totals[segment] = carry;
}

// A thread for each row, or for a segment of it: neighbours have neighbouring rows.
template <class S, bool writes>
__device__ inline void scan_columns(const ScanArguments& args) {
  using Total = typename S::Total;
  const long long row = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= args.rows) return;
  const long long outer = row / args.inner;
  const long long base = outer * args.n * args.inner + (row - outer * args.inner);
  const long long segment = blockIdx.y, begin = segment * args.segment_length;
  const long long end = begin + args.segment_length < args.n ? begin + args.segment_length : args.n;
  Total* const totals = static_cast<Total*>(args.totals);
  Total total = S::identity();
  if (writes)
    for (long long s = 0; s < segment; ++s) total = S::join(total, totals[s * args.rows + row]);
  for (long long j = begin; j < end; ++j) {
    const long long at = base + (args.reverse ? args.n - 1 - j : j) * args.inner;
    total = S::join(total, S::load(args, at, j));
    if (writes) S::store(args, at, j, total);
  }
  if (!writes) totals[segment * args.rows + row] = total;
}

template <class T, ScanOp op>
__device__ inline void scan_totals(const ScanArguments& args) {
  if (args.inner > 1)
    scan_columns<Scanner<T, op>, false>(args);
  else
    scan_rows<Scanner<T, op>, false>(args);
}

template <class T, ScanOp op>
__device__ inline void scan_elements(const ScanArguments& args) {
  if (args.inner > 1)
    scan_columns<Scanner<T, op>, true>(args);
  else
    scan_rows<Scanner<T, op>, true>(args);
}

}  // namespace fb::device

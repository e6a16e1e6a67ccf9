// Reductions. A reducer has an accumulator, adds elements to it, joins two of them and finishes.
#pragma once

#include "cuda/device/lanes.cuh"
#include "cuda/device/reduce_args.h"
#include "scalar/arith.h"
#include "scalar/compare.h"

namespace fb::device {

// As kernel::ReduceOp.
enum class ReduceOp : int {
  kSum,
  kNanSum,
  kProd,
  kAmax,
  kAmin,
  kAny,
  kAll,
  kCountNonzero,
  kNorm1,
  kNorm2,
  kNormInf,
  kNormNegInf,
  kVar,
  kStd,
  kMaxIndex,
  kMinIndex,
};

template <class T, bool integer = kIsInteger<T> && !kIsSmallFloat<T>>
struct SumOf {
  using Type = Wide<T>;
};
template <class T>
struct SumOf<T, true> {
  using Type = int64_t;
};

// What a sum is stored as.
template <class T, bool integer = kIsInteger<T> && !kIsSmallFloat<T>>
struct OutOf {
  using Type = T;
};
template <class T>
struct OutOf<T, true> {
  using Type = int64_t;
};

template <class T>
__device__ inline bool is_nan(T x) {
  if constexpr (kIsComplex<T>)
    return (x.re != x.re) | (x.im != x.im);
  else
    return x != x;
}

// --- sums and products

template <class T, ReduceOp op>
struct Reducer {
  static constexpr bool kIsProduct = op == ReduceOp::kProd;
  using Value = Wide<T>;
  using Total = typename SumOf<T>::Type;
  Total total = Total(kIsProduct ? 1 : 0);

  __device__ void add(Value x, long long) {
    if constexpr (op == ReduceOp::kNanSum) {
      if (is_nan(x)) return;
    }
    const Total each = convert<Total>(x);
    total = kIsProduct ? scalar::mul(total, each) : scalar::add(total, each, Total(1));
  }
  __device__ void join(const Reducer& other) {
    total = kIsProduct ? scalar::mul(total, other.total)
                       : scalar::add(total, other.total, Total(1));
  }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    Total result = total;
    if constexpr (op == ReduceOp::kSum && !(kIsInteger<T> && !kIsSmallFloat<T>)) {
      if (args.param != 0) result = result / convert<Total>(args.param);
    }
    using Out = typename OutOf<T>::Type;
    static_cast<Out*>(args.out)[at] = convert<Out>(result);
  }
};

// --- counts and truths

template <class T>
struct Reducer<T, ReduceOp::kCountNonzero> {
  using Value = T;
  int64_t count = 0;
  template <int n>
  __device__ void add_all(const T (&x)[n]) {
    int near = 0;
#pragma unroll
    for (int k = 0; k < n; ++k) near += convert<bool>(x[k]);
    count += near;
  }
  __device__ void join(const Reducer& other) { count += other.count; }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    static_cast<int64_t*>(args.out)[at] = count;
  }
};

// Whether an element is true, or with `all` whether one is false.
template <class T, bool all>
struct Finder {
  using Value = T;
  int found = 0;
  __device__ void add(T x, long long) { found |= convert<bool>(x) != all; }
  __device__ void join(const Finder& other) { found |= other.found; }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    static_cast<unsigned char*>(args.out)[at] = (found != 0) != all;
  }
};
template <class T>
struct Reducer<T, ReduceOp::kAny> : Finder<T, false> {};
template <class T>
struct Reducer<T, ReduceOp::kAll> : Finder<T, true> {};

// --- extrema: NaN is larger and smaller than everything

// What every number is at least, or at most.
template <class V, bool largest>
__device__ inline V worst_of() {
  if constexpr (kIsFloat<V>) {
    return largest ? -math::infinity<V>() : math::infinity<V>();
  } else if constexpr (kIsBool<V>) {
    return !largest;
  } else {
    constexpr bool has_sign = V(-1) < V(0);
    const V lowest = has_sign ? static_cast<V>(V(1) << (8 * sizeof(V) - 1)) : V(0);
    return largest ? lowest : static_cast<V>(~lowest);
  }
}

template <class T, bool largest>
struct Extremum {
  using Value = Wide<T>;
  Value value = worst_of<Value, largest>();

  __device__ void add(Value x, long long) {
    value = largest ? scalar::maximum(value, x) : scalar::minimum(value, x);
  }
  __device__ void join(const Extremum& other) { add(other.value, 0); }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    static_cast<Stored<T>*>(args.out)[at] = convert<T>(value);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kAmax> : Extremum<T, true> {};
template <class T>
struct Reducer<T, ReduceOp::kAmin> : Extremum<T, false> {};

// With its position, the first of equals. Elements are added in their order.
template <class T, bool largest>
struct PlacedExtremum {
  using Value = Wide<T>;
  Value value = worst_of<Value, largest>();
  long long index = -1;  // until an element is better than the worst

  static __device__ bool better(Value a, Value b) { return largest ? a > b : a < b; }
  __device__ void add(Value x, long long i) {
    if (!(better(x, value) | (is_nan(x) & !is_nan(value)))) return;
    value = x;
    index = i;
  }
  __device__ void join(const PlacedExtremum& other) {
    const bool first = static_cast<unsigned long long>(other.index) <
                       static_cast<unsigned long long>(index);
    const bool equal = (other.value == value) | (is_nan(other.value) & is_nan(value));
    if (!(equal ? first
                : better(other.value, value) | (is_nan(other.value) & !is_nan(value))))
      return;
    value = other.value;
    index = other.index;
  }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    if (args.out) static_cast<Stored<T>*>(args.out)[at] = convert<T>(value);
    if (args.out2) static_cast<int64_t*>(args.out2)[at] = index < 0 ? 0 : index;
  }
};
template <class T>
struct Reducer<T, ReduceOp::kMaxIndex> : PlacedExtremum<T, true> {};
template <class T>
struct Reducer<T, ReduceOp::kMinIndex> : PlacedExtremum<T, false> {};

// --- norms

template <class T, ReduceOp op>
struct Norm {
  using Value = Wide<T>;
  using Total = RealOf<Value>;
  Total total = Total(0);
  bool any = false;

  __device__ void combine(Total size) {
    if constexpr (op == ReduceOp::kNorm1 || op == ReduceOp::kNorm2)
      total += size;
    else if constexpr (op == ReduceOp::kNormInf)
      total = any ? scalar::maximum(total, size) : size;
    else
      total = any ? scalar::minimum(total, size) : size;
    any = true;
  }
  __device__ void add(Value x, long long) {
    if constexpr (op == ReduceOp::kNorm2 && kIsComplex<Value>)
      combine(x.re * x.re + x.im * x.im);
    else if constexpr (op == ReduceOp::kNorm2)
      combine(x * x);
    else
      combine(math::abs(x));
  }
  __device__ void join(const Norm& other) {
    if (other.any) combine(other.total);
  }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    const Total result = op == ReduceOp::kNorm2 ? math::sqrt(total) : total;
    using Out = RealOf<T>;
    static_cast<Out*>(args.out)[at] = convert<Out>(result);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kNorm1> : Norm<T, ReduceOp::kNorm1> {};
template <class T>
struct Reducer<T, ReduceOp::kNorm2> : Norm<T, ReduceOp::kNorm2> {};
template <class T>
struct Reducer<T, ReduceOp::kNormInf> : Norm<T, ReduceOp::kNormInf> {};
template <class T>
struct Reducer<T, ReduceOp::kNormNegInf> : Norm<T, ReduceOp::kNormNegInf> {};

// --- variance: the mean and the squares around it, in one pass

template <class T>
struct Moments {
  using Value = Wide<T>;
  Value count = Value(0), mean = Value(0), squares = Value(0);

  // Several at once: each by itself would cost a division.
  template <int n>
  __device__ void add_all(const Value (&x)[n]) {
    Moments near;
    near.count = Value(n);
#pragma unroll
    for (int k = 0; k < n; ++k) near.mean += x[k];
    near.mean /= Value(n);
#pragma unroll
    for (int k = 0; k < n; ++k) near.squares += (x[k] - near.mean) * (x[k] - near.mean);
    join(near);
  }
  __device__ void join(const Moments& other) {
    const Value all = count + other.count, apart = other.mean - mean;
    const Value share = other.count / (all == Value(0) ? Value(1) : all);
    mean += apart * share;
    // In this order what has no elements adds zero, however large the other mean.
    squares += other.squares + apart * (apart * (share * count));
    count = all;
  }
  __device__ void finish_as(const ReduceArguments& args, long long at, bool root) const {
    const auto all = static_cast<double>(args.length);
    const double free = all - args.param > 0 ? all - args.param : 0;
    const Value variance = squares / static_cast<Value>(free);
    static_cast<T*>(args.out)[at] = convert<T>(root ? math::sqrt(variance) : variance);
    if (args.out2)
      static_cast<T*>(args.out2)[at] = convert<T>(all == 0 ? Value(0) / Value(0) : mean);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kVar> : Moments<T> {
  __device__ void finish(const ReduceArguments& args, long long at) const {
    this->finish_as(args, at, false);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kStd> : Moments<T> {
  __device__ void finish(const ReduceArguments& args, long long at) const {
    this->finish_as(args, at, true);
  }
};

// --- the loops

__device__ inline long long offset_in(const ReduceLoop& loop, long long number,
                                      const long long* strides) {
  long long offset = 0;
  for (int d = loop.dims - 1; d > 0; --d) {
    const long long next = number / loop.sizes[d];
    offset += (number - next * loop.sizes[d]) * strides[d];
    number = next;
  }
  return loop.dims ? offset + number * strides[0] : 0;
}

// How a thread reads what is reduced. The host knows it too: cuda/reduce.cpp.
enum class ReduceReads : int {
  kPacks,    // neighbours, at once
  kScraps,   // the same where the address does not suit packs: one by one
  kLine,     // elements of one dimension
  kAnywhere  // of several
};

// Where elements of a result are: one after the other, `by` apart in their order. Of two dimensions
// the place of the next one follows without a division.
template <ReduceReads reads>
struct ReduceWalk {
  const ReduceLoop& loop;
  long long number, row, inside, rows, rest;
  int by;

  __device__ ReduceWalk(const ReduceLoop& loop, long long first, int by)
      : loop(loop), number(first), row(0), inside(0), rows(0), rest(0), by(by) {
    if (reads == ReduceReads::kLine || loop.dims != 2) return;
    const long long size = loop.sizes[1];
    row = first / size, inside = first - row * size;
    rows = by / size, rest = by - rows * size;
  }
  __device__ long long next() {
    long long offset;
    if constexpr (reads == ReduceReads::kLine) {
      offset = loop.dims ? number * loop.in[0] : 0;
    } else if (loop.dims == 2) {
      offset = row * loop.in[0] + inside * loop.in[1];
      row += rows, inside += rest;
      if (inside >= loop.sizes[1]) inside -= loop.sizes[1], ++row;
    } else {
      offset = offset_in(loop, number, loop.in);
    }
    number += by;
    return offset;
  }
};

// How threads join what they have.
struct JoinReducers {
  template <class R>
  __device__ R operator()(R a, const R& b) const {
    a.join(b);
    return a;
  }
};

inline constexpr int kReduceParts = 4;  // accumulators of a thread
inline constexpr int kReduceLoads = 8;  // elements that it has on their way together
// The same of packs, whose elements are many numbers where they are small.
template <class T>
inline constexpr int kReducePacks = sizeof(Stored<T>) >= 4 ? 8 : 4;

// Adds neighbours, the `turn`th that this thread reads. Which accumulator an element goes to does
// not depend on how it is read.
template <class R, int n>
__device__ inline void add_neighbours(R (&parts)[kReduceParts], int turn,
                                      const typename R::Value (&x)[n], long long first) {
  if constexpr (requires { parts[0].add_all(x); }) {
    parts[turn % kReduceParts].add_all(x);
  } else {
#pragma unroll
    for (int k = 0; k < n; ++k) parts[(turn * n + k) % kReduceParts].add(x[k], first + k);
  }
}

// Adds the elements from `begin` on, every lane its own packs.
template <class T, ReduceReads reads, class R>
__device__ inline void reduce_packs(R (&parts)[kReduceParts], const Stored<T>* in, long long begin,
                                    long long end, const LanePlace& place) {
  constexpr int kWide = kReducePack<sizeof(Stored<T>)>, kLoads = kReducePacks<T>;
  using Packed = Pack<Stored<T>, kWide>;
  const auto load = [&](long long i) {
    Packed pack;
    if constexpr (reads == ReduceReads::kPacks) {
      pack = *reinterpret_cast<const Packed*>(in + i);
    } else {
#pragma unroll
      for (int k = 0; k < kWide; ++k) pack.at[k] = in[i + k];
    }
    return pack;
  };
  const auto add = [&](const Packed& pack, int turn, long long i) {
    typename R::Value x[kWide];
#pragma unroll
    for (int k = 0; k < kWide; ++k)
      x[k] = convert<typename R::Value>(from_memory<T>(pack.at[k]));
    add_neighbours(parts, turn, x, i);
  };
  const long long step = static_cast<long long>(place.lanes) * kWide;
  long long i = begin + place.lane * kWide;
  Packed packs[kLoads];
  for (; i + (kLoads - 1) * step + kWide <= end; i += kLoads * step) {
#pragma unroll
    for (int p = 0; p < kLoads; ++p) packs[p] = load(i + p * step);
#pragma unroll
    for (int p = 0; p < kLoads; ++p) add(packs[p], p, i + p * step);
  }
#pragma unroll
  for (int p = 0; p < kLoads; ++p)
    if (i + p * step + kWide <= end) packs[p] = load(i + p * step);
#pragma unroll
  for (int p = 0; p < kLoads; ++p)
    if (i + p * step + kWide <= end) add(packs[p], p, i + p * step);
  const long long rest = end - (end - begin) % kWide;  // the incomplete pack
  for (long long j = rest + place.lane; j < end; j += place.lanes) {
    const typename R::Value x[1] = {convert<typename R::Value>(from_memory<T>(in[j]))};
    add_neighbours(parts, 0, x, j);
  }
}

// The same of elements anywhere.
template <class T, ReduceReads reads, class R>
__device__ inline void reduce_singly(R (&parts)[kReduceParts], const Stored<T>* in,
                                     const ReduceLoop& loop, long long begin, long long end,
                                     const LanePlace& place) {
  const int lanes = place.lanes;
  long long r = begin + place.lane;
  ReduceWalk<reads> walk(loop, r, lanes);
  const auto load = [&] { return convert<typename R::Value>(from_memory<T>(in[walk.next()])); };
  typename R::Value values[kReduceLoads];
  for (; r + (kReduceLoads - 1) * lanes < end; r += kReduceLoads * lanes) {
#pragma unroll
    for (int k = 0; k < kReduceLoads; ++k) values[k] = load();
    if constexpr (requires { parts[0].add_all(values); }) {
      parts[0].add_all(values);
    } else {
#pragma unroll
      for (int k = 0; k < kReduceLoads; ++k)
        parts[k % kReduceParts].add(values[k], r + k * lanes);
    }
  }
#pragma unroll
  for (int k = 0; k < kReduceLoads; ++k)
    if (r + k * lanes < end) values[k] = load();
#pragma unroll
  for (int k = 0; k < kReduceLoads; ++k)
    if (r + k * lanes < end) {
      const typename R::Value x[1] = {values[k]};
      add_neighbours(parts, k, x, r + k * lanes);
    }
}

template <class T, ReduceOp op, ReduceReads reads>
__device__ inline void reduce_elements(const ReduceArguments& args) {
  using R = Reducer<T, op>;
  const LanePlace place(args.lanes, args.columns);
  const bool inside = place.item < args.results;
  R parts[kReduceParts];
  if (inside) {
    const auto* in = static_cast<const Stored<T>*>(args.in) +
                     offset_in(args.kept, place.item, args.kept.in);
    const long long begin = blockIdx.y * args.segment_length;
    const long long end =
        begin + args.segment_length < args.length ? begin + args.segment_length : args.length;
    if constexpr (reads == ReduceReads::kPacks || reads == ReduceReads::kScraps)
      reduce_packs<T, reads>(parts, in, begin, end, place);
    else
      reduce_singly<T, reads>(parts, in, args.reduced, begin, end, place);
#pragma unroll
    for (int k = 1; k < kReduceParts; ++k) parts[0].join(parts[k]);
  }
  const R joined = join_lanes(place, parts[0], JoinReducers());
  if (!inside || place.lane != 0) return;
  if (args.segments == 1)
    joined.finish(args, offset_in(args.kept, place.item, args.kept.out));
  else
    static_cast<R*>(args.partial)[place.item * args.segments + blockIdx.y] = joined;
}

template <class T, ReduceOp op>
__device__ inline void reduce_segments(const ReduceArguments& args) {
  using R = Reducer<T, op>;
  const LanePlace place(args.lanes, false);
  const bool inside = place.item < args.results;
  R own;
  if (inside)
    for (long long s = place.lane; s < args.segments; s += args.lanes)
      own.join(static_cast<const R*>(args.partial)[place.item * args.segments + s]);
  const R joined = join_neighbours(place, own, JoinReducers());
  if (inside && place.lane == 0)
    joined.finish(args, offset_in(args.kept, place.item, args.kept.out));
}

}  // namespace fb::device

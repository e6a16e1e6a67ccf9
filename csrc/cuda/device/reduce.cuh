// Reductions. A reducer has an accumulator, adds elements to it, joins two of them and finishes.
#pragma once

#include "cuda/device/base.cuh"
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
struct Counter {
  using Value = T;
  int64_t count = 0;
  __device__ void join(const Counter& other) { count += other.count; }
  __device__ void add_if(bool counts) { count += counts; }
};

template <class T>
struct Reducer<T, ReduceOp::kCountNonzero> : Counter<T> {
  __device__ void add(T x, long long) { this->add_if(convert<bool>(x)); }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    static_cast<int64_t*>(args.out)[at] = this->count;
  }
};
template <class T>
struct Reducer<T, ReduceOp::kAny> : Counter<T> {
  __device__ void add(T x, long long) { this->add_if(convert<bool>(x)); }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    static_cast<unsigned char*>(args.out)[at] = this->count != 0;
  }
};
template <class T>
struct Reducer<T, ReduceOp::kAll> : Counter<T> {
  __device__ void add(T x, long long) { this->add_if(!convert<bool>(x)); }
  __device__ void finish(const ReduceArguments& args, long long at) const {
    static_cast<unsigned char*>(args.out)[at] = this->count == 0;
  }
};

// --- extrema: NaN is larger and smaller than everything, the first of equals counts

template <class T, bool largest>
struct Extremum {
  using Value = Wide<T>;
  Value value{};
  long long index = -1;  // none yet

  __device__ bool beats(Value x, long long i) const {
    if (index < 0) return true;
    if (is_nan(value) | is_nan(x)) return is_nan(x) & (!is_nan(value) | (i < index));
    if (x == value) return i < index;
    return largest ? x > value : x < value;
  }
  __device__ void add(Value x, long long i) {
    if (!beats(x, i)) return;
    value = x;
    index = i;
  }
  __device__ void join(const Extremum& other) {
    if (other.index >= 0) add(other.value, other.index);
  }
  __device__ void store_value(void* out, long long at) const {
    static_cast<Stored<T>*>(out)[at] = convert<T>(value);
  }
  __device__ void finish_index(const ReduceArguments& args, long long at) const {
    if (args.out) store_value(args.out, at);
    if (args.out2) static_cast<int64_t*>(args.out2)[at] = index;
  }
};

template <class T>
struct Reducer<T, ReduceOp::kAmax> : Extremum<T, true> {
  __device__ void finish(const ReduceArguments& args, long long at) const {
    this->store_value(args.out, at);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kAmin> : Extremum<T, false> {
  __device__ void finish(const ReduceArguments& args, long long at) const {
    this->store_value(args.out, at);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kMaxIndex> : Extremum<T, true> {
  __device__ void finish(const ReduceArguments& args, long long at) const {
    this->finish_index(args, at);
  }
};
template <class T>
struct Reducer<T, ReduceOp::kMinIndex> : Extremum<T, false> {
  __device__ void finish(const ReduceArguments& args, long long at) const {
    this->finish_index(args, at);
  }
};

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
  double count = 0;
  Value mean = Value(0), squares = Value(0);

  __device__ void add(Value x, long long) {
    count += 1;
    const Value before = x - mean;
    mean += before / static_cast<Value>(count);
    squares += before * (x - mean);
  }
  __device__ void join(const Moments& other) {
    if (other.count == 0) return;
    const double all = count + other.count;
    const Value apart = other.mean - mean;
    const auto share = static_cast<Value>(other.count / all);
    mean += apart * share;
    squares += other.squares + apart * apart * share * static_cast<Value>(count);
    count = all;
  }
  __device__ void finish_as(const ReduceArguments& args, long long at, bool root) const {
    const double free = count - args.param > 0 ? count - args.param : 0;
    const Value variance = squares / static_cast<Value>(free);
    static_cast<T*>(args.out)[at] = convert<T>(root ? math::sqrt(variance) : variance);
    if (args.out2) static_cast<T*>(args.out2)[at] = convert<T>(count == 0 ? Value(0) / Value(0) : mean);
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

struct ReducePlace {
  int lane, local, per_block;
  long long result;
};
__device__ inline ReducePlace place_in(const ReduceArguments& args) {
  const int thread = static_cast<int>(threadIdx.x);
  const int per_block = kThreads / args.lanes;
  const int local = args.columns ? thread % per_block : thread / args.lanes;
  const int lane = args.columns ? thread / per_block : thread % args.lanes;
  return {lane, local, per_block, static_cast<long long>(blockIdx.x) * per_block + local};
}

// Joins the accumulators of the lanes of each result, in a fixed order.
template <class R>
__device__ inline R join_lanes(const ReduceArguments& args, const ReducePlace& place, R own) {
  alignas(16) __shared__ unsigned char room[kThreads * sizeof(R)];
  R* const shared = reinterpret_cast<R*>(room);
  shared[place.lane * place.per_block + place.local] = own;
  for (int half = args.lanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (place.lane < half)
      shared[place.lane * place.per_block + place.local].join(
          shared[(place.lane + half) * place.per_block + place.local]);
  }
  __syncthreads();
  return shared[place.local];
}

inline constexpr int kReduceParts = 4;  // accumulators of a thread
inline constexpr int kReduceLoads = 8;  // elements that it has on their way together

// Adds the elements from `begin` on, every lane its own packs. Which accumulator an element goes to
// does not depend on how it is read.
template <class T, class R>
__device__ inline void reduce_packs(R (&parts)[kReduceParts], const Stored<T>* in, long long begin,
                                    long long end, const ReducePlace& place, int lanes) {
  constexpr int kWide = kReducePack<sizeof(Stored<T>)>;
  using Packed = Pack<Stored<T>, kWide>;
  const bool aligned = reinterpret_cast<unsigned long long>(in + begin) % sizeof(Packed) == 0;
  const auto load = [&](long long i) {
    if (aligned) return *reinterpret_cast<const Packed*>(in + i);
    Packed pack;
#pragma unroll
    for (int k = 0; k < kWide; ++k) pack.at[k] = in[i + k];
    return pack;
  };
  const auto add = [&](const Packed& pack, long long i) {
#pragma unroll
    for (int k = 0; k < kWide; ++k)
      parts[k % kReduceParts].add(convert<typename R::Value>(from_memory<T>(pack.at[k])), i + k);
  };
  const long long step = static_cast<long long>(lanes) * kWide;
  long long i = begin + place.lane * kWide;
  for (; i + step + kWide <= end; i += 2 * step) {
    const Packed a = load(i), b = load(i + step);
    add(a, i);
    add(b, i + step);
  }
  for (; i + kWide <= end; i += step) add(load(i), i);
  for (; i < end; ++i)  // the lane whose pack is incomplete
    parts[0].add(convert<typename R::Value>(from_memory<T>(in[i])), i);
}

template <class T, ReduceOp op>
__device__ inline void reduce_elements(const ReduceArguments& args) {
  using R = Reducer<T, op>;
  const ReducePlace place = place_in(args);
  const bool inside = place.result < args.results;
  R parts[kReduceParts];
  if (inside) {
    const auto* in = static_cast<const Stored<T>*>(args.in) +
                     offset_in(args.kept, place.result, args.kept.in);
    const long long begin = blockIdx.y * args.segment_length;
    const long long end =
        begin + args.segment_length < args.length ? begin + args.segment_length : args.length;
    const auto value_at = [&](long long offset) {
      return convert<typename R::Value>(from_memory<T>(in[offset]));
    };
    long long r = begin + place.lane;
    if (args.packed) {
      reduce_packs<T>(parts, in, begin, end, place, args.lanes);
    } else if (args.reduced.dims <= 1) {
      const long long step = args.reduced.dims ? args.reduced.in[0] : 0;
      for (; r + (kReduceLoads - 1) * args.lanes < end; r += kReduceLoads * args.lanes) {
        typename R::Value values[kReduceLoads];
#pragma unroll
        for (int k = 0; k < kReduceLoads; ++k) values[k] = value_at((r + k * args.lanes) * step);
#pragma unroll
        for (int k = 0; k < kReduceLoads; ++k)
          parts[k % kReduceParts].add(values[k], r + k * args.lanes);
      }
      for (; r < end; r += args.lanes) parts[0].add(value_at(r * step), r);
    } else {
      for (; r < end; r += args.lanes)
        parts[0].add(value_at(offset_in(args.reduced, r, args.reduced.in)), r);
    }
    for (int k = 1; k < kReduceParts; ++k) parts[0].join(parts[k]);
  }
  const R joined = join_lanes(args, place, parts[0]);
  if (!inside || place.lane != 0) return;
  if (args.segments == 1)
    joined.finish(args, offset_in(args.kept, place.result, args.kept.out));
  else
    static_cast<R*>(args.partial)[place.result * args.segments + blockIdx.y] = joined;
}

template <class T, ReduceOp op>
__device__ inline void reduce_segments(const ReduceArguments& args) {
  using R = Reducer<T, op>;
  const ReducePlace place = place_in(args);
  const bool inside = place.result < args.results;
  R own;
  if (inside)
    for (long long s = place.lane; s < args.segments; s += args.lanes)
      own.join(static_cast<const R*>(args.partial)[place.result * args.segments + s]);
  const R joined = join_lanes(args, place, own);
  if (inside && place.lane == 0)
    joined.finish(args, offset_in(args.kept, place.result, args.kept.out));
}

}  // namespace fb::device

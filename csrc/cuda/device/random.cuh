// Random numbers of given distributions.
//
// Note [Order of random numbers]: as in PyTorch, threads go through the elements in steps of the
// grid. A thread draws as many numbers at once as four words are worth, the k-th of which goes to
// the element k grids further on. So a grid must have PyTorch's size (see random.cpp).
#pragma once

#include "cuda/device/philox.cuh"
#include "cuda/device/random_args.h"
#include "cuda/device/reduce.cuh"

namespace fb::device {

// What numbers for elements of type T are computed in.
template <class T>
struct RealFor {
  using Type = float;
};
template <>
struct RealFor<double> {
  using Type = double;
};
template <class T>
using Real = typename RealFor<T>::Type;

__device__ inline long long thread_number() {
  return static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
}

template <class V, int many>
struct Numbers {
  V at[many];
};

// Calls store(element, number) with the numbers that draw(stream) returns.
template <class Draw, class Store>
__device__ inline void for_each_number(const Draws& draws, long long n, Draw draw, Store store) {
  const long long self = thread_number(), threads = static_cast<long long>(gridDim.x) * kThreads;
  Philox stream(draws, self);
  for (long long i = self; i < n;) {
    const auto numbers = draw(stream.next());
#pragma unroll
    for (const auto number : numbers.at) {
      if (i < n) store(i, number);
      i += threads;
    }
  }
}

template <class V>
__device__ inline auto uniforms(const Words& words) {
  if constexpr (kIsSame<V, double>)
    return Numbers<double, 2>{
        {uniform_of(words.at[0], words.at[1]), uniform_of(words.at[2], words.at[3])}};
  else
    return Numbers<float, 4>{{uniform_of(words.at[0]), uniform_of(words.at[1]),
                              uniform_of(words.at[2]), uniform_of(words.at[3])}};
}

template <class V>
__device__ inline auto normals(const Words& words) {
  if constexpr (kIsSame<V, double>) {
    const DoublePair pair = normal_of(words.at[0], words.at[1], words.at[2], words.at[3]);
    return Numbers<double, 2>{{pair.first, pair.second}};
  } else {
    const FloatPair a = normal_of(words.at[0], words.at[1]);
    const FloatPair b = normal_of(words.at[2], words.at[3]);
    return Numbers<float, 4>{{a.first, a.second, b.first, b.second}};
  }
}

// --- distributions with fixed parameters

enum class Distribution {
  kUniform,
  kNormal,
  kLogNormal,
  kExponential,
  kCauchy,
  kGeometric,
  kBernoulli,
};

// PyTorch's, whose last bits show in its numbers.
__device__ inline float fast_log(float x) { return __logf(x); }
__device__ inline double fast_log(double x) { return math::log(x); }

// Of a number that is uniform on (0, 1], or standard normal.
template <class T, Distribution distribution, class V>
__device__ inline V transformed(V number, V first, V second) {
  constexpr V kEpsilon = math::Format<V>::kEpsilon;
  if constexpr (distribution == Distribution::kNormal) {
    return number * second + first;
  } else if constexpr (distribution == Distribution::kLogNormal) {
    return math::exp(number * second + first);
  } else if constexpr (distribution == Distribution::kExponential) {
    // Never 0, which divides elsewhere.
    const V log = number >= V(1) - kEpsilon / 2 ? -kEpsilon / 2 : fast_log(number);
    return V(-1) / first * log;
  } else if constexpr (distribution == Distribution::kCauchy) {
    const V above = number < kEpsilon ? kEpsilon : number;
    const V inside = above > V(1) - kEpsilon ? V(1) - kEpsilon : above;
    return first + second * math::tan(math::kPi<V> * (inside - V(0.5)));
  } else if constexpr (distribution == Distribution::kGeometric) {
    const V trials = math::ceil(math::log(number) / math::log1p(-first));
    return trials < V(1) ? V(1) : trials;
  } else {
    return (number < first) | (first >= V(1)) ? V(1) : V(0);
  }
}

template <class T, Distribution distribution>
__device__ inline void fill(const FillArguments& args) {
  using V = Real<T>;
  auto* out = static_cast<Stored<T>*>(args.out);
  if constexpr (distribution == Distribution::kUniform) {
    // Bounds are rounded to the type first. What rounds to the upper one becomes the lower one.
    const T from = convert<T>(args.first), to = convert<T>(args.second);
    const V low = convert<V>(from), high = convert<V>(to);
    const V range = convert<V>(convert<T>(high - low));
    const auto draw = [](const Words& words) { return uniforms<V>(words); };
    for_each_number(args.draws, args.n, draw, [&](long long i, V number) {
      const T value = convert<T>(number * range + low);
      out[i] = convert<V>(value) == high ? from : value;
    });
  } else {
    const V first = static_cast<V>(args.first), second = static_cast<V>(args.second);
    const auto store = [&](long long i, V number) {
      out[i] = convert<T>(transformed<T, distribution>(number, first, second));
    };
    const auto draw = [](const Words& words) {
      constexpr bool is_normal =
          distribution == Distribution::kNormal || distribution == Distribution::kLogNormal;
      if constexpr (is_normal)
        return normals<V>(words);
      else
        return uniforms<V>(words);
    };
    for_each_number(args.draws, args.n, draw, store);
  }
}

// --- bits

// A thread's numbers are for neighbours: `many` of them, 2 or 4, of which n is a multiple. The
// order is that of PyTorch's dropout, whose grid may be larger than this one: threads beyond
// n / many have nothing to do.
template <class T, int many>
__device__ inline void fill_mask(const MaskArguments& args) {
  const long long self = thread_number();
  Philox stream(args.draws, self);
  Words words{};
  int used = 4;
  for (long long i = self * many; i < args.n; i += args.threads * many) {
    if (used == 4) {
      words = stream.next();
      used = 0;
    }
    Pack<T, many> kept;
#pragma unroll
    for (int k = 0; k < many; ++k) {
      const unsigned word = many == 4 || used == 0 ? words.at[k] : words.at[k + 4 - many];
      kept.at[k] = uniform_of(word) < args.keep;
    }
    used += many == 4 ? 4 : 2;
    *reinterpret_cast<Pack<T, many>*>(args.out + i) = kept;
  }
}

// Four neighbours for each thread.
template <class T, class P>
__device__ inline void fill_bernoulli_each(const SampleArguments& args) {
  using V = Real<T>;
  const long long self = thread_number();
  if (self * 4 >= args.n) return;
  const Words words = Philox(args.draws, self).next();
  auto* out = static_cast<Stored<T>*>(args.out);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const long long i = self * 4 + k;
    if (i >= args.n) return;
    const V p = convert<V>(static_cast<const P*>(args.first)[i]);
    if (!(p >= V(0) && p <= V(1))) note_error(args.error, ErrorCode::kProbability);
    out[i] = convert<T>(static_cast<V>(uniform_of(words.at[k])) <= p ? V(1) : V(0));
  }
}

// --- integers

template <class T, bool wide>
__device__ inline void fill_integers(const IntegerArguments& args) {
  auto* out = static_cast<Stored<T>*>(args.out);
  if constexpr (wide) {
    using Wide64 = unsigned long long;
    const auto draw = [](const Words& words) {
      return Numbers<Wide64, 2>{{static_cast<Wide64>(words.at[0]) << 32 | words.at[1],
                                 static_cast<Wide64>(words.at[2]) << 32 | words.at[3]}};
    };
    for_each_number(args.draws, args.n, draw, [&](long long i, Wide64 number) {
      const Wide64 value = args.range == 0 ? number : number % args.range;
      // Unsigned: a sum that wraps is the right one.
      out[i] = convert<T>(static_cast<int64_t>(value + static_cast<Wide64>(args.base)));
    });
  } else {
    const auto range = static_cast<unsigned>(args.range);
    const auto draw = [](const Words& words) {
      return Numbers<unsigned, 4>{{words.at[0], words.at[1], words.at[2], words.at[3]}};
    };
    for_each_number(args.draws, args.n, draw, [&](long long i, unsigned number) {
      out[i] = convert<T>(static_cast<int64_t>(args.base + number % range));
    });
  }
}

// --- permutations

// Few elements: each draws a key of 64 bits and goes to where its key belongs in their order, so
// that all orders are equally likely.
template <class T>
__device__ inline void rank_keys(const ShuffleArguments& args) {
  __shared__ unsigned long long keys[kThreads];
  const long long self = thread_number();
  const auto key_of = [&](long long i) {
    const Words words = Philox(args.draws, i).next();
    return static_cast<unsigned long long>(words.at[0]) << 32 | words.at[1];
  };
  const unsigned long long own = key_of(self);
  long long rank = 0;
  for (long long begin = 0; begin < args.n; begin += kThreads) {
    __syncthreads();
    keys[threadIdx.x] = key_of(begin + threadIdx.x);
    __syncthreads();
    const long long left = args.n - begin;
    const int count = left < kThreads ? static_cast<int>(left) : kThreads;
    for (int k = 0; k < count; ++k)
      rank += (keys[k] < own) | ((keys[k] == own) & (begin + k < self));
  }
  if (self < args.n) static_cast<Stored<T>*>(args.out)[rank] = convert<T>(int64_t(self));
}

// Many elements: a network of Feistel's over the numbers below a power of two, whose rounds mix one
// half of the bits into the other, is a permutation of these. A number that lands beyond n goes on
// until it is below, which makes it one of n numbers. (As Mitchell et al., 2022,
// "Bandwidth-optimal random shuffling for GPUs".)
constexpr int kShuffleRounds = 16;

__device__ inline unsigned mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  return x ^ (x >> 16);
}

template <class T>
__device__ inline void shuffle_bits(const ShuffleArguments& args) {
  Philox stream(args.draws, 0);
  Words keys[kShuffleRounds / 4];
#pragma unroll
  for (Words& each : keys) each = stream.next();
  const unsigned low_mask = (1u << args.low_bits) - 1, high_mask = (1u << args.high_bits) - 1;
  auto* out = static_cast<Stored<T>*>(args.out);
  const long long threads = static_cast<long long>(gridDim.x) * kThreads;
  for (long long i = thread_number(); i < args.n; i += threads) {
    long long at = i;
    do {
      unsigned low = static_cast<unsigned>(at) & low_mask;
      unsigned high = static_cast<unsigned>(at >> args.low_bits);
#pragma unroll
      for (int round = 0; round < kShuffleRounds; round += 2) {
        high ^= mixed(low ^ keys[round / 4].at[round % 4]) & high_mask;
        low ^= mixed(high ^ keys[round / 4].at[round % 4 + 1]) & low_mask;
      }
      at = static_cast<long long>(high) << args.low_bits | low;
    } while (at >= args.n);
    out[i] = convert<T>(int64_t(at));
  }
}

// --- a slope for what is not positive

template <class T>
__device__ inline void scale_negative(const SlopeArguments& args) {
  const double range = args.upper - args.lower;
  const auto* in = static_cast<const T*>(args.in);
  const auto draw = [](const Words& words) { return uniforms<T>(words); };
  for_each_number(args.draws, args.n, draw, [&](long long i, T number) {
    const T drawn = static_cast<T>(static_cast<double>(number) * range + args.lower);
    const T slope = in[i] <= T(0) ? drawn : T(1);
    static_cast<T*>(args.slopes)[i] = slope;
    static_cast<T*>(args.out)[i] = in[i] <= T(0) ? in[i] * slope : in[i];
  });
}

// --- weighted choice

// A block for each row: the sums of its weights up to each element.
template <class T>
__device__ inline void sum_weights(const CategoryArguments& args) {
  using V = Wide<T>;
  __shared__ V shared[kThreads];
  const long long row = blockIdx.x;
  const auto* weights = static_cast<const T*>(args.weights) + row * args.categories;
  auto* sums = static_cast<V*>(args.sums) + row * args.categories;
  V before = V(0);
  for (long long begin = 0; begin < args.categories; begin += kThreads) {
    const long long i = begin + threadIdx.x;
    V weight = V(0);
    if (i < args.categories) {
      weight = convert<V>(weights[i]);
      if (!(weight >= V(0) && weight < math::infinity<V>())) {
        note_error(args.error, ErrorCode::kWeight);
        weight = V(0);
      }
    }
    V sum = weight;
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
      __syncthreads();
      shared[threadIdx.x] = sum;
      __syncthreads();
      if (threadIdx.x >= distance) sum += shared[threadIdx.x - distance];
    }
    if (i < args.categories) sums[i] = before + sum;
    __syncthreads();
    shared[threadIdx.x] = sum;
    __syncthreads();
    before += shared[kThreads - 1];
  }
  if (threadIdx.x == 0 && !(before > V(0))) note_error(args.error, ErrorCode::kNoWeight);
}

// A thread for each sample.
template <class T>
__device__ inline void choose_category(const CategoryArguments& args) {
  using V = Wide<T>;
  const long long i = thread_number();
  if (i >= args.rows * args.samples) return;
  const long long row = i / args.samples, last = args.categories - 1;
  if (last < 0) {  // no weight at all, which has been noted
    args.out[i] = 0;
    return;
  }
  const auto* weights = static_cast<const T*>(args.weights) + row * args.categories;
  const auto* sums = static_cast<const V*>(args.sums) + row * args.categories;
  const double wanted = Source(args.draws, i).uniform() * static_cast<double>(sums[last]);
  // The first category whose sum is above what is wanted.
  long long low = 0, high = last;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (static_cast<double>(sums[middle]) > wanted)
      high = middle;
    else
      low = middle + 1;
  }
  // Sums are rounded, so that one may rise where the weight is 0.
  long long chosen = low;
  while (chosen > 0 && !(convert<V>(weights[chosen]) > V(0))) --chosen;
  if (!(convert<V>(weights[chosen]) > V(0)))
    for (chosen = low; chosen < last && !(convert<V>(weights[chosen]) > V(0));) ++chosen;
  args.out[i] = chosen;
}

// A block for each row. faults: whether a weight is bad, whether a row has none.
template <class T>
__device__ inline void find_faults(const CategoryArguments& args) {
  __shared__ int has_weight;
  const long long row = blockIdx.x;
  const auto* weights = static_cast<const T*>(args.weights) + row * args.categories;
  if (threadIdx.x == 0) has_weight = 0;
  __syncthreads();
  for (long long i = threadIdx.x; i < args.categories; i += kThreads) {
    const T weight = weights[i];
    if (!(weight >= T(0) && weight < math::infinity<T>())) args.faults[0] = 1;
    if (weight > T(0)) has_weight = 1;
  }
  __syncthreads();
  if (threadIdx.x == 0 && !has_weight) args.faults[1] = 1;
}

}  // namespace fb::device

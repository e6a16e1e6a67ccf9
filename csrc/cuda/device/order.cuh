// Building blocks of what orders elements: keys, sums over threads, compaction.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/order_args.h"

namespace fb::device {

inline constexpr int kWarp = 32, kWarps = kThreads / kWarp;

// --- between the threads of a warp

template <class V>
struct Words {
  static_assert(sizeof(V) % 4 == 0);
  unsigned at[sizeof(V) / 4];
};
template <class V>
__device__ inline V shuffle_up(V value, int by) {
  auto words = bit_cast<Words<V>>(value);
  for (unsigned& word : words.at) word = __shfl_up_sync(~0u, word, by);
  return bit_cast<V>(words);
}
template <class V>
__device__ inline V shuffle_from(V value, int lane) {
  auto words = bit_cast<Words<V>>(value);
  for (unsigned& word : words.at) word = __shfl_sync(~0u, word, lane);
  return bit_cast<V>(words);
}

// The lanes before this one.
__device__ inline unsigned lanes_before() { return (1u << (threadIdx.x % kWarp)) - 1; }

// --- between the threads of a block

template <class V>
struct Scanned {
  V before, total;
};

// What the values of the threads before this one in its group come to, and those of the whole
// group, joined in order. Groups are `lanes` neighbours, a power of two; every thread of the block
// must call it.
template <class V, class Join>
__device__ inline Scanned<V> scan_group(V own, int lanes, V identity, Join join) {
  __shared__ V totals[kWarps];
  const int thread = static_cast<int>(threadIdx.x), in_warp = thread % kWarp;
  const int width = lanes < kWarp ? lanes : kWarp, lane = in_warp & (width - 1);
  for (int by = 1; by < width; by *= 2) {
    const V left = shuffle_up(own, by);
    if (lane >= by) own = join(left, own);
  }
  V before = shuffle_up(own, 1);
  if (lane == 0) before = identity;
  V total = shuffle_from(own, in_warp - lane + width - 1);
  if (lanes <= kWarp) return {before, total};
  const int warp = thread / kWarp, warps = lanes / kWarp, first = warp & ~(warps - 1);
  __syncthreads();  // of the last call
  if (in_warp == 0) totals[warp] = total;
  __syncthreads();
  V earlier = identity;
  total = identity;
  for (int w = first; w < first + warps; ++w) {
    if (w == warp) earlier = total;
    total = join(total, totals[w]);
  }
  return {join(earlier, before), total};
}

struct Plus {
  template <class V>
  __device__ V operator()(V a, V b) const {
    return a + b;
  }
};
template <class V>
__device__ inline Scanned<V> scan_block(V own) {
  return scan_group(own, kThreads, V(0), Plus());
}

// --- sums and compaction by parts: a kernel with the totals, then one with the places

// The sum of the totals of the parts before this block's.
__device__ inline long long sum_before(const Parts& parts) {
  long long sum = 0;
  for (int p = static_cast<int>(threadIdx.x); p < static_cast<int>(blockIdx.x); p += kThreads)
    sum += parts.totals[p];
  return scan_block(sum).total;
}

// Of the part of this block.
struct PartRange {
  long long begin, end;
  __device__ explicit PartRange(const Parts& parts) : begin(blockIdx.x * parts.length) {
    end = begin + parts.length < parts.n ? begin + parts.length : parts.n;
  }
};

// Writes how many elements of the part are flagged: flag(i) is a bool.
template <class Flag>
__device__ inline void count_flagged(const Parts& parts, Flag flag) {
  const PartRange range(parts);
  long long count = 0;
#pragma unroll 8
  for (long long i = range.begin + threadIdx.x; i < range.end; i += kThreads) count += flag(i);
  count = scan_block(count).total;
  if (threadIdx.x == 0) parts.totals[blockIdx.x] = count;
}

// Calls place(i, whether it is flagged, how many are flagged before it) for each element.
template <class Flag, class Place>
__device__ inline void place_flagged(const Parts& parts, Flag flag, Place place) {
  constexpr int kRounds = kPartTile / kThreads;
  const PartRange range(parts);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  long long before = sum_before(parts);
  for (long long tile = range.begin; tile < range.end; tile += kPartTile) {
    const long long first = tile + warp * (kRounds * kWarp) + lane;
    bool own[kRounds];
#pragma unroll
    for (int r = 0; r < kRounds; ++r)
      own[r] = first + r * kWarp < range.end && flag(first + r * kWarp);
    unsigned flags[kRounds];
    int count = 0;
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      flags[r] = __ballot_sync(~0u, own[r]);
      count += __popc(flags[r]);
    }
    const Scanned<int> sums = scan_block(lane == 0 ? count : 0);
    long long at = before + shuffle_from(sums.before, 0);
#pragma unroll
    for (int r = 0; r < kRounds; ++r) {
      const long long i = first + r * kWarp;
      if (i < range.end)
        place(i, (flags[r] >> lane & 1) != 0, at + __popc(flags[r] & lanes_before()));
      at += __popc(flags[r]);
    }
    before += sums.total;
  }
}

template <class T>
__device__ inline void sum_parts(const SumsArguments& args) {
  const PartRange range(args.parts);
  long long sum = 0;
  for (long long i = range.begin + threadIdx.x; i < range.end; i += kThreads) sum += args.in[i];
  sum = scan_block(sum).total;
  if (threadIdx.x == 0) args.parts.totals[blockIdx.x] = sum;
}

// `out` may be `in`.
template <class T>
__device__ inline void exclusive_sums(const SumsArguments& args) {
  constexpr int kItems = 4;
  const PartRange range(args.parts);
  long long before = sum_before(args.parts);
  for (long long tile = range.begin; tile < range.end; tile += kItems * kThreads) {
    const long long first = tile + threadIdx.x * kItems;
    long long values[kItems], sum = 0;
    for (int k = 0; k < kItems; ++k) {
      values[k] = first + k < range.end ? args.in[first + k] : 0;
      sum += values[k];
    }
    const Scanned<long long> sums = scan_block(sum);
    long long at = before + sums.before;
    for (int k = 0; k < kItems; ++k) {
      if (first + k < range.end) args.out[first + k] = at;
      at += values[k];
    }
    before += sums.total;
  }
  if (range.end == args.parts.n && threadIdx.x == 0) args.out[args.parts.n] = before;
}

// --- keys: unsigned numbers that sort like elements

template <int bytes>
struct UnsignedOfSize {
  using Type = unsigned;
};
template <>
struct UnsignedOfSize<1> {
  using Type = unsigned char;
};
template <>
struct UnsignedOfSize<2> {
  using Type = unsigned short;
};
template <>
struct UnsignedOfSize<8> {
  using Type = unsigned long long;
};
template <class T>
using Key = typename UnsignedOfSize<static_cast<int>(sizeof(T))>::Type;

template <class T>
inline constexpr bool kHasNan = kIsFloat<T> || kIsSmallFloat<T>;

template <class T>
__device__ inline Key<T> infinity_bits() {
  if constexpr (kIsSame<T, double>)
    return 0x7ff0000000000000ull;
  else if constexpr (kIsSame<T, float>)
    return 0x7f800000u;
  else
    return static_cast<Key<T>>(kIsSame<T, BFloat16> ? 0x7f80u : 0x7c00u);
}

// All NaNs have the largest key and both zeros the same one. Descending, keys are inverted.
template <class T>
__device__ inline Key<T> key_of(Stored<T> element, bool descending) {
  using K = Key<T>;
  K key = bit_cast<K>(element);
  constexpr K kSign = static_cast<K>(K(1) << (8 * sizeof(K) - 1));
  if constexpr (kHasNan<T>) {
    const K magnitude = key & static_cast<K>(~kSign);
    if (magnitude > infinity_bits<T>())
      key = static_cast<K>(~K(0));
    else if (magnitude == 0)
      key = kSign;
    else
      key = key & kSign ? static_cast<K>(~key) : static_cast<K>(key | kSign);
  } else if constexpr (kIsBool<T>) {
    key = key != 0;
  } else if constexpr (kIsSigned<T>) {
    key ^= kSign;
  }
  return descending ? static_cast<K>(~key) : key;
}

// The 16-bit floats compare as floats, everything else as it is.
template <class T>
__device__ inline auto comparable(Stored<T> element) {
  if constexpr (kIsSmallFloat<T>)
    return static_cast<float>(element);
  else
    return from_memory<T>(element);
}

// How many of n sorted elements come before a value, with those equal to it if `right`. NaN counts
// as the largest value.
template <class Value, class At>
__device__ inline long long sorted_before(Value value, long long n, bool right, At at) {
  const bool value_is_nan = value != value;
  long long begin = 0;
  while (n > 0) {
    const long long half = n / 2;
    const auto element = at(begin + half);
    const bool before = right ? value_is_nan | (element <= value)
                              : (element < value) | (value_is_nan & (element == element));
    begin = before ? begin + half + 1 : begin;
    n = before ? n - half - 1 : half;
  }
  return begin;
}

// --- parts of rows

// Where the block's part of a row is, as offsets from the first row.
struct RowPart {
  long long row, first, begin, end;  // `first` of the row
  int part;
  __device__ RowPart(long long n, long long length, int parts) {
    row = parts == 1 ? blockIdx.x : blockIdx.x / static_cast<unsigned>(parts);
    part = static_cast<int>(blockIdx.x - row * parts);
    first = row * n;
    begin = first + part * length;
    end = begin + length < first + n ? begin + length : first + n;
  }
};

}  // namespace fb::device

// Sums of exponentials, which softmax and losses of classes are made of.
#pragma once

#include "cuda/device/lanes.cuh"
#include "scalar/math.h"

namespace fb::device {

// The largest of some numbers, and the sum of their exponentials relative to it, from one pass over
// them: what was summed before a larger one came is scaled.
template <class V>
struct ExponentialSum {
  V largest = -math::infinity<V>(), total = V(0);

  // What exponents are relative to: of -inf they stay -inf.
  __device__ V shift() const { return largest == -math::infinity<V>() ? V(0) : largest; }

  template <int count>
  __device__ void add(const V (&x)[count]) {
    const V before = largest;
#pragma unroll
    for (int k = 0; k < count; ++k) largest = extreme<true>(largest, x[k]);
    const V from = shift();
    total *= math::exp(before - from);
#pragma unroll
    for (int k = 0; k < count; ++k) total += math::exp(x[k] - from);
  }
};

template <class V>
struct JoinExponentials {
  __device__ ExponentialSum<V> operator()(const ExponentialSum<V>& a,
                                          const ExponentialSum<V>& b) const {
    ExponentialSum<V> both{extreme<true>(a.largest, b.largest), V(0)};
    const V from = both.shift();
    both.total = a.total * math::exp(a.largest - from) + b.total * math::exp(b.largest - from);
    return both;
  }
};

// What counts the elements of a row: rows of 2^30 or more are not read in packs.
template <int pack>
struct PackIndex {
  using Type = int;
};
template <>
struct PackIndex<1> {
  using Type = long long;
};

// Stores 16 bytes by one instruction also where elements are stored singly nearby: compilers join
// the two, and then store all elements singly.
template <int count, class T, class V>
__device__ inline void store_whole(T* to, const V (&from)[count]) {
  static_assert(sizeof(T) * count == 16);
#if defined(__CUDA_ARCH__)
  Pack<T, count> packed;
#pragma unroll
  for (int p = 0; p < count; ++p) packed.at[p] = convert<T>(from[p]);
  const auto words = bit_cast<Pack<unsigned, 4>>(packed);
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(words.at[0]),
               "r"(words.at[1]), "r"(words.at[2]), "r"(words.at[3])
               : "memory");
#else
  store_pack<count>(to, 0, from);
#endif
}

// The packs of a row, whose elements are `step` apart; of more than one in a pack they are
// neighbours. With `ragged` a row may begin anywhere: packs are where whole ones lie in memory, and
// elements of the first and the last one that belong to other rows are left out.
template <class T, int pack, bool ragged>
struct RowPacks {
  using Index = typename PackIndex<pack>::Type;
  Index n;
  long long step;
  int head;  // elements before the row in its first pack

  __device__ RowPacks(const T* row, long long n, long long step)
      : n(static_cast<Index>(n)),
        step(step),
        head(ragged ? static_cast<int>(reinterpret_cast<unsigned long long>(row) / sizeof(T) % pack)
                    : 0) {}
  __device__ Index count() const { return ragged ? (n + head + pack - 1) / pack : n / pack; }
  // The element of the row that a pack begins with.
  __device__ Index first(Index i) const { return i * pack - head; }
  __device__ bool is_whole(Index i) const {
    return (first(i) >= 0 || !ragged) && first(i) + pack <= n;
  }
  template <class Element>
  __device__ Element* at(Element* row, Index i) const {
    if constexpr (pack > 1)
      return row + first(i);
    else
      return row + first(i) * step;
  }
  template <class V>
  __device__ void load(const T* row, Index i, V missing, V (&to)[pack]) const {
    if (is_whole(i)) {
      load_pack<pack>(at(row, i), 0, to);
      return;
    }
#pragma unroll
    for (int p = 0; p < pack; ++p)
      to[p] = ragged && has(first(i) + p) ? convert<V>(row[first(i) + p]) : missing;
  }
  template <class V>
  __device__ void store(T* row, Index i, const V (&from)[pack]) const {
    if constexpr (!ragged) {
      if (is_whole(i)) store_pack<pack>(at(row, i), 0, from);
    } else if (is_whole(i)) {
      store_whole<pack>(at(row, i), from);
    } else {
#pragma unroll
      for (int p = 0; p < pack; ++p)
        if (has(first(i) + p)) row[first(i) + p] = convert<T>(from[p]);
    }
  }

 private:
  __device__ bool has(Index k) const { return k >= 0 && k < n; }
};

// Packs that a thread has on their way, and where it keeps nothing but sums.
inline constexpr int kPacksTogether = 4;
template <int pack>
inline constexpr int kPacksToRead = pack > 4 ? 4 : 8;

// Calls f(values, first pack) for the packs of a lane, `lanes` packs apart and some at once, with
// `missing` where there is no element.
template <int together, class V, class T, int pack, bool ragged, class F>
__device__ inline void for_packs(const LanePlace& place, const T* x,
                                 const RowPacks<T, pack, ragged>& row, V missing, F f) {
  using Index = typename RowPacks<T, pack, ragged>::Index;
  const Index packs = row.count();
  for (Index i = place.lane; i < packs; i += together * place.lanes) {
    V values[together][pack];
#pragma unroll
    for (int h = 0; h < together; ++h) row.load(x, i + h * place.lanes, missing, values[h]);
    f(values, i);
  }
}

// The exponentials of a row, which all its lanes get.
template <int together, class V, class T, int pack, bool ragged>
__device__ inline ExponentialSum<V> sum_exponentials(const LanePlace& place, bool inside,
                                                     const T* x,
                                                     const RowPacks<T, pack, ragged>& row) {
  ExponentialSum<V> own;
  if (inside)
    for_packs<together>(place, x, row, -math::infinity<V>(), [&](const auto& values, auto) {
      V all[together * pack];
#pragma unroll
      for (int h = 0; h < together; ++h)
#pragma unroll
        for (int p = 0; p < pack; ++p) all[h * pack + p] = values[h][p];
      own.add(all);
    });
  return join_lanes(place, own, JoinExponentials<V>());
}

}  // namespace fb::device

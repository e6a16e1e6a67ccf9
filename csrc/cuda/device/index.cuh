// Elements picked by position. A bad position is noted: nothing is written there, and zeros are
// read.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/index_args.h"
#include "cuda/device/join.cuh"

namespace fb::device {

// The sum of steps along the picked dimensions; -1 if a position is bad.
__device__ inline long long offset_of_pick(const PickArguments& args, long long pick) {
  long long offset = 0;
  for (int d = 0; d < args.at.count; ++d) {
    const long long given = args.positions[d][pick], size = args.at.sizes[d];
    const long long at = args.from_the_end && given < 0 ? given + size : given;
    if (at < 0 || at >= size) {
      note_bad_index(args.error, given, size, args.dimension + d);
      return -1;
    }
    offset += at * args.at.strides[d];
  }
  return offset;
}

// Where element i of the values is in the array; -1 if a position is bad.
template <class I>
__device__ inline long long picked_offset(const PickArguments& args, I i) {
  const I after_size = static_cast<I>(args.after_size), picked = static_cast<I>(args.picked);
  const I rest = i / after_size, after = i - rest * after_size;
  const I before = rest / picked, pick = rest - before * picked;
  const long long offset = offset_of_pick(args, pick);
  if (offset < 0) return -1;
  return offset + offset_by(args.before, before) + offset_by(args.after, after);
}
__device__ inline long long picked_offset(const PickArguments& args, long long i) {
  return args.n < 1ll << 31 ? picked_offset<unsigned>(args, static_cast<unsigned>(i))
                            : picked_offset<long long>(args, i);
}

template <class T>
__device__ inline void pick_element(const PickArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long from = picked_offset(args, i);
  static_cast<T*>(args.values)[i] = from >= 0 ? static_cast<const T*>(args.array)[from] : T();
}

template <class T>
__device__ inline void put_element(const PickArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long to = picked_offset(args, i);
  if (to >= 0) static_cast<T*>(args.array)[to] = static_cast<const T*>(args.values)[i];
}

// The number of each pick's place, by which equal places are found.
template <class T>
__device__ inline void number_picks(const PickArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.picked) return;
  const long long key = offset_of_pick(args, i);
  static_cast<T*>(args.keys)[i] = static_cast<T>(key >= 0 ? key : args.limit);
}

template <class I>
__device__ inline long long gathered_offset(const GatherArguments& args, long long at, I i) {
  long long offset = 0;
  for (int d = args.dims.count - 1; d >= 0; --d) {
    const I size = static_cast<I>(args.dims.sizes[d]), next = d > 0 ? i / size : 0;
    offset += (d == args.along ? at : static_cast<long long>(i - next * size)) *
              args.dims.strides[d];
    i = next;
  }
  return offset;
}
__device__ inline long long gathered_offset(const GatherArguments& args, long long i,
                                            long long at) {
  if (at < 0 || at >= args.array_size) {
    note_bad_index(args.error, at, args.array_size, args.dimension);
    return -1;
  }
  return args.n < 1ll << 31 ? gathered_offset<unsigned>(args, at, static_cast<unsigned>(i))
                            : gathered_offset<long long>(args, at, i);
}
__device__ inline long long gathered_offset(const GatherArguments& args, long long i) {
  return gathered_offset(args, i, args.index[i]);
}

template <class T>
__device__ inline void gather_element(const GatherArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long from = gathered_offset(args, i);
  static_cast<T*>(args.values)[i] = from >= 0 ? static_cast<const T*>(args.array)[from] : T();
}

template <class T>
__device__ inline void scatter_element(const GatherArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long to = gathered_offset(args, i);
  if (to >= 0) static_cast<T*>(args.array)[to] = static_cast<const T*>(args.values)[i];
}

// Joined in the order in which threads come. Values of T are for places of type To. Each thread
// reads what it needs for all of its elements at once.
template <class T, ScatterMode mode, class To = T>
__device__ inline void join_element(const GatherArguments& args) {
  const long long first = static_cast<long long>(blockIdx.x) * (kThreads * kJoins) + threadIdx.x;
  long long at[kJoins];
  T values[kJoins];
#pragma unroll
  for (int k = 0; k < kJoins; ++k) {
    const long long i = first + k * kThreads;
    if (i >= args.n) continue;
    at[k] = args.index[i];
    values[k] = static_cast<const T*>(args.values)[i];
  }
#pragma unroll
  for (int k = 0; k < kJoins; ++k) {
    const long long i = first + k * kThreads;
    if (i >= args.n) return;
    const long long to = gathered_offset(args, i, at[k]);
    if (to < 0) continue;
    To* const place = static_cast<To*>(args.array) + to;
    if constexpr (mode == ScatterMode::kAdd)
      add_atomically(place, convert<To>(values[k]));
    else
      join_atomically<mode>(place, convert<To>(values[k]));
  }
}

// Adds packs of `count` picked neighbours in the order in which threads come.
template <class T, int count>
__device__ inline void add_picked(const PickArguments& args) {
  const long long first = static_cast<long long>(blockIdx.x) * (kThreads * kJoins) + threadIdx.x;
  T values[kJoins][count];
  long long to[kJoins];
#pragma unroll
  for (int k = 0; k < kJoins; ++k) {
    const long long i = first + k * kThreads;
    if (i >= args.n) continue;
    to[k] = picked_offset(args, i);
    load_pack(static_cast<const T*>(args.values), i, values[k]);
  }
#pragma unroll
  for (int k = 0; k < kJoins; ++k) {
    if (first + k * kThreads >= args.n) return;
    if (to[k] >= 0) add_pack_atomically(static_cast<T*>(args.array) + to[k] * count, values[k]);
  }
}

// What was added up in float32, to elements.
template <class T>
__device__ inline void add_sums(const AddSumsArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  T& element = static_cast<T*>(args.out)[i];
  element = convert<T>(static_cast<float>(element) + args.sums[i]);
}

// The number of each element's place, by which equal places are found.
template <class T>
__device__ inline void number_elements(const GatherArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long key = gathered_offset(args, i);
  static_cast<T*>(args.keys)[i] = static_cast<T>(key >= 0 ? key : args.limit);
}

template <class T>
__device__ inline void divide_element(const DivideArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n || args.counts[i] < 2) return;
  Stored<T>& sum = static_cast<Stored<T>*>(args.sums)[i];
  const long long count = args.counts[i];
  if constexpr (kIsComplex<T>) {
    sum = sum / T(static_cast<typename TypeOf<T>::Real>(count));
  } else if constexpr (kIsInteger<T> && !kIsSmallFloat<T>) {
    const long long value = convert<int64_t>(from_memory<T>(sum)), quotient = value / count;
    sum = convert<T>(quotient - (value % count < 0));  // rounds down
  } else {
    sum = convert<T>(convert<double>(sum) / static_cast<double>(count));
  }
}

// Elements that a thread reads and writes together, where addresses suit that: kMaskedPacks packs.
template <class T>
__device__ inline void masked_fill_packs(const MaskedFillArguments& args) {
  constexpr int kWide = 16 / sizeof(T);
  const T value = *reinterpret_cast<const T*>(args.value);
  const auto* in = static_cast<const T*>(args.in);
  auto* out = static_cast<T*>(args.out);
  const long long packs = args.n / kWide;
  const long long first =
      static_cast<long long>(blockIdx.x) * (kThreads * kMaskedPacks) + threadIdx.x;
  T elements[kMaskedPacks][kWide];
  unsigned char masks[kMaskedPacks][kWide];
#pragma unroll
  for (int k = 0; k < kMaskedPacks; ++k)
    if (const long long i = first + k * kThreads; i < packs) {
      load_pack<kWide>(in, i, elements[k]);
      load_pack<kWide>(args.mask, i, masks[k]);
    }
#pragma unroll
  for (int k = 0; k < kMaskedPacks; ++k) {
    const long long i = first + k * kThreads;
    if (i < packs) {
#pragma unroll
      for (int p = 0; p < kWide; ++p)
        if (masks[k][p]) elements[k][p] = value;
      store_pack<kWide>(out, i, elements[k]);
    } else if (i - packs < args.n - packs * kWide) {
      const long long at = packs * kWide + (i - packs);
      out[at] = args.mask[at] ? value : in[at];
    }
  }
}
template <class T>
__device__ inline void masked_fill_element(const MaskedFillArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  static_cast<T*>(args.out)[i] = args.mask[i] ? *reinterpret_cast<const T*>(args.value)
                                              : static_cast<const T*>(args.in)[i];
}

}  // namespace fb::device

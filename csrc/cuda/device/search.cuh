// Binary search in sorted rows.
#pragma once

#include "cuda/device/order.cuh"
#include "cuda/device/search_args.h"

namespace fb::device {

template <class T>
__device__ inline void search_value(const SearchArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long first = args.shared ? 0 : i / args.per_row * args.length;
  const auto* sequence = static_cast<const Stored<T>*>(args.sequences) + first;
  args.out[i] =
      sorted_before(comparable<T>(static_cast<const Stored<T>*>(args.values)[i]), args.length,
                    args.right, [&](long long k) {
                      return comparable<T>(sequence[args.sorter ? args.sorter[first + k] : k]);
                    });
}

}  // namespace fb::device

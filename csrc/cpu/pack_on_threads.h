// Packs a matrix on all threads: see cpu/packed_gemm.h.
#pragma once

#include <algorithm>

#include "cpu/packed_gemm.h"
#include "cpu/threads.h"

namespace fb::cpu {

inline constexpr int64_t kPackedColumns = 64;  // whole panels of every instruction set

template <class T>
void pack_on_threads(const PackSource<T>& s, T* packed) {
  const int64_t columns = s.wide ? kWideColumns : kPackedColumns;
  parallel_for((s.n + columns - 1) / columns, kGrain / (s.k * columns + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 PackSource<T> part = s;
                 const int64_t first = begin * columns;
                 part.n = std::min(end * columns, s.n) - first;
                 part.data += first * (s.transposed ? s.ld : 1);
                 FB_KERNEL(pack_matrix<T>)(part, packed + first * s.k);
               });
}

}  // namespace fb::cpu

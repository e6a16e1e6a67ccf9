// Attention by tensor cores, for 16-bit elements: see Note [Attention on the device].
//
// A block has some rows, of queries or of keys, and streams the other side through shared memory, a
// tile ahead of what it computes. Each warp has its own rows of the block. Scores stay in registers
// and are multiplied from there: what a warp has of a product is what it needs of the next one's
// left matrix (see mma.cuh).
#pragma once

#include "cuda/device/attention.cuh"
#include "cuda/device/mma.cuh"

namespace fb::device {

// Rows of kFeatures elements in shared memory, in chunks of 16 bytes whose order changes from row
// to row: chunks of eight rows and one column lie in different banks.
template <class T, int kFeatures>
__device__ inline T* chunk_at(T* tile, int row, int chunk) {
  constexpr int kChunks = kFeatures / 8;
  static_assert(kChunks % 8 == 0 || kChunks == 4);
  const int turn = kChunks == 4 ? row / 2 % 4 : row % 8;
  return tile + (row * kChunks + (chunk ^ turn)) * 8;
}

// Rows from `first` on, with zeros where there are none.
template <class T, int kFeatures, int kRows, int kBlock>
__device__ inline void fetch_rows(T* tile, const HeadRows<T>& rows, int first, bool aligned) {
  constexpr int kChunks = kFeatures / 8, kStep = kBlock / kChunks;
  static_assert(kBlock % kChunks == 0);
  const int chunk = static_cast<int>(threadIdx.x) % kChunks;
  const int left = static_cast<int>(rows.columns) - chunk * 8;  // elements from the chunk on
  const int end = static_cast<int>(rows.rows) - first;
  int row = static_cast<int>(threadIdx.x) / kChunks;
  const T* from = rows.data + (first + row) * rows.row + chunk * 8;
#pragma unroll
  for (int step = 0; step < (kRows + kStep - 1) / kStep; ++step) {
    if (kRows % kStep == 0 || row < kRows) {
      const bool is_there = row < end && left > 0;
      T* const to = chunk_at<T, kFeatures>(tile, row, chunk);
      if (aligned) {
        copy_later(to, is_there ? from : rows.data, is_there);
      } else {
        for (int e = 0; e < 8; ++e) to[e] = is_there && e < left ? from[e] : convert<T>(0.0f);
      }
    }
    row += kStep, from += kStep * rows.row;
  }
}

// sums += the warp's rows of the left tile times the rows of the right one.
template <class T, int kFeatures, int kTiles, int kOther>
__device__ inline void multiply_tiles(float (&sums)[kTiles][kOther / 8][4], T* left, T* right) {
  const int lane = lane_number();
#pragma unroll
  for (int k = 0; k < kFeatures / 16; ++k) {
    unsigned a[kTiles][4];
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
      load_matrices<false>(
          a[m], chunk_at<T, kFeatures>(left, m * 16 + lane % 16, 2 * k + lane / 16));
#pragma unroll
    for (int n = 0; n < kOther / 16; ++n) {
      unsigned b[4];
      load_matrices<false>(b, chunk_at<T, kFeatures>(right, n * 16 + lane % 8 + lane / 16 * 8,
                                                     2 * k + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        multiply_add<T>(sums[m][2 * n], a[m], b[0], b[1]);
        multiply_add<T>(sums[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// total += weights times the rows of a tile.
template <class T, int kFeatures, int kTiles, int kOther>
__device__ inline void add_weighted_rows(float (&total)[kTiles][kFeatures / 8][4],
                                         const float (&weights)[kTiles][kOther / 8][4], T* rows) {
  const int lane = lane_number();
#pragma unroll
  for (int k = 0; k < kOther / 16; ++k) {
    unsigned a[kTiles][4];
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      const float(&low)[4] = weights[m][2 * k];
      const float(&high)[4] = weights[m][2 * k + 1];
      a[m][0] = pack_pair<T>(low[0], low[1]), a[m][1] = pack_pair<T>(low[2], low[3]);
      a[m][2] = pack_pair<T>(high[0], high[1]), a[m][3] = pack_pair<T>(high[2], high[3]);
    }
#pragma unroll
    for (int n = 0; n < kFeatures / 16; ++n) {
      unsigned b[4];
      load_matrices<true>(b, chunk_at<T, kFeatures>(rows, k * 16 + lane % 16, 2 * n + lane / 16));
#pragma unroll
      for (int m = 0; m < kTiles; ++m) {
        multiply_add<T>(total[m][2 * n], a[m], b[0], b[1]);
        multiply_add<T>(total[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

// What the lanes of a row have: neighbours of four.
template <class Join>
__device__ inline float join_four(float own, Join join) {
  own = join(own, __shfl_xor_sync(~0u, own, 1));
  return join(own, __shfl_xor_sync(~0u, own, 2));
}

template <int kTiles, int kWide>
__device__ inline void clear(float (&sums)[kTiles][kWide][4]) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m)
#pragma unroll
    for (int n = 0; n < kWide; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[m][n][i] = 0.0f;
}

// `part`: the output, or the gradient of queries, of keys, of values, or of both of those.
template <class T, AttentionPart part, int kFeatures, int kTiles, int kWarps, int kOther>
struct AttentionByTiles {
  static constexpr bool kByQuery = part == AttentionPart::kOutput || part == AttentionPart::kQuery;
  static constexpr bool kIsGradient = part != AttentionPart::kOutput;
  static constexpr bool kHasSlopes = kIsGradient && part != AttentionPart::kValue;
  static constexpr bool kHasTwo = part == AttentionPart::kKeyValue;
  static constexpr int kBlock = 32 * kWarps, kRows = 16 * kTiles * kWarps;
  static constexpr int kOwnTiles = kHasSlopes ? 2 : 1;
  // In shared memory: the block's own rows, two stages of two tiles, two stages of two lines.
  static constexpr int kOwnElements = kOwnTiles * kRows * kFeatures;
  static constexpr int kStageElements = 2 * kOther * kFeatures;
  static constexpr int kBytes = (kOwnElements + 2 * kStageElements) * 2 + 2 * 2 * kOther * 4;
  static constexpr float kLog2E = 1.44269504088896340736f, kLn2 = 0.693147180559945309417f;

  const AttentionArguments& args;
  const int lane = lane_number(), warp = static_cast<int>(threadIdx.x) / kWarp;
  long long head;
  int first, queries, keys;
  T* const shared;
  const void* mask = nullptr;
  HeadRows<T> own, own_too, other, other_too;

  __device__ AttentionByTiles(const AttentionArguments& given, void* room)
      : args(given), shared(static_cast<T*>(room)) {
    head = blockIdx.x / args.row_blocks;
    // Later queries see more keys under a causal mask: they begin first. Later keys see fewer.
    const long long block = blockIdx.x - head * args.row_blocks;
    first = static_cast<int>(kByQuery ? args.row_blocks - 1 - block : block) * kRows;
    queries = static_cast<int>(args.queries), keys = static_cast<int>(args.keys);
    const auto rows_of = [&](const HeadMatrices& all, long long rows, long long columns) {
      return HeadRows<T>{head_of<const T>(args, all, head), all.row, rows, columns};
    };
    const HeadRows<T> query = rows_of(args.query, args.queries, args.features);
    const HeadRows<T> key = rows_of(args.key, args.keys, args.features);
    const HeadRows<T> value = rows_of(args.value, args.keys, args.value_features);
    HeadRows<T> coming = query;
    if constexpr (kIsGradient) coming = rows_of(args.d_output, args.queries, args.value_features);
    own = kByQuery ? query : key, own_too = kByQuery ? coming : value;
    other = kByQuery ? key : query, other_too = kByQuery ? value : coming;
    if (args.mask.data && args.mask_is_bool)
      mask = head_of<const unsigned char>(args, args.mask, head);
    else if (args.mask.data)
      mask = head_of<const float>(args, args.mask, head);
  }

  __device__ T* own_rows(int which) const {
    return shared + which * kRows * kFeatures + warp * 16 * kTiles * kFeatures;
  }
  __device__ T* stage(int number, int which) const {
    return shared + kOwnElements + number * kStageElements + which * kOther * kFeatures;
  }
  // Of the queries of a tile: the log-sum-exp in powers of two, or the means.
  __device__ float* line(int number, int which) const {
    return reinterpret_cast<float*>(shared + kOwnElements + 2 * kStageElements) +
           (number * 2 + which) * kOther;
  }

  __device__ float logsumexp_of(int query) const {
    const float sum = query < queries
                          ? static_cast<const float*>(args.logsumexp)[head * args.queries + query]
                          : -math::infinity<float>();
    // A query that sees no keys has no weights: 2 to the power of -inf.
    return sum == -math::infinity<float>() ? math::infinity<float>() : sum * kLog2E;
  }
  __device__ float mean_of(int query) const {
    return query < queries
               ? static_cast<const float*>(args.means)[head * args.queries + query]
               : 0.0f;
  }

  __device__ void fetch(int tile, int number) const {
    fetch_rows<T, kFeatures, kOther, kBlock>(stage(number, 0), other, tile, args.is_aligned);
    fetch_rows<T, kFeatures, kOther, kBlock>(stage(number, 1), other_too, tile, args.is_aligned);
    if constexpr (!kByQuery) {
      const int i = static_cast<int>(threadIdx.x);
      if (i < kOther) {
        line(number, 0)[i] = logsumexp_of(tile + i);
        if constexpr (kHasSlopes) line(number, 1)[i] = mean_of(tile + i);
      }
    }
  }

  // The place of an element of a product.
  __device__ int row_at(int m, int i) const {
    return first + (warp * kTiles + m) * 16 + lane / 4 + i / 2 * 8;
  }
  __device__ int column_at(int n, int i) const { return n * 8 + lane % 4 * 2 + i % 2; }

  template <class Change>
  __device__ void for_each(float (&scores)[kTiles][kOther / 8][4], Change change) const {
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int n = 0; n < kOther / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) change(scores[m][n][i], m, n, i);
  }

  // Turns products into scores, times log2(e).
  __device__ void mask_scores(float (&scores)[kTiles][kOther / 8][4], int tile) const {
    const float scale = static_cast<float>(args.scale) * kLog2E;
    for_each(scores, [&](float& score, int, int, int) { score *= scale; });
    if (mask) {
      for_each(scores, [&](float& score, int m, int n, int i) {
        const int row = row_at(m, i), column = tile + column_at(n, i);
        const int query = kByQuery ? row : column, key = kByQuery ? column : row;
        if (query >= queries || key >= keys) return;
        const long long at = query * args.mask.row + key * args.mask.column;
        if (!args.mask_is_bool)
          score += kLog2E * static_cast<const float*>(mask)[at];
        else if (!static_cast<const unsigned char*>(mask)[at])
          score = -math::infinity<float>();
      });
    }
    const bool is_whole = tile + kOther <= (kByQuery ? keys : queries);
    const bool in_triangle =
        !args.is_causal || (kByQuery ? tile + kOther - 1 <= first : first + kRows - 1 <= tile);
    if (is_whole && in_triangle) return;
    // Rows past the end are not stored, but their scores must be finite or -inf.
    for_each(scores, [&](float& score, int m, int n, int i) {
      const int row = row_at(m, i), column = tile + column_at(n, i);
      const bool is_past = column >= (kByQuery ? keys : queries);
      const bool is_later = args.is_causal && (kByQuery ? column > row : row > column);
      score = is_past || is_later ? -math::infinity<float>() : score;
    });
  }

  __device__ void run() {
    constexpr int kHalves = 2 * kTiles;  // rows of a lane: two in each tile
    float total[kTiles][kFeatures / 8][4];
    float total_too[kHasTwo ? kTiles : 1][kHasTwo ? kFeatures / 8 : 1][4];
    clear(total);
    clear(total_too);
    float largest[kHalves], sum[kHalves], shift[kHalves], mean[kHalves];
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      largest[h] = -math::infinity<float>(), sum[h] = 0.0f;
      if constexpr (part == AttentionPart::kQuery) {
        shift[h] = logsumexp_of(row_at(h / 2, h % 2 * 2));
        mean[h] = mean_of(row_at(h / 2, h % 2 * 2));
      }
    }

    int begin = 0, end = kByQuery ? keys : queries;
    if (args.is_causal && kByQuery && first + kRows < end) end = first + kRows;
    if (args.is_causal && !kByQuery) begin = first / kOther * kOther;
    fetch_rows<T, kFeatures, kRows, kBlock>(shared, own, first, args.is_aligned);
    if constexpr (kHasSlopes)
      fetch_rows<T, kFeatures, kRows, kBlock>(shared + kRows * kFeatures, own_too, first,
                                              args.is_aligned);
    if (begin < end) fetch(begin, 0);
    end_copies();
    int now = 0;
    for (int tile = begin; tile < end; tile += kOther, now ^= 1) {
      if (tile + kOther < end) fetch(tile + kOther, now ^ 1);
      end_copies();
      wait_for_copies<1>();
      __syncthreads();
      float scores[kTiles][kOther / 8][4];
      clear(scores);
      multiply_tiles<T, kFeatures, kTiles, kOther>(scores, own_rows(0), stage(now, 0));
      mask_scores(scores, tile);
      if constexpr (!kIsGradient) {
        weigh(scores, largest, sum, total);
        add_weighted_rows<T, kFeatures, kTiles, kOther>(total, scores, stage(now, 1));
      } else {
        for_each(scores, [&](float& score, int m, int n, int i) {
          const float less = kByQuery ? shift[m * 2 + i / 2] : line(now, 0)[column_at(n, i)];
          score = exp2_of(score - less);
        });
        if constexpr (part == AttentionPart::kValue)
          add_weighted_rows<T, kFeatures, kTiles, kOther>(total, scores, stage(now, 1));
        if constexpr (kHasTwo)
          add_weighted_rows<T, kFeatures, kTiles, kOther>(total_too, scores, stage(now, 1));
        if constexpr (kHasSlopes) {
          float slopes[kTiles][kOther / 8][4];
          clear(slopes);
          multiply_tiles<T, kFeatures, kTiles, kOther>(slopes, own_rows(1), stage(now, 1));
          for_each(scores, [&](float& score, int m, int n, int i) {
            const float less = kByQuery ? mean[m * 2 + i / 2] : line(now, 1)[column_at(n, i)];
            score *= slopes[m][n][i] - less;
          });
          add_weighted_rows<T, kFeatures, kTiles, kOther>(total, scores, stage(now, 0));
        }
      }
      __syncthreads();
    }

    float factor[kHalves];
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      factor[h] = kHasSlopes ? static_cast<float>(args.scale) : 1.0f;
      if constexpr (!kIsGradient) {
        const float all = join_four(sum[h], [](float a, float b) { return a + b; });
        factor[h] = all == 0.0f ? 0.0f : 1.0f / all;
        const int row = row_at(h / 2, h % 2 * 2);
        if (lane % 4 == 0 && row < queries)
          static_cast<float*>(args.logsumexp)[head * args.queries + row] =
              largest[h] * kLn2 + math::log(all);
      }
    }
    constexpr bool kIsOfFeatures =
        part == AttentionPart::kQuery || part == AttentionPart::kKey || kHasTwo;
    store(args.target, total, factor, kIsOfFeatures ? args.features : args.value_features);
    if constexpr (kHasTwo) {
#pragma unroll
      for (int h = 0; h < kHalves; ++h) factor[h] = 1.0f;
      store(args.target_too, total_too, factor, args.value_features);
    }
  }

  // Scores become weights, relative to the largest one of their row so far, as `total` does.
  __device__ void weigh(float (&scores)[kTiles][kOther / 8][4], float (&largest)[2 * kTiles],
                        float (&sum)[2 * kTiles], float (&total)[kTiles][kFeatures / 8][4]) const {
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int h = m * 2 + half;
        float most = largest[h];
#pragma unroll
        for (int n = 0; n < kOther / 8; ++n)
          most = larger_of(most, larger_of(scores[m][n][half * 2], scores[m][n][half * 2 + 1]));
        most = join_four(most, [](float a, float b) { return larger_of(a, b); });
        // While all scores are -inf, differences from 0 make weights of 0.
        const float shift = most == -math::infinity<float>() ? 0.0f : most;
        const float factor = exp2_of(largest[h] - shift);
        largest[h] = most;
        sum[h] *= factor;
#pragma unroll
        for (int n = 0; n < kOther / 8; ++n)
#pragma unroll
          for (int e = half * 2; e < half * 2 + 2; ++e) {
            scores[m][n][e] = exp2_of(scores[m][n][e] - shift);
            sum[h] += scores[m][n][e];
          }
#pragma unroll
        for (int n = 0; n < kFeatures / 8; ++n) {
          total[m][n][half * 2] *= factor;
          total[m][n][half * 2 + 1] *= factor;
        }
      }
  }

  __device__ void store(const HeadMatrices& target, const float (&total)[kTiles][kFeatures / 8][4],
                        const float (&factor)[2 * kTiles], long long columns) const {
    const int rows = kByQuery ? queries : keys;
    T* const to = head_of<T>(args, target, head);
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = row_at(m, half * 2);
        if (row >= rows) continue;
#pragma unroll
        for (int n = 0; n < kFeatures / 8; ++n) {
          const int column = column_at(n, 0);
          const float low = total[m][n][half * 2] * factor[m * 2 + half];
          const float high = total[m][n][half * 2 + 1] * factor[m * 2 + half];
          T* const at = to + row * target.row + column;
          if (args.is_aligned) {
            if (column < columns) *reinterpret_cast<unsigned*>(at) = pack_pair<T>(low, high);
          } else {
            if (column < columns) at[0] = convert<T>(low);
            if (column + 1 < columns) at[1] = convert<T>(high);
          }
        }
      }
  }
};

template <class T, AttentionPart part, int kFeatures, int kTiles, int kWarps, int kOther>
__device__ inline void attention_by_tiles(const AttentionArguments& args) {
#if defined(FB_EMULATED)
  alignas(16) static char shared[1 << 18];
#else
  extern __shared__ __align__(16) char shared[];
#endif
  AttentionByTiles<T, part, kFeatures, kTiles, kWarps, kOther>(args, shared).run();
}

}  // namespace fb::device

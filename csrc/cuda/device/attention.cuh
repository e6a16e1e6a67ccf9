// Attention without the matrix of all weights. 16-bit elements are computed in float.
//
// Note [Attention on the device]: a block of threads computes some rows of the output, or of a
// gradient. It walks along the other side, keys for queries and queries for keys, a square tile of
// scores at a time: a thread has some scores in registers, turns them into weights, or into the
// gradients of scores, and the block multiplies those, by way of shared memory, with the rows of
// that other side. Gradients recompute the weights from the log-sum-exp of their queries, each
// gradient for itself, so that nobody adds to what another block writes: results are the same every
// time. Tensor cores do the same for 16-bit elements: attention_mma.cuh.
#pragma once

#include "cuda/device/attention_args.h"
#include "cuda/device/reduce.cuh"

namespace fb::device {

// The columns that are multiplied at a time.
inline constexpr int kAttentionDepth = 32;
// A thread has so many rows of a tile, and as many columns.
template <class V>
inline constexpr int kAttentionOwn = sizeof(V) == 8 ? 2 : 4;
template <class V>
inline constexpr int kAttentionSide = 16 * kAttentionOwn<V>;
template <class V>
inline constexpr int kAttentionStage = 2 * kAttentionDepth * (kAttentionSide<V> + 1);

// The rows of a head; columns are adjacent.
template <class T>
struct HeadRows {
  const T* data;
  long long row, rows, columns;
};

template <class T>
__device__ inline T* head_of(const AttentionArguments& args, const HeadMatrices& all,
                             long long head) {
  long long offset = 0;
  for (int d = args.dims - 1; d >= 0; --d) {
    const long long next = head / args.batch[d];
    offset += (head - next * args.batch[d]) * all.lead[d];
    head = next;
  }
  return static_cast<T*>(all.data) + offset;
}

// sums[y][x] = row y of this thread's on the left times row x of its on the right.
template <class T, class V = Wide<T>>
__device__ inline void multiply_rows(const HeadRows<T>& left, long long first_left,
                                     const HeadRows<T>& right, long long first_right, V* stage,
                                     V (&sums)[kAttentionOwn<V>][kAttentionOwn<V>]) {
  constexpr int kOwn = kAttentionOwn<V>, kSide = kAttentionSide<V>;
  const int tx = static_cast<int>(threadIdx.x) % 16, ty = static_cast<int>(threadIdx.x) / 16;
  V* const a = stage;
  V* const b = stage + kAttentionDepth * (kSide + 1);
  for (int y = 0; y < kOwn; ++y)
    for (int x = 0; x < kOwn; ++x) sums[y][x] = V(0);
  for (long long depth = 0; depth < left.columns; depth += kAttentionDepth) {
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < kSide * kAttentionDepth; at += kThreads) {
      const int d = at % kAttentionDepth, r = at / kAttentionDepth;
      const bool inside = depth + d < left.columns;
      const long long l = first_left + r, m = first_right + r;
      a[d * (kSide + 1) + r] =
          inside && l < left.rows ? convert<V>(left.data[l * left.row + depth + d]) : V(0);
      b[d * (kSide + 1) + r] =
          inside && m < right.rows ? convert<V>(right.data[m * right.row + depth + d]) : V(0);
    }
    __syncthreads();
    for (int d = 0; d < kAttentionDepth; ++d) {
      V own[kOwn], other[kOwn];
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        own[i] = a[d * (kSide + 1) + ty * kOwn + i];
        other[i] = b[d * (kSide + 1) + tx + 16 * i];
      }
#pragma unroll
      for (int y = 0; y < kOwn; ++y)
#pragma unroll
        for (int x = 0; x < kOwn; ++x) sums[y][x] += own[y] * other[x];
    }
  }
}

// total[y][j] += the tile's weights for row y times column j of the rows from `first` on. Weights
// are transposed: a line for each of those rows.
template <int kWide, class T, class V = Wide<T>>
__device__ inline void add_product(const V (*weights)[kAttentionSide<V> + 1],
                                   const HeadRows<T>& rows, long long first, long long column,
                                   V* stage, V (&total)[kAttentionOwn<V>][kWide]) {
  constexpr int kOwn = kAttentionOwn<V>, kSide = kAttentionSide<V>, kColumns = 16 * kWide;
  constexpr int kFit = kAttentionStage<V> / kColumns / 8 * 8;
  constexpr int kRows = kFit < kSide ? kFit : kSide;
  static_assert(kSide % kRows == 0);
  const int tx = static_cast<int>(threadIdx.x) % 16, ty = static_cast<int>(threadIdx.x) / 16;
  for (int begin = 0; begin < kSide && first + begin < rows.rows; begin += kRows) {
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < kRows * kColumns; at += kThreads) {
      const int c = at % kColumns, r = at / kColumns;
      const long long from = first + begin + r;
      stage[at] = from < rows.rows && column + c < rows.columns
                      ? convert<V>(rows.data[from * rows.row + column + c])
                      : V(0);
    }
    __syncthreads();
    for (int r = 0; r < kRows; ++r) {
      V own[kOwn];
#pragma unroll
      for (int y = 0; y < kOwn; ++y) own[y] = weights[begin + r][ty * kOwn + y];
#pragma unroll
      for (int j = 0; j < kWide; ++j) {
        const V value = stage[r * kColumns + tx + 16 * j];
#pragma unroll
        for (int y = 0; y < kOwn; ++y) total[y][j] += own[y] * value;
      }
    }
  }
}

// Joins the numbers of the 16 threads that share rows of a tile.
template <class V, class Join>
__device__ inline V join_sixteen(V own, Join join) {
  for (int lanes = 8; lanes > 0; lanes /= 2) own = join(own, __shfl_xor_sync(~0u, own, lanes));
  return own;
}

// The softmax of the rows so far: their largest scores, and this thread's share of the sums of
// exponentials relative to those.
template <class V>
struct RunningSoftmax {
  static constexpr int kOwn = kAttentionOwn<V>;
  V largest[kOwn], sum[kOwn];

  __device__ RunningSoftmax() {
    for (int y = 0; y < kOwn; ++y) {
      largest[y] = -math::infinity<V>();
      sum[y] = V(0);
    }
  }
  // Turns scores into weights; `total` is made relative to the new largest scores.
  template <int kWide>
  __device__ void add(V (&scores)[kOwn][kOwn], V (&total)[kOwn][kWide]) {
    for (int y = 0; y < kOwn; ++y) {
      V most = largest[y];
      for (int x = 0; x < kOwn; ++x) most = scores[y][x] > most ? scores[y][x] : most;
      most = join_sixteen(most, [](V a, V b) { return a > b ? a : b; });
      // While all scores are -inf, differences from 0 make weights of 0.
      const V shift = most == -math::infinity<V>() ? V(0) : most;
      const V factor = math::exp(largest[y] - shift);
      largest[y] = most;
      sum[y] *= factor;
      for (int x = 0; x < kOwn; ++x) {
        scores[y][x] = math::exp(scores[y][x] - shift);
        sum[y] += scores[y][x];
      }
      for (int j = 0; j < kWide; ++j) total[y][j] *= factor;
    }
  }
};

// A thread's place in a tile: its rows are neighbours, its columns 16 apart.
template <class V>
struct AttentionPlace {
  long long head, first, column;  // of the tile, and of the target's columns
  int tx, ty;

  __device__ AttentionPlace(const AttentionArguments& args, int columns)
      : tx(static_cast<int>(threadIdx.x) % 16), ty(static_cast<int>(threadIdx.x) / 16) {
    long long block = blockIdx.x;
    const long long rest = block / args.column_blocks;
    column = (block - rest * args.column_blocks) * columns;
    head = rest / args.row_blocks;
    // Later queries see more keys under a causal mask: they begin first.
    first = (args.row_blocks - 1 - (rest - head * args.row_blocks)) * kAttentionSide<V>;
  }
  __device__ long long row(int y) const { return first + ty * kAttentionOwn<V> + y; }
  __device__ long long other(long long tile, int x) const { return tile + tx + 16 * x; }
};

// The scores of a tile, from products: scaled and masked.
template <class V>
__device__ inline V masked_score(const AttentionArguments& args, const void* mask,
                                 long long query, long long key, V product) {
  const bool outside = query >= args.queries || key >= args.keys;
  if (outside || (args.is_causal && key > query)) return -math::infinity<V>();
  const V score = product * static_cast<V>(args.scale);
  if (!mask) return score;
  const long long at = query * args.mask.row + key * args.mask.column;
  if (!args.mask_is_bool) return score + static_cast<const V*>(mask)[at];
  return static_cast<const unsigned char*>(mask)[at] ? score : -math::infinity<V>();
}

template <class T, AttentionPart part, int kWide>
__device__ inline void attention_part(const AttentionArguments& args) {
  using V = Wide<T>;
  constexpr int kOwn = kAttentionOwn<V>, kSide = kAttentionSide<V>;
  constexpr bool kByQuery = part == AttentionPart::kOutput || part == AttentionPart::kQuery;
  constexpr bool kIsGradient = part != AttentionPart::kOutput;
  __shared__ V stage[kAttentionStage<V>];
  __shared__ V weights[kSide][kSide + 1];
  const AttentionPlace<V> place(args, 16 * kWide);
  const auto rows_of = [&](const HeadMatrices& all, long long rows, long long columns) {
    return HeadRows<T>{head_of<const T>(args, all, place.head), all.row, rows, columns};
  };
  const HeadRows<T> query = rows_of(args.query, args.queries, args.features);
  const HeadRows<T> key = rows_of(args.key, args.keys, args.features);
  const HeadRows<T> value = rows_of(args.value, args.keys, args.value_features);
  HeadRows<T> coming{};
  if constexpr (kIsGradient) coming = rows_of(args.d_output, args.queries, args.value_features);
  const void* mask = nullptr;
  if (args.mask.data && args.mask_is_bool)
    mask = head_of<const unsigned char>(args, args.mask, place.head);
  else if (args.mask.data)
    mask = head_of<const V>(args, args.mask, place.head);
  const auto* const logsumexp = static_cast<const V*>(args.logsumexp) + place.head * args.queries;
  const auto* const means = static_cast<const V*>(args.means) + place.head * args.queries;

  RunningSoftmax<V> softmax;
  V total[kOwn][kWide];
  for (int y = 0; y < kOwn; ++y)
    for (int j = 0; j < kWide; ++j) total[y][j] = V(0);
  long long begin = 0, end = kByQuery ? args.keys : args.queries;
  if (args.is_causal && kByQuery && place.first + kSide < end) end = place.first + kSide;
  if (args.is_causal && !kByQuery) begin = place.first;
  for (long long tile = begin; tile < end; tile += kSide) {
    V scores[kOwn][kOwn];
    multiply_rows(kByQuery ? query : key, place.first, kByQuery ? key : query, tile, stage, scores);
    for (int y = 0; y < kOwn; ++y)
      for (int x = 0; x < kOwn; ++x) {
        const long long row = place.row(y), other = place.other(tile, x);
        scores[y][x] = masked_score(args, mask, kByQuery ? row : other, kByQuery ? other : row,
                                    scores[y][x]);
      }
    if constexpr (!kIsGradient) {
      softmax.add(scores, total);
    } else {
      V slopes[kOwn][kOwn];
      if constexpr (part != AttentionPart::kValue)
        multiply_rows(kByQuery ? coming : value, place.first, kByQuery ? value : coming, tile,
                      stage, slopes);
      for (int i = 0; i < kOwn; ++i) {
        const long long at = kByQuery ? place.row(i) : place.other(tile, i);
        const bool sees = at < args.queries && logsumexp[at] != -math::infinity<V>();
        // A query that sees no keys has no weights: exp(-inf).
        const V shift = sees ? logsumexp[at] : math::infinity<V>();
        const V mean = part != AttentionPart::kValue && sees ? means[at] : V(0);
        for (int j = 0; j < kOwn; ++j) {
          const int y = kByQuery ? i : j, x = kByQuery ? j : i;
          V& score = scores[y][x];
          score = math::exp(score - shift);
          if constexpr (part != AttentionPart::kValue)
            score *= (slopes[y][x] - mean) * static_cast<V>(args.scale);
        }
      }
    }
    __syncthreads();  // whoever still reads the weights of the tile before
    for (int y = 0; y < kOwn; ++y)
      for (int x = 0; x < kOwn; ++x) weights[place.tx + 16 * x][place.ty * kOwn + y] = scores[y][x];
    add_product<kWide>(weights,
                       part == AttentionPart::kOutput  ? value
                       : part == AttentionPart::kQuery ? key
                       : part == AttentionPart::kKey   ? query
                                                       : coming,
                       tile, place.column, stage, total);
  }

  constexpr bool kIsOfFeatures = part == AttentionPart::kQuery || part == AttentionPart::kKey;
  const long long rows = kByQuery ? args.queries : args.keys;
  const long long columns = kIsOfFeatures ? args.features : args.value_features;
  T* const target = head_of<T>(args, args.target, place.head);
  for (int y = 0; y < kOwn; ++y) {
    const long long row = place.row(y);
    V factor = V(1);
    if constexpr (!kIsGradient) {
      const V sum = join_sixteen(softmax.sum[y], [](V a, V b) { return a + b; });
      factor = sum == V(0) ? V(0) : V(1) / sum;
      if (place.tx == 0 && place.column == 0 && row < rows)
        static_cast<V*>(args.logsumexp)[place.head * args.queries + row] =
            softmax.largest[y] + math::log(sum);
    }
    if (row >= rows) continue;
    for (int j = 0; j < kWide; ++j) {
      const long long column = place.column + place.tx + 16 * j;
      if (column < columns)
        target[row * args.target.row + column] = convert<T>(total[y][j] * factor);
    }
  }
}

// A warp for each query: the mean of its weights' gradients, which is the product of its output
// with the output's gradient.
template <class T>
__device__ inline void attention_mean(const AttentionArguments& args) {
  using V = Wide<T>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const long long at = static_cast<long long>(blockIdx.x) * (kThreads / 32) + threadIdx.x / 32;
  const bool inside = at < args.heads * args.queries;
  V sum = V(0);
  if (inside) {
    const long long head = at / args.queries, query = at - head * args.queries;
    const T* const output = head_of<const T>(args, args.output, head) + query * args.output.row;
    const T* const coming =
        head_of<const T>(args, args.d_output, head) + query * args.d_output.row;
    for (long long e = lane; e < args.value_features; e += 32)
      sum += convert<V>(output[e]) * convert<V>(coming[e]);
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (inside && lane == 0) static_cast<V*>(args.means)[at] = sum;
}

}  // namespace fb::device

// Scaled dot product attention, softmax(scale Q K^T + mask) V, head by head, without the matrix of
// all weights.
#pragma once

#include "core/dims.h"
#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// The matrices of all heads. `lead` are the strides of the leading dimensions; within a head,
// element (i, j) is at i * row + j * column.
struct HeadMatrices {
  void* data = nullptr;
  Dims lead;
  int64_t row = 0, column = 1;
};

// Sizes and operands that forward and backward share. Columns are adjacent, except in a mask that
// is the same for all queries. The mask has elements of `dtype`, or bool with true for keys that
// take part.
struct AttentionCall {
  DType dtype;  // float32 or float64
  Dims batch;   // sizes of the leading dimensions
  int64_t heads, queries, keys, features, value_features;
  HeadMatrices query, key, value, mask;
  bool mask_is_bool;
  bool is_causal;  // query i sees the keys up to i
  double scale;
  HeadMatrices output;
  void* logsumexp;  // of every query's scores, in the type that is computed in; contiguous
                    // (heads, queries)
};

struct AttentionGradients {
  HeadMatrices output;             // incoming
  HeadMatrices query, key, value;  // to be filled
};

struct Attention {
  // Whether the kernels take the type as it is; otherwise the caller computes in float32.
  Slot<bool(DType dtype)> attention_supports;
  Slot<void(const AttentionCall& call)> attention;
  Slot<void(const AttentionCall& call, const AttentionGradients& gradients)> attention_backward;
};

}  // namespace fb::kernel

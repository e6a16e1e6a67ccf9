// What the kernels of csrc/cuda/attention.cpp are given.
#pragma once

namespace fb::device {

inline constexpr int kAttentionDims = 8;

// As kernel::HeadMatrices.
struct HeadMatrices {
  void* data;
  long long lead[kAttentionDims];
  long long row, column;
};

// What a kernel computes: the output, or a gradient.
enum class AttentionPart : int { kOutput, kQuery, kKey, kValue, kKeyValue };

// As kernel::AttentionCall.
struct AttentionArguments {
  int dims;
  long long batch[kAttentionDims];
  long long heads, queries, keys, features, value_features;
  HeadMatrices query, key, value, mask, output;  // no mask: null
  HeadMatrices d_output;                         // of gradients
  HeadMatrices target;                           // what is computed
  HeadMatrices target_too;                       // of two: the gradient of values
  void* logsumexp;
  void* means;  // of the gradients of each query's weights
  double scale;
  bool mask_is_bool, is_causal;
  bool is_aligned;  // rows begin at multiples of 16 bytes, and end there
  // Of the target, which blocks of threads have in common.
  long long row_blocks, column_blocks;
};

}  // namespace fb::device

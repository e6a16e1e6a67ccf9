// Note [Deferred weight gradients]: the gradient of a weight that a loop uses at every step is a
// sum of products A^T B of matrices with few rows, one per step. Computed one by one, each reads
// and writes the whole sum. Nodes may hand over the factors instead; a backward run collects them
// and multiplies many at once.
#pragma once

#include "core/tensor.h"

namespace fb::autograd {

class DeferredProducts {
 public:
  // Adds the product of rows that the caller writes: `left` of p and `right` of q elements each.
  struct Rows {
    void* left;
    void* right;
  };
  // Room for `count` more rows of each factor of a p x q product, at most kMostRows.
  Rows append(int64_t count, int64_t p, int64_t q, DType dtype, Device device, Tensor& sum);
  // Multiplies the collected rows and adds the product to `sum`, which may be undefined.
  void flush(Tensor& sum);

  static constexpr int64_t kMostRows = 16;

 private:
  static constexpr int64_t kCapacity = 64;

  Tensor left_, right_;
  int64_t rows_ = 0;
};

// Room for rows of the factors of the gradient of `weight` in the backward run of this thread, or
// nulls: then the caller computes the gradient itself.
DeferredProducts::Rows defer_weight_gradient(const Tensor& weight, int64_t count);
// The same for an input of the node that is executing, which then need not save the weight.
DeferredProducts::Rows defer_input_gradient(size_t input, int64_t count);

}  // namespace fb::autograd

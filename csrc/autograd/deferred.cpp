#include "autograd/deferred.h"

#include "autograd/ownership.h"
#include "autograd/sparse.h"
#include "gen/ops/sparse.h"
#include "kernel/table.h"
#include "ops/output.h"

namespace fb::autograd {

DeferredProducts::Rows DeferredProducts::append(int64_t count, int64_t p, int64_t q, DType dtype,
                                                Device device, Tensor& sum) {
  if (rows_ + count > kCapacity) flush(sum);
  if (!left_) {
    left_ = make_tensor({kCapacity, p}, dtype, device);
    right_ = make_tensor({kCapacity, q}, dtype, device);
  }
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  const Rows rows{static_cast<char*>(left_.data()) + rows_ * p * bytes,
                  static_cast<char*>(right_.data()) + rows_ * q * bytes};
  rows_ += count;
  return rows;
}

void DeferredProducts::flush(Tensor& sum) {
  if (rows_ == 0) return;
  const int64_t p = left_.size(1), q = right_.size(1);
  if (is_sparse(sum)) sum = ops::to_dense(sum);
  const bool accumulate = sum.defined();
  // Others may hold the gradient that is the sum so far.
  if (!accumulate)
    sum = make_tensor({p, q}, left_.dtype(), left_.device());
  else if (sum->refs != 1 || sum->python_object || sum->storage->refs != 1 ||
           !is_own_memory(*sum->storage.get()) || !sum.is_contiguous())
    sum = ops::copy_contiguous(sum);
  kernel::of(sum).gemm({.dtype = left_.dtype(),
                        .batch = 1,
                        .m = p,
                        .n = q,
                        .k = rows_,
                        .a = {left_.data(), p, true},
                        .b = {right_.data(), q},
                        .c = {sum.data(), q},
                        .accumulate = accumulate});
  rows_ = 0;
}

}  // namespace fb::autograd

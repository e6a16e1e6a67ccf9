// Sparse tensors in coordinate form.
#include "autograd/sparse.h"

#include "autograd/history.h"
#include "kernel/table.h"

namespace fb {

Tensor make_sparse(IntSpan sizes, SparseParts parts) {
  const DType dtype = parts.values.dtype();
  const Tensor zero = make_tensor({}, dtype, parts.values.device());
  kernel::of(zero).fill(zero, 0);
  Tensor result =
      tensor_over(zero.storage(), sizes, Dims(sizes.size(), 0), 0, dtype, zero.device());
  result->contiguous = false;
  result->flags |= kSparse;
  parts.is_coalesced |= parts.count() < 2;
  autograd::meta_of(result).sparse = std::make_unique<SparseParts>(std::move(parts));
  return result;
}

Tensor make_sparse_zeros(IntSpan sizes, int64_t sparse_dim, DType dtype, Device device) {
  Dims values{0};
  for (const int64_t size : after(sizes, sparse_dim)) values.push_back(size);
  return make_sparse(sizes, {make_tensor({sparse_dim, 0}, DType::kInt64, device),
                             make_tensor(values, dtype, device), true});
}

SparseParts& sparse_parts(const Tensor& t) { return *t->autograd->sparse; }

void refuse_sparse(const char* name) {
  fail(ErrorKind::kNotImplemented, "could not run '", name,
       "' with a sparse tensor: the operator has no sparse form; convert it with .to_dense() "
       "first");
}

}  // namespace fb

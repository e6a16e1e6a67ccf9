// Softmax and its relatives.
#include "cuda/softmax.h"

#include <algorithm>
#include <bit>

#include "cuda/device/softmax_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel rows_kernel("softmax.cuh", "softmax_rows", "SoftmaxArguments");
TypedKernel gradients_kernel("softmax.cuh", "softmax_gradients", "SoftmaxArguments");

void run(TypedKernel& kernel, kernel::SoftmaxOp op, DType dtype, device::SoftmaxArguments args) {
  const int64_t rows = args.outer * args.inner;
  if (rows == 0) return;
  const int device = place_of(args.out);
  use(device);
  args.columns = args.inner > 1;
  const int64_t most = args.columns ? 8 : 256;
  args.lanes = static_cast<int>(std::clamp<int64_t>(
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(args.n / 4, 1)))),
      1, most));
  const int number = static_cast<int>(op);
  const std::string variant = message_of("static_cast<SoftmaxOp>(", number, ")");
  launch(device, kernel.on(device, dtype, number, variant.c_str()),
         {blocks_for(rows, 256 / args.lanes)}, 256, args);
}

}  // namespace

void softmax(kernel::SoftmaxOp op, DType dtype, const void* in, void* out, int64_t outer, int64_t n,
             int64_t inner) {
  run(rows_kernel, op, dtype, {in, nullptr, out, outer, n, inner, 0, false});
}

void softmax_backward(kernel::SoftmaxOp op, DType dtype, const void* gradient, const void* result,
                      void* out, int64_t outer, int64_t n, int64_t inner) {
  run(gradients_kernel, op, dtype, {result, gradient, out, outer, n, inner, 0, false});
}

}  // namespace fb::cuda

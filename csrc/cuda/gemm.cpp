// Matrix products: by cuBLASLt, or by a kernel of our own for integers and where there is none.
#include "cuda/gemm.h"

#include <algorithm>

#include "cuda/device/gemm_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

TypedKernel tile_kernel("gemm.cuh", "product_tile", "ProductArguments");

}  // namespace

bool gemm_supports(DType dtype) { return dtype != DType::kBool; }

void gemm(const kernel::GemmCall& call) {
  if (call.m == 0 || call.n == 0 || call.batch == 0) return;
  const int device = place_of(call.c.data);
  use(device);
  if (call.k > 0 && gemm_cublas(device, call)) return;
  const auto row_step = [](const kernel::MatrixIn& m) { return m.transposed ? 1 : m.ld; };
  const auto column_step = [](const kernel::MatrixIn& m) { return m.transposed ? m.ld : 1; };
  device::ProductArguments args{};
  args.a = call.a.data, args.b = call.b.data, args.c = call.c.data, args.bias = call.bias;
  args.m = call.m, args.n = call.n, args.k = call.k, args.batch = call.batch;
  args.a_row = row_step(call.a), args.a_column = column_step(call.a);
  args.a_batch = call.a.batch_stride;
  args.b_row = row_step(call.b), args.b_column = column_step(call.b);
  args.b_batch = call.b.batch_stride;
  args.c_row = call.c.ld, args.c_batch = call.c.batch_stride;
  args.accumulate = call.accumulate;
  const auto most = [](int64_t n) { return static_cast<unsigned>(std::min<int64_t>(n, 65535)); };
  launch(device, tile_kernel.on(device, call.dtype),
         {blocks_for(call.m, 64), most((call.n + 63) / 64), most(call.batch)}, 256, args);
}

}  // namespace fb::cuda

// What needs no LAPACK: factors taken apart, determinants, sums of squares.
#include "cuda/linalg.h"

#include <algorithm>

#include "cuda/device/linalg_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::Matrices;

TypedKernel unpack_kernel("linalg.cuh", "unpack_factor", "UnpackArguments");
TypedKernel permutation_kernel("linalg.cuh", "permutation_column", "PermutationArguments");
TypedKernel determinant_kernel("linalg.cuh", "determinant", "DiagonalArguments");
TypedKernel log_determinant_kernel("linalg.cuh", "log_determinant", "DiagonalArguments");
TypedKernel triangle_kernel("linalg.cuh", "triangle_element", "PackedArguments");
TypedKernel squares_kernel("linalg.cuh", "sum_of_squares", "SquaresArguments");

constexpr int kWarps = 8;  // of a block

// A thread for each of `n` elements, or a warp if there are as many of them in a block.
template <class Arguments>
void run(TypedKernel& kernel, DType dtype, const void* out, int64_t n, int64_t per_block,
         const Arguments& args) {
  if (n == 0) return;
  const int device = place_of(out);
  use(device);
  launch(device, kernel.on(device, dtype), {blocks_for(n, per_block)}, 256, args);
}

}  // namespace

void lu_unpack(DType dtype, int64_t batch, int64_t m, int64_t n, const void* lu, void* l, void* u) {
  const int64_t k = std::min(m, n);
  run(unpack_kernel, dtype, l, batch * m * k, 256,
      device::UnpackArguments{lu, l, batch * m * k, m, k, m, n, true});
  run(unpack_kernel, dtype, u, batch * k * n, 256,
      device::UnpackArguments{lu, u, batch * k * n, k, n, m, n, false});
}

void pivots_to_permutation(DType dtype, int64_t batch, int64_t m, int64_t k, const int32_t* pivots,
                           void* p) {
  run(permutation_kernel, dtype, p, batch * m, 256,
      device::PermutationArguments{pivots, p, batch * m, m, k});
}

void determinant(const Matrices& lu, const int32_t* pivots, void* out) {
  run(determinant_kernel, lu.dtype, out, lu.batch, kWarps,
      device::DiagonalArguments{lu.data, pivots, out, nullptr, lu.batch, lu.columns});
}

void log_determinant(const Matrices& lu, const int32_t* pivots, void* sign, void* log) {
  run(log_determinant_kernel, lu.dtype, sign, lu.batch, kWarps,
      device::DiagonalArguments{lu.data, pivots, sign, log, lu.batch, lu.columns});
}

void qr_triangle(const Matrices& packed, const Matrices& r) {
  const int64_t n = r.batch * r.rows * r.columns;
  run(triangle_kernel, r.dtype, r.data, n, 256,
      device::PackedArguments{packed.data, r.data, n, packed.rows, packed.columns, r.rows,
                              r.columns});
}

void sum_squares_below(const Matrices& x, int64_t first, void* sums) {
  const int64_t n = x.batch * x.columns;
  run(squares_kernel, x.dtype, sums, n, kWarps,
      device::SquaresArguments{x.data, sums, n, x.rows, first});
}

}  // namespace fb::cuda

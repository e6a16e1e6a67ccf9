// Distances between the rows of arrays.
#include "cuda/distance.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cuda/device/distance_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::PairArguments;
using kernel::PairCall;

TypedKernel distances_kernel("distance.cuh", "pair_distances", "PairArguments");
TypedKernel gradient_kernel("distance.cuh", "pair_gradient", "PairArguments");
TypedKernel all_kernel("distance.cuh", "all_distances", "AllPairsArguments");

constexpr int64_t kThreads = 256;

void run(TypedKernel& kernel, const PairCall& call, PairArguments args) {
  if (call.rows == 0) return;
  args.rows = call.rows, args.columns = call.columns;
  args.first = call.first, args.second = call.second;
  args.eps = call.eps;
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(call.columns / 4, 1));
  args.lanes =
      static_cast<int>(std::min<int64_t>(static_cast<int64_t>(std::bit_ceil(wanted)), kThreads));
  const int device = place_of(args.out);
  use(device);
  launch(device, kernel.on(device, call.dtype), {blocks_for(call.rows, kThreads / args.lanes)},
         kThreads, args);
}

}  // namespace

void pair_distances(const PairCall& call, void* out) {
  PairArguments args{};
  args.out = out;
  run(distances_kernel, call, args);
}

void pair_gradient(const PairCall& call, const void* gradients, const void* distances, void* out) {
  PairArguments args{};
  args.gradients = gradients, args.distances = distances, args.out = out;
  run(gradient_kernel, call, args);
}

void pairwise_distances(DType dtype, int64_t batch, int64_t rows, int64_t columns, int64_t depth,
                        const void* a, const void* b, double p, void* out) {
  if (batch == 0 || rows == 0 || columns == 0) return;
  constexpr const char* norms[] = {"CountNorm", "ManhattanNorm", "EuclideanNorm", "LargestNorm",
                                   "GeneralNorm"};
  const int norm = p == 0 ? 0 : p == 1 ? 1 : p == 2 ? 2 : std::isinf(p) ? 3 : 4;
  constexpr int64_t side = 16;
  const int64_t blocks = batch * ((rows + side - 1) / side) * ((columns + side - 1) / side);
  const int device = place_of(out);
  use(device);
  launch(device, all_kernel.on(device, dtype, norm, norms[norm]), {static_cast<unsigned>(blocks)},
         kThreads, device::AllPairsArguments{batch, rows, columns, depth, a, b, out, p});
}

}  // namespace fb::cuda

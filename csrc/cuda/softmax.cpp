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

struct Kernels {
  TypedKernel streamed, kept;  // rows that are read again, and rows in registers
};
Kernels rows_kernels{{"softmax.cuh", "softmax_rows", "SoftmaxArguments"},
                     {"softmax.cuh", "softmax_kept_rows", "SoftmaxArguments"}};
Kernels gradients_kernels{{"softmax.cuh", "softmax_gradients", "SoftmaxArguments"},
                          {"softmax.cuh", "softmax_kept_gradients", "SoftmaxArguments"}};

constexpr int kThreads = 256;
// Elements that a thread keeps in registers: of usual rows, and at most.
constexpr int kKept = 8, kMostKept = 32;

int power_of_two(int64_t n) {
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

void run(Kernels& kernels, kernel::SoftmaxOp op, DType dtype, device::SoftmaxArguments args) {
  const int64_t rows = args.outer * args.inner;
  if (rows == 0) return;
  const int device = place_of(args.out);
  use(device);
  args.columns = args.inner > 1;
  const int number = static_cast<int>(op);
  const bool keeps = !args.columns && args.n <= int64_t{kThreads} * kMostKept;
  Function function;
  if (keeps) {
    args.lanes = std::min(power_of_two((args.n + kKept - 1) / kKept), kThreads);
    const int kept = std::max(kKept, power_of_two((args.n + args.lanes - 1) / args.lanes));
    const std::string variant = message_of("static_cast<SoftmaxOp>(", number, "), ", kept);
    function = kernels.kept.on(device, dtype, number * (kMostKept + 1) + kept, variant.c_str());
  } else {
    args.lanes = power_of_two(std::min<int64_t>(args.n / 4, args.columns ? 8 : kThreads));
    const std::string variant = message_of("static_cast<SoftmaxOp>(", number, ")");
    function = kernels.streamed.on(device, dtype, number, variant.c_str());
  }
  launch(device, function, {blocks_for(rows, kThreads / args.lanes)}, kThreads, args);
}

}  // namespace

void softmax(kernel::SoftmaxOp op, DType dtype, const void* in, void* out, int64_t outer, int64_t n,
             int64_t inner) {
  run(rows_kernels, op, dtype, {in, nullptr, out, outer, n, inner, 0, false});
}

void softmax_backward(kernel::SoftmaxOp op, DType dtype, const void* gradient, const void* result,
                      void* out, int64_t outer, int64_t n, int64_t inner) {
  run(gradients_kernels, op, dtype, {result, gradient, out, outer, n, inner, 0, false});
}

}  // namespace fb::cuda

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
  TypedKernel read_twice, held;  // the rows: in registers if they are short
  int64_t most_held;             // numbers of an array that a thread holds, twice as many at most
};
Kernels rows_kernels{{"softmax.cuh", "softmax_rows", "SoftmaxArguments"},
                     {"softmax.cuh", "softmax_held_rows", "SoftmaxArguments"},
                     32};
Kernels gradients_kernels{{"softmax.cuh", "softmax_gradients", "SoftmaxArguments"},
                          {"softmax.cuh", "softmax_held_gradients", "SoftmaxArguments"},
                          16};

constexpr int64_t kThreads = 256;
// Packs of a row that are read side by side in any case, so that whole sectors of memory are.
constexpr int64_t kSideBySide = 4;

int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }
int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

bool suits_packs(const device::SoftmaxArguments& args, int64_t pack) {
  const auto aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
  return args.inner == 1 && args.n % pack == 0 && aligned(args.in) && aligned(args.gradient) &&
         aligned(args.out);
}

void run(Kernels& kernels, kernel::SoftmaxOp op, DType dtype, device::SoftmaxArguments args) {
  const int64_t rows = args.outer * args.inner;
  if (rows == 0) return;
  const int device = place_of(args.out);
  use(device);
  const auto widest = static_cast<int64_t>(16 / size_of(dtype));
  const int64_t pack = suits_packs(args, widest) ? widest : 1, packs = args.n / pack;
  const int64_t most = kernels.most_held / pack / (dtype == DType::kFloat64 ? 2 : 1);
  const auto number = static_cast<int64_t>(op);
  Function function;
  if (args.inner == 1 && packs <= kThreads * most * 2) {
    args.lanes = static_cast<int>(std::min(
        std::max(power_of_two(divided(packs, most)), std::min(power_of_two(packs), kSideBySide)),
        kThreads));
    const int64_t held = power_of_two(divided(packs, args.lanes));
    const std::string variant =
        message_of("static_cast<SoftmaxOp>(", number, "), ", pack, ", ", held);
    function = kernels.held.on(device, dtype, static_cast<int>((number * 16 + pack) * 128 + held),
                               variant.c_str());
  } else {
    const int64_t wanted = power_of_two(divided(packs, args.inner > 1 ? 4 : 8));
    args.lanes = static_cast<int>(std::min<int64_t>(wanted, args.inner > 1 ? 8 : kThreads));
    const std::string variant = message_of("static_cast<SoftmaxOp>(", number, "), ", pack);
    function =
        kernels.read_twice.on(device, dtype, static_cast<int>(number * 16 + pack), variant.c_str());
  }
  launch(device, function, {blocks_for(rows, kThreads / args.lanes)},
         static_cast<unsigned>(kThreads), args);
}

}  // namespace

void softmax(kernel::SoftmaxOp op, DType dtype, const void* in, void* out, int64_t outer, int64_t n,
             int64_t inner) {
  run(rows_kernels, op, dtype, {in, nullptr, out, outer, n, inner, 0});
}

void softmax_backward(kernel::SoftmaxOp op, DType dtype, const void* gradient, const void* result,
                      void* out, int64_t outer, int64_t n, int64_t inner) {
  run(gradients_kernels, op, dtype, {result, gradient, out, outer, n, inner, 0});
}

}  // namespace fb::cuda

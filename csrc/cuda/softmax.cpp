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
  int arrays;                    // that are read
};
Kernels rows_kernels{{"softmax.cuh", "softmax_rows", "SoftmaxArguments"},
                     {"softmax.cuh", "softmax_held_rows", "SoftmaxArguments"},
                     1};
Kernels gradients_kernels{{"softmax.cuh", "softmax_gradients", "SoftmaxArguments"},
                          {"softmax.cuh", "softmax_held_gradients", "SoftmaxArguments"},
                          2};

constexpr int64_t kThreads = 256;
constexpr int64_t kMostPacked = int64_t{1} << 30;  // elements of a row: see device::PackIndex
int64_t divided(int64_t n, int64_t by) { return (n + by - 1) / by; }
int64_t power_of_two(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

bool suits_packs(const device::SoftmaxArguments& args, int64_t pack) {
  const auto aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
  return args.inner == 1 && args.n < kMostPacked && args.n % pack == 0 && aligned(args.in) &&
         aligned(args.gradient) && aligned(args.out);
}
// Whether packs of each array begin at the same elements, wherever that is in a row.
bool suits_ragged_packs(const device::SoftmaxArguments& args, int64_t pack) {
  const auto place = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16; };
  return args.inner == 1 && args.n < kMostPacked && args.n >= 2 * pack &&
         place(args.in) == place(args.out) &&
         (!args.gradient || place(args.gradient) == place(args.out));
}

// How a row of so many packs is held: lanes, and packs of each; none if there are too many.
struct HeldPlan {
  int64_t lanes, held;
};
HeldPlan plan_held(DType dtype, int64_t pack, int64_t packs, int arrays, bool ragged) {
  const bool small = size_of(dtype) == 2;
  const int64_t most = pack == 1 || (ragged && !small) ? 8 : small && arrays > 1 ? 2 : 4;
  if (packs > kThreads * std::min<int64_t>(most * 2, 8)) return {0, 0};
  int64_t lanes = power_of_two(divided(packs, packs <= 32 && pack > 1 ? 2 : most));
  if (pack == 1) lanes = std::max(lanes, std::min<int64_t>(power_of_two(packs), 4));
  lanes = std::min(lanes, kThreads);
  return {lanes, power_of_two(divided(packs, lanes))};
}

void run(Kernels& kernels, kernel::SoftmaxOp op, DType dtype, device::SoftmaxArguments args) {
  const int64_t rows = args.outer * args.inner;
  if (rows == 0) return;
  const int device = place_of(args.out);
  use(device);
  const auto widest = static_cast<int64_t>(16 / size_of(dtype));
  const bool whole = suits_packs(args, widest), ragged = !whole && suits_ragged_packs(args, widest);
  const auto number = static_cast<int64_t>(op);
  const int64_t pack = whole || ragged ? widest : 1;
  const int64_t packs = divided(args.n, pack) + (ragged ? 1 : 0);
  const std::string variant = message_of("static_cast<SoftmaxOp>(", number, "), ", pack);
  const char* const raggedness = ragged ? ", true" : ", false";
  const HeldPlan plan =
      args.inner == 1 ? plan_held(dtype, pack, packs, kernels.arrays, ragged) : HeldPlan{0, 0};
  Function function;
  if (plan.held) {
    args.lanes = static_cast<int>(plan.lanes);
    function = kernels.held.on(
        device, dtype, static_cast<int>(((number * 16 + pack) * 128 + plan.held) * 2 + ragged),
        message_of(variant, ", ", plan.held, raggedness).c_str());
  } else {
    const int64_t wanted = power_of_two(divided(packs, args.inner > 1 ? 4 : 8));
    args.lanes = static_cast<int>(std::min<int64_t>(wanted, args.inner > 1 ? 8 : kThreads));
    function =
        kernels.read_twice.on(device, dtype, static_cast<int>((number * 16 + pack) * 2 + ragged),
                              message_of(variant, raggedness).c_str());
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

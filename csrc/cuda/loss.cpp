// Losses that are a function of each element, and how they are summed and differentiated.
#include "cuda/loss.h"

#include <algorithm>

#include "cuda/allocator.h"
#include "cuda/device/loss_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::LossArguments;
using kernel::LossCall;

TypedKernel elements_kernel("loss.cuh", "loss_elements", "LossArguments");
TypedKernel gradient_kernel("loss.cuh", "loss_gradient", "LossArguments");
TypedKernel loss_sum_kernel("loss.cuh", "loss_sum", "LossArguments");
TypedKernel sum_kernel("loss.cuh", "sum_losses", "LossArguments");
TypedKernel finish_kernel("loss.cuh", "finish_sum", "LossArguments");

constexpr int kThreads = 256;
// Sums are cut by their length alone.
constexpr int64_t kMostSegments = 1024, kSegment = kThreads * 16;

// In the order of kernel::LossKind.
constexpr const char* kNames[] = {"Squared",        "Absolute",     "SmoothAbsolute", "Huber",
                                  "Binary",         "BinaryLogits", "WeightedLogits", "Divergence",
                                  "LogDivergence",  "Poisson",      "LogPoisson",     "Gaussian",
                                  "HingeEmbedding", "Ranking",      "SoftMargin"};

const char* name_of(const LossCall& call) { return kNames[static_cast<int>(call.kind)]; }

LossArguments arguments_of(const LossCall& call, void* out) {
  LossArguments args{};
  for (int k = 0; k < 3; ++k) args.operands[k] = call.operands[k];
  std::copy(call.params, call.params + 2, args.params);
  args.n = call.n;
  args.out = out;
  const int device = place_of(out);
  use(device);
  const bool of_variance = call.kind == kernel::LossKind::kGaussian;
  args.error = error_site(device, of_variance ? "gaussian_nll_loss" : "binary_cross_entropy");
  return args;
}

// How many neighbours a thread takes.
int pack_of(const LossCall& call, const LossArguments& args) {
  const auto pack = static_cast<int>(16 / size_of(call.dtype));
  bool suits = call.n % pack == 0;
  for (const void* each : {args.operands[0], args.operands[1], args.operands[2], args.gradient,
                           static_cast<const void*>(args.out)})
    suits &=
        args.single && each == args.gradient ? true : reinterpret_cast<uintptr_t>(each) % 16 == 0;
  return suits ? pack : 1;
}

void run_elements(TypedKernel& kernel, const LossCall& call, const LossArguments& args, int number,
                  const std::string& operand) {
  const int pack = pack_of(call, args), device = place_of(args.out);
  const std::string variant = message_of("loss::", name_of(call), operand, ", ", pack);
  launch(device, kernel.on(device, call.dtype, number * 8 + pack, variant.c_str()),
         {blocks_for(call.n, int64_t{kThreads} * pack)}, kThreads, args);
}

void run_sum(TypedKernel& kernel, DType dtype, LossArguments& args, double divisor, int number,
             const std::string& variant) {
  const int device = place_of(args.out);
  args.divisor = divisor;
  const int64_t segments = std::clamp<int64_t>(args.n / kSegment, 1, kMostSegments);
  args.segment_length = (args.n + segments - 1) / segments;
  Storage partial;
  if (segments > 1) {
    partial = allocate(static_cast<size_t>(segments) * sizeof(double),
                       Device(DeviceType::kCuda, static_cast<int8_t>(device)));
    args.partial = static_cast<double*>(partial->data);
  }
  launch(device, kernel.on(device, dtype, number, variant.c_str()),
         {static_cast<unsigned>(segments)}, kThreads, args);
  if (segments == 1) return;
  args.n = segments;
  launch(device, finish_kernel.on(device, dtype), {1}, kThreads, args);
}

}  // namespace

void loss_elements(const LossCall& call, void* out) {
  if (call.n == 0) return;
  run_elements(elements_kernel, call, arguments_of(call, out), static_cast<int>(call.kind), "");
}

void loss_sum(const LossCall& call, double divisor, void* out) {
  LossArguments args = arguments_of(call, out);
  run_sum(loss_sum_kernel, call.dtype, args, divisor, static_cast<int>(call.kind),
          message_of("loss::", name_of(call)));
}

void loss_gradient(const LossCall& call, int operand, const void* gradient, bool single,
                   double scale, void* out) {
  if (call.n == 0) return;
  LossArguments args = arguments_of(call, out);
  args.gradient = gradient, args.scale = scale, args.single = single;
  run_elements(gradient_kernel, call, args, static_cast<int>(call.kind) * 4 + operand,
               message_of(", ", operand));
}

void sum_losses(DType dtype, const void* losses, int64_t n, double divisor, void* out) {
  LossArguments args =
      arguments_of({.kind = {}, .dtype = dtype, .n = n, .operands = {losses}}, out);
  run_sum(sum_kernel, dtype, args, divisor, 0, "");
}

// The kernels themselves note operands that a loss is not defined for, without a wait.
void check_losses(const LossCall&, const void*, int64_t) {}

}  // namespace fb::cuda

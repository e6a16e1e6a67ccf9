// Margins between the scores of classes, sample by sample.
#include "cuda/loss_margin.h"

#include <algorithm>
#include <bit>

#include "cuda/allocator.h"
#include "cuda/device/loss_margin_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::MarginArguments;
using kernel::MarginCall;

TypedKernel losses_kernel("loss_margin.cuh", "margin_losses", "MarginArguments");
TypedKernel gradient_kernel("loss_margin.cuh", "margin_gradient", "MarginArguments");

constexpr int64_t kThreads = 256;

void run(TypedKernel& kernel, const MarginCall& call, MarginArguments args) {
  if (call.samples == 0 || call.classes == 0) return;
  const int device = place_of(args.out);
  use(device);
  args.samples = call.samples, args.classes = call.classes;
  args.scores = call.scores;
  args.targets = reinterpret_cast<const long long*>(call.targets);
  args.margin = call.margin;
  args.weights = call.weights;
  args.error = error_site(device, "the margin loss");
  args.lanes = static_cast<int>(std::min<int64_t>(
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(call.classes))), kThreads));
  Storage marks;
  if (call.many) {
    const auto bytes = static_cast<size_t>(call.samples * call.classes);
    marks = allocate(bytes, Device(DeviceType::kCuda, static_cast<int8_t>(device)));
    args.marks = static_cast<unsigned char*>(marks->data);
    FB_CUDA(set_bytes, reinterpret_cast<Address>(marks->data), 0, bytes, current_stream(device));
  }
  const std::string variant =
      message_of(call.many ? "true" : "false", call.squared ? ", true" : ", false");
  launch(device, kernel.on(device, call.dtype, 2 * call.many + call.squared, variant.c_str()),
         {blocks_for(call.samples, kThreads / args.lanes)}, kThreads, args);
}

}  // namespace

void margin_losses(const MarginCall& call, void* out) {
  MarginArguments args{};
  args.out = out;
  run(losses_kernel, call, args);
}

void margin_gradient(const MarginCall& call, const void* gradients, bool single, double scale,
                     void* out) {
  MarginArguments args{};
  args.out = out;
  args.gradients = gradients, args.single = single, args.scale = scale;
  run(gradient_kernel, call, args);
}

}  // namespace fb::cuda

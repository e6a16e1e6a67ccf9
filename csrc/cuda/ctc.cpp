// Connectionist temporal classification.
#include "cuda/ctc.h"

#include <algorithm>

#include "cuda/allocator.h"
#include "cuda/device/ctc_args.h"
#include "cuda/device_error.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using device::CtcArguments;
using device::kCtcSequences;
using kernel::CtcCall;

TypedKernel alpha_kernel("ctc.cuh", "ctc_alpha", "CtcArguments");
TypedKernel beta_kernel("ctc.cuh", "ctc_beta", "CtcArguments");
TypedKernel gradient_kernel("ctc.cuh", "ctc_gradient", "CtcArguments");

CtcArguments arguments_of(const CtcCall& call, const void* log_alpha, const void* losses) {
  CtcArguments args{};
  args.steps = call.steps, args.batch = call.batch, args.classes = call.classes;
  args.states = call.states;
  args.blank = call.blank;
  args.log_probs = call.log_probs;
  args.targets = reinterpret_cast<const long long*>(call.targets);
  args.log_alpha = const_cast<void*>(log_alpha), args.losses = const_cast<void*>(losses);
  return args;
}

// run(args) for as many sequences as a launch takes.
template <class Run>
void by_launches(const CtcCall& call, CtcArguments& args, Run run) {
  for (int64_t first = 0; first < call.batch; first += kCtcSequences) {
    args.first = static_cast<int>(first);
    args.count = static_cast<int>(std::min<int64_t>(kCtcSequences, call.batch - first));
    std::copy_n(call.target_starts + first, args.count, args.starts);
    std::copy_n(call.target_lengths + first, args.count, args.target_lengths);
    std::copy_n(call.input_lengths + first, args.count, args.input_lengths);
    run(args);
  }
}

// A thread for each state, in whole warps.
unsigned threads_for(const CtcCall& call) {
  return static_cast<unsigned>(std::min<int64_t>((call.states + 31) / 32 * 32, 256));
}

}  // namespace

void ctc_forward(const CtcCall& call, void* log_alpha, void* losses) {
  const int device = place_of(losses);
  use(device);
  CtcArguments args = arguments_of(call, log_alpha, losses);
  args.error = error_site(device, "ctc_loss");
  by_launches(call, args, [&](const CtcArguments& each) {
    launch(device, alpha_kernel.on(device, call.dtype), {static_cast<unsigned>(each.count)},
           threads_for(call), each);
  });
}

void ctc_backward(const CtcCall& call, const void* log_alpha, const void* losses,
                  const void* gradients, bool zero_infinity, void* out) {
  if (call.steps == 0 || call.batch == 0) return;
  const int device = place_of(out);
  use(device);
  const Device place(DeviceType::kCuda, static_cast<int8_t>(device));
  const auto states = static_cast<size_t>(call.batch * call.states);
  const Storage beta =
      allocate(states * static_cast<size_t>(call.steps) * size_of(call.dtype), place);
  const Storage links = allocate(states * sizeof(int), place);
  CtcArguments args = arguments_of(call, log_alpha, losses);
  args.log_beta = beta->data;
  args.links = static_cast<int*>(links->data);
  args.gradients = gradients, args.out = out;
  args.zero_infinity = zero_infinity;
  by_launches(call, args, [&](const CtcArguments& each) {
    launch(device, beta_kernel.on(device, call.dtype), {static_cast<unsigned>(each.count)},
           threads_for(call), each);
    launch(device, gradient_kernel.on(device, call.dtype),
           {static_cast<unsigned>(call.steps * each.count)}, 256, each);
  });
}

}  // namespace fb::cuda

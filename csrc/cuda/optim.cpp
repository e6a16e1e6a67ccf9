// Steps of optimisers: neighbouring tensors with the same type and the same numbers share a launch.
#include "cuda/optim.h"

#include <cstring>

#include "cuda/device/optim_args.h"
#include "cuda/launch.h"
#include "cuda/loop.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {
namespace {

using kernel::OptimTensor;

TypedKernel sgd_kernel("optim.cuh", "sgd_step", "SgdArguments");
TypedKernel adam_kernel("optim.cuh", "adam_step", "AdamArguments");

// Whether two tensors can be stepped by one kernel.
template <class Numbers>
bool alike(const OptimTensor& a, const OptimTensor& b) {
  return a.dtype == b.dtype && place_of(a.param) == place_of(b.param) &&
         std::memcmp(a.numbers, b.numbers, sizeof(Numbers)) == 0 &&
         (a.state[0] == nullptr) == (b.state[0] == nullptr) &&
         (a.state[2] == nullptr) == (b.state[2] == nullptr);
}

// run(first tensor, collected) for as many neighbours as fit into a launch.
template <class Numbers, class Run>
void by_launches(std::span<const OptimTensor> tensors, Run run) {
  for (size_t begin = 0; begin < tensors.size();) {
    device::OptimTensors collected{};
    size_t end = begin;
    for (; end < tensors.size() && collected.count < device::kOptimTensors &&
           alike<Numbers>(tensors[begin], tensors[end]);
         ++end) {
      const OptimTensor& t = tensors[end];
      if (t.n == 0) continue;
      const int at = collected.count++;
      collected.n[at] = t.n;
      collected.param[at] = t.param;
      collected.grad[at] = t.grad;
      for (int s = 0; s < kernel::kOptimStates; ++s) collected.states[s][at] = t.state[s];
      collected.pieces_before[at + 1] =
          collected.pieces_before[at] + (t.n + device::kOptimPiece - 1) / device::kOptimPiece;
    }
    if (collected.count) run(tensors[begin], collected);
    begin = end;
  }
}

template <class Arguments>
void launch_step(TypedKernel& kernel, const OptimTensor& like, const Arguments& args) {
  const int device = place_of(like.param);
  use(device);
  const auto blocks = static_cast<unsigned>(args.tensors.pieces_before[args.tensors.count]);
  launch(device, kernel.on(device, like.dtype), {blocks}, 256, args);
}

}  // namespace

void optim_sgd(std::span<const OptimTensor> tensors) {
  by_launches<kernel::SgdNumbers>(tensors, [](const OptimTensor& like, const auto& collected) {
    const auto& n = *static_cast<const kernel::SgdNumbers*>(like.numbers);
    launch_step(sgd_kernel, like,
                device::SgdArguments{collected, n.weight_decay, n.momentum, n.dampened, n.lr,
                                     n.maximize, n.nesterov, n.first});
  });
}

void optim_adam(std::span<const OptimTensor> tensors) {
  by_launches<kernel::AdamNumbers>(tensors, [](const OptimTensor& like, const auto& collected) {
    const auto& n = *static_cast<const kernel::AdamNumbers*>(like.numbers);
    launch_step(
        adam_kernel, like,
        device::AdamArguments{collected, n.weight_decay, n.shrink, n.beta1, n.beta2, n.eps,
                              n.step_size, n.correction, n.maximize, like.state[2] != nullptr});
  });
}

}  // namespace fb::cuda

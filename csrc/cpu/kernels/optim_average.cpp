// Running averages of tensors: a step without state.
#include "cpu/kernels/optim.h"
#include "cpu/optim.h"

namespace fb::cpu::FB_ISA {

void optim_average(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Mix, AverageNumbers>);
}

}  // namespace fb::cpu::FB_ISA

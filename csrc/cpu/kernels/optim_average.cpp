// Running averages of tensors: a step without state.
#include "cpu/kernels/optim.h"
#include "cpu/optim.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class A>
struct Mix {
  static constexpr int kStates = 0;
  static constexpr int kSlots[] = {0};
  Average<A> average;

  explicit Mix(const AverageNumbers& n) : average(n.weight) {}

  template <class E>
  FB_FN A step(A old, A added) const {
    return average.template of<E>(old, added);
  }
};

}  // namespace

void optim_average(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Mix, AverageNumbers>);
}

}  // namespace fb::cpu::FB_ISA

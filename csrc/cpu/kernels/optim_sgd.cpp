// Steps along the gradient: SGD, ASGD and Rprop.
#include "cpu/kernels/optim.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class A>
struct PlainSgd {
  static constexpr int kStates = 0;
  static constexpr int kSlots[] = {0};
  Gradient<A> gradient;
  A lr;

  explicit PlainSgd(const SgdNumbers& n) : gradient(n), lr(static_cast<A>(n.lr)) {}

  template <class E>
  FB_FN A step(A p, A grad) const {
    return E::add_times(p, gradient.template of<E>(grad, p), -lr);
  }
};

template <class A>
struct MomentumSgd {
  static constexpr int kStates = 1;
  static constexpr int kSlots[] = {0};
  Gradient<A> gradient;
  Choice<A> first, nesterov;
  A momentum, dampened, lr;

  explicit MomentumSgd(const SgdNumbers& n)
      : gradient(n),
        first(n.first),
        nesterov(n.nesterov),
        momentum(static_cast<A>(n.momentum)),
        dampened(static_cast<A>(n.dampened)),
        lr(static_cast<A>(n.lr)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& buffer) const {
    const A g = gradient.template of<E>(grad, p);
    const A followed = E::add_times(E::mul(buffer, momentum), g, dampened);
    buffer = first(g, followed);
    return E::add_times(p, nesterov(E::add_times(g, buffer, momentum), buffer), -lr);
  }
};

template <class A>
struct Asgd {
  static constexpr int kStates = 1;
  static constexpr int kSlots[] = {0};
  Gradient<A> gradient;
  Choice<A> averages;
  A shrink, eta, mu;

  explicit Asgd(const AsgdNumbers& n)
      : gradient(n),
        averages(n.mu != 1),
        shrink(static_cast<A>(n.shrink)),
        eta(static_cast<A>(n.eta)),
        mu(static_cast<A>(n.mu)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& average) const {
    const A g = gradient.template of<E>(grad, p);
    const A stepped = E::add_times(E::mul(p, shrink), g, -eta);
    const A averaged = E::add(average, E::mul(E::add(stepped, -average), mu));
    average = averages(averaged, stepped);
    return stepped;
  }
};

template <class A>
struct Rprop {
  static constexpr int kStates = 2;
  static constexpr int kSlots[] = {0, 1};
  Choice<A> maximize;
  A shrink, grow, least, most;

  explicit Rprop(const RpropNumbers& n)
      : maximize(n.maximize),
        shrink(static_cast<A>(n.shrink)),
        grow(static_cast<A>(n.grow)),
        least(static_cast<A>(n.least)),
        most(static_cast<A>(n.most)) {}

  // A step grows while the gradient keeps its sign; where the sign turned, the parameter stays.
  template <class E>
  FB_FN A step(A p, A grad, A& previous, A& size) const {
    const A g = maximize.negated(grad);
    const A agreement = E::mul(g, previous);
    const A factor = agreement > A(0) ? E::round(grow) : agreement < A(0) ? E::round(shrink) : A(1);
    const A wanted = E::mul(size, factor);
    const A above = wanted < least ? least : wanted;
    const A allowed = E::round(above > most ? most : above);
    const A kept = agreement < A(0) ? A(0) : g;
    previous = kept;
    size = allowed;
    return E::addcmul(p, E::sign(kept), allowed, A(-1));
  }
};

}  // namespace

void optim_sgd(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, [](const OptimTensor& t, int64_t begin, int64_t n) {
    if (t.state[0])
      update_part<MomentumSgd, SgdNumbers>(t, begin, n);
    else
      update_part<PlainSgd, SgdNumbers>(t, begin, n);
  });
}

void optim_asgd(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Asgd, AsgdNumbers>);
}

void optim_rprop(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Rprop, RpropNumbers>);
}

}  // namespace fb::cpu::FB_ISA

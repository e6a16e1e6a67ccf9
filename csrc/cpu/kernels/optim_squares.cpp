// Steps scaled by past squares of the gradient: RMSprop, Adagrad and Adadelta.
#include "cpu/kernels/optim.h"

namespace fb::cpu::FB_ISA {
namespace {

template <bool kCentered, bool kMomentum>
struct RmspropOf {
  template <class A>
  struct Rule {
    static constexpr int kStates = 1 + kCentered + kMomentum;
    static constexpr int kSlots[] = {0, kCentered ? 1 : 2, 2};
    Gradient<A> gradient;
    Average<A> averaged;
    A alpha, weight, eps, momentum, lr;

    explicit Rule(const RmspropNumbers& n)
        : gradient(n),
          averaged(1 - n.alpha),
          alpha(static_cast<A>(n.alpha)),
          weight(static_cast<A>(1 - n.alpha)),
          eps(static_cast<A>(n.eps)),
          momentum(static_cast<A>(n.momentum)),
          lr(static_cast<A>(n.lr)) {}

    // `more`: the average of gradients if centered, the buffer if there is momentum.
    template <class E, class... M>
    FB_FN A step(A p, A grad, A& square, M&... more) const {
      const A g = gradient.template of<E>(grad, p);
      square = E::addcmul(E::mul(square, alpha), g, g, weight);
      if constexpr (kCentered)
        return centered<E>(p, g, square, more...);
      else
        return moved<E>(p, g, square, more...);
    }

   private:
    template <class E, class... M>
    FB_FN A centered(A p, A g, A square, A& average, M&... buffer) const {
      average = averaged.template of<E>(average, g);
      return moved<E>(p, g, E::addcmul(square, average, average, A(-1)), buffer...);
    }
    template <class E>
    FB_FN A moved(A p, A g, A square) const {
      return E::addcdiv(p, g, E::add(E::sqrt(square), eps), -lr);
    }
    template <class E>
    FB_FN A moved(A p, A g, A square, A& buffer) const {
      buffer = E::addcdiv(E::mul(buffer, momentum), g, E::add(E::sqrt(square), eps), A(1));
      return E::add_times(p, buffer, -lr);
    }
  };
};

template <class A>
struct Adagrad {
  static constexpr int kStates = 1;
  static constexpr int kSlots[] = {0};
  Gradient<A> gradient;
  A eps, lr;

  explicit Adagrad(const AdagradNumbers& n)
      : gradient(n), eps(static_cast<A>(n.eps)), lr(static_cast<A>(n.lr)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& sum) const {
    const A g = gradient.template of<E>(grad, p);
    sum = E::addcmul(sum, g, g, A(1));
    return E::addcdiv(p, g, E::add(E::sqrt(sum), eps), -lr);
  }
};

template <class A>
struct Adadelta {
  static constexpr int kStates = 2;
  static constexpr int kSlots[] = {0, 1};
  Gradient<A> gradient;
  A rho, weight, eps, lr;

  explicit Adadelta(const AdadeltaNumbers& n)
      : gradient(n),
        rho(static_cast<A>(n.rho)),
        weight(static_cast<A>(1 - n.rho)),
        eps(static_cast<A>(n.eps)),
        lr(static_cast<A>(n.lr)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& square, A& moves) const {
    const A g = gradient.template of<E>(grad, p);
    square = E::addcmul(E::mul(square, rho), g, g, weight);
    const A size = E::sqrt(E::add(square, eps));
    const A delta = E::mul(E::div(E::sqrt(E::add(moves, eps)), size), g);
    moves = E::addcmul(E::mul(moves, rho), delta, delta, weight);
    return E::add_times(p, delta, -lr);
  }
};

}  // namespace

void optim_rmsprop(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, [](const OptimTensor& t, int64_t begin, int64_t n) {
    const bool centered = t.state[1], momentum = t.state[2];
    if (centered && momentum)
      update_part<RmspropOf<true, true>::Rule, RmspropNumbers>(t, begin, n);
    else if (centered)
      update_part<RmspropOf<true, false>::Rule, RmspropNumbers>(t, begin, n);
    else if (momentum)
      update_part<RmspropOf<false, true>::Rule, RmspropNumbers>(t, begin, n);
    else
      update_part<RmspropOf<false, false>::Rule, RmspropNumbers>(t, begin, n);
  });
}

void optim_adagrad(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Adagrad, AdagradNumbers>);
}

void optim_adadelta(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Adadelta, AdadeltaNumbers>);
}

}  // namespace fb::cpu::FB_ISA

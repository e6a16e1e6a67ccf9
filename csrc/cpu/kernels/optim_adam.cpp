// Adam and its variants: running averages of the gradient and of its magnitude.
#include "cpu/kernels/optim.h"

namespace fb::cpu::FB_ISA {
namespace {

// The running averages of the gradient and of its square.
template <class A>
struct Moments {
  Average<A> averaged;
  A beta2, weight2;

  template <class N>
  explicit Moments(const N& n)
      : averaged(1 - n.beta1),
        beta2(static_cast<A>(n.beta2)),
        weight2(static_cast<A>(1 - n.beta2)) {}

  template <class E>
  FB_FN void follow(A g, A& average, A& square) const {
    average = averaged.template of<E>(average, g);
    square = E::addcmul(E::mul(square, beta2), g, g, weight2);
  }
};

template <bool kMaximum>
struct AdamOf {
  template <class A>
  struct Rule {
    static constexpr int kStates = kMaximum ? 3 : 2;
    static constexpr int kSlots[] = {0, 1, 2};
    Gradient<A> gradient;
    Moments<A> moments;
    A shrink, eps, step_size, correction;

    explicit Rule(const AdamNumbers& n)
        : gradient(n),
          moments(n),
          shrink(static_cast<A>(n.shrink)),
          eps(static_cast<A>(n.eps)),
          step_size(static_cast<A>(n.step_size)),
          correction(static_cast<A>(n.correction)) {}

    template <class E>
    FB_FN A step(A p, A grad, A& average, A& square) const {
      moments.template follow<E>(gradient.template of<E>(grad, p), average, square);
      return moved<E>(p, average, square);
    }
    template <class E>
    FB_FN A step(A p, A grad, A& average, A& square, A& largest) const {
      moments.template follow<E>(gradient.template of<E>(grad, p), average, square);
      largest = E::maximum(largest, square);
      return moved<E>(p, average, largest);
    }

   private:
    template <class E>
    FB_FN A moved(A p, A average, A square) const {
      const A scale = E::add(E::div(E::sqrt(square), correction), eps);
      return E::addcdiv(E::mul(p, shrink), average, scale, -step_size);
    }
  };
};

template <class A>
struct Adamax {
  static constexpr int kStates = 2;
  static constexpr int kSlots[] = {0, 1};
  Gradient<A> gradient;
  Average<A> averaged;
  A beta2, eps, step_size;

  explicit Adamax(const AdamaxNumbers& n)
      : gradient(n),
        averaged(1 - n.beta1),
        beta2(static_cast<A>(n.beta2)),
        eps(static_cast<A>(n.eps)),
        step_size(static_cast<A>(n.step_size)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& average, A& largest) const {
    const A g = gradient.template of<E>(grad, p);
    average = averaged.template of<E>(average, g);
    largest = E::maximum(E::mul(largest, beta2), E::add(math::abs(g), eps));
    return E::addcdiv(p, average, largest, -step_size);
  }
};

template <class A>
struct NAdam {
  static constexpr int kStates = 2;
  static constexpr int kSlots[] = {0, 1};
  Gradient<A> gradient;
  Moments<A> moments;
  A shrink, eps, correction, grad_rate, average_rate;

  explicit NAdam(const NAdamNumbers& n)
      : gradient(n),
        moments(n),
        shrink(static_cast<A>(n.shrink)),
        eps(static_cast<A>(n.eps)),
        correction(static_cast<A>(n.correction)),
        grad_rate(static_cast<A>(n.grad_rate)),
        average_rate(static_cast<A>(n.average_rate)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& average, A& square) const {
    const A g = gradient.template of<E>(grad, p);
    moments.template follow<E>(g, average, square);
    const A scale = E::add(E::sqrt(E::div(square, correction)), eps);
    const A stepped = E::addcdiv(E::mul(p, shrink), g, scale, grad_rate);
    return E::addcdiv(stepped, average, scale, average_rate);
  }
};

template <class A>
struct RAdam {
  static constexpr int kStates = 2;
  static constexpr int kSlots[] = {0, 1};
  Gradient<A> gradient;
  Moments<A> moments;
  Choice<A> rectified;
  A shrink, eps, lr, correction1, correction2, rectification;

  explicit RAdam(const RAdamNumbers& n)
      : gradient(n),
        moments(n),
        rectified(n.rectified),
        shrink(static_cast<A>(n.shrink)),
        eps(static_cast<A>(n.eps)),
        lr(static_cast<A>(n.lr)),
        correction1(static_cast<A>(n.correction1)),
        correction2(static_cast<A>(n.correction2)),
        rectification(static_cast<A>(n.rectification)) {}

  template <class E>
  FB_FN A step(A p, A grad, A& average, A& square) const {
    const A g = gradient.template of<E>(grad, p);
    moments.template follow<E>(g, average, square);
    const A plain = E::mul(E::div(average, correction1), lr);
    const A scale = E::mul(E::reciprocal(E::add(E::sqrt(square), eps)), correction2);
    const A measured = E::mul(E::mul(plain, scale), rectification);
    return E::add(E::mul(p, shrink), -rectified(measured, plain));
  }
};

}  // namespace

void optim_adam(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, [](const OptimTensor& t, int64_t begin, int64_t n) {
    if (t.state[2])
      update_part<AdamOf<true>::Rule, AdamNumbers>(t, begin, n);
    else
      update_part<AdamOf<false>::Rule, AdamNumbers>(t, begin, n);
  });
}

void optim_adamax(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<Adamax, AdamaxNumbers>);
}

void optim_nadam(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<NAdam, NAdamNumbers>);
}

void optim_radam(std::span<const OptimTensor> tensors) {
  for_all_tensors(tensors, update_part<RAdam, RAdamNumbers>);
}

}  // namespace fb::cpu::FB_ISA

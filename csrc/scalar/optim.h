// Steps of optimisers: the arithmetic of one element.
//
// Note [Steps, operator by operator]: a step is written below with the operators that its composed
// form in flambeau/optim uses, each rounded as the operator rounds it. So both forms, and PyTorch,
// agree to the last bit wherever their square roots do. The CPU's are
// compiled without contraction of products and sums: where an operator has a fused one, it says so.
#pragma once

#include "scalar/math.h"

namespace fb::scalar::optim {

// What elements are computed in.
template <class T>
struct WideOf {
  using Type = float;
};
template <>
struct WideOf<double> {
  using Type = double;
};
template <class T>
using Wide = typename WideOf<T>::Type;

// A choice that is the same for all elements, made by bit operations: the compiler would turn a
// condition into branches, and not vectorise loops with square roots or fused products.
template <class A>
class Choice {
  using Bits = typename math::Format<A>::UInt;
  Bits bits_;

 public:
  FB_FN explicit Choice(bool yes) : bits_(yes ? ~Bits(0) : Bits(0)) {}
  FB_FN A operator()(A yes, A no) const {
    return bit_cast<A>((bit_cast<Bits>(yes) & bits_) | (bit_cast<Bits>(no) & ~bits_));
  }
  // -x or x.
  FB_FN A negated(A x) const {
    return bit_cast<A>(bit_cast<Bits>(x) ^ (bits_ & math::Format<A>::kSignBit));
  }
};

// Operators on elements of type T, computed in A.
template <class T>
struct Elementwise {
  using A = Wide<T>;

  static FB_FN A round(A x) {
    if constexpr (kIsFloat<T>)
      return x;
    else
      return static_cast<A>(T(x));
  }
  static FB_FN A fused(A a, A b, A c) {
#if defined(__CUDACC__)
    if constexpr (sizeof(A) == sizeof(double))
      return ::fma(a, b, c);
    else
      return ::fmaf(a, b, c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if constexpr (sizeof(A) == sizeof(double))
      return __builtin_fma(a, b, c);
    else
      return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
  }

  static FB_FN A mul(A a, A b) { return round(a * b); }
  static FB_FN A div(A a, A b) { return round(a / b); }
  static FB_FN A add(A a, A b) { return round(a + b); }
  static FB_FN A sqrt(A a) { return round(math::sqrt(a)); }
  static FB_FN A reciprocal(A a) { return round(A(1) / a); }
  static FB_FN A add_times(A x, A a, A alpha) { return round(fused(a, round(alpha), x)); }
  static FB_FN A addcmul(A x, A a, A b, A value) { return round(fused(value * a, b, x)); }
  static FB_FN A addcdiv(A x, A a, A b, A value) { return round(x + value * a / b); }
  static FB_FN A maximum(A a, A b) { return (a > b) | (a != a) ? a : b; }
  static FB_FN A sign(A a) { return static_cast<A>((a > A(0)) - (a < A(0))); }
};

// The beginning of most steps: the direction, and weight decay.
template <class A>
struct Gradient {
  Choice<A> maximize, decays;
  A weight_decay;

  template <class N>
  FB_FN explicit Gradient(const N& numbers)
      : maximize(numbers.maximize),
        decays(numbers.weight_decay != 0),
        weight_decay(static_cast<A>(numbers.weight_decay)) {}

  template <class E>
  FB_FN A of(A grad, A param) const {
    const A turned = maximize.negated(grad);
    return decays(E::add_times(turned, param, weight_decay), turned);
  }
};

// The operator lerp, which starts from the nearer end.
template <class A>
struct Average {
  Choice<A> from_old;
  A weight;

  FB_FN explicit Average(double share)
      : from_old(-0.5 < share && share < 0.5),
        weight(from_old(static_cast<A>(share), static_cast<A>(share) - A(1))) {}

  template <class E>
  FB_FN A of(A old, A added) const {
    return E::round(E::fused(weight, added - old, from_old(old, added)));
  }
};

// --- running averages of the gradient and of its magnitude

// The running averages of the gradient and of its square.
template <class A>
struct Moments {
  Average<A> averaged;
  A beta2, weight2;

  template <class N>
  FB_FN explicit Moments(const N& n)
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

    template <class N>
    FB_FN explicit Rule(const N& n)
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

  template <class N>
  FB_FN explicit Adamax(const N& n)
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

  template <class N>
  FB_FN explicit NAdam(const N& n)
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

  template <class N>
  FB_FN explicit RAdam(const N& n)
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

// --- along the gradient

template <class A>
struct PlainSgd {
  static constexpr int kStates = 0;
  static constexpr int kSlots[] = {0};
  Gradient<A> gradient;
  A lr;

  template <class N>
  FB_FN explicit PlainSgd(const N& n) : gradient(n), lr(static_cast<A>(n.lr)) {}

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

  template <class N>
  FB_FN explicit MomentumSgd(const N& n)
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

  template <class N>
  FB_FN explicit Asgd(const N& n)
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

  template <class N>
  FB_FN explicit Rprop(const N& n)
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

// --- scaled by past squares of the gradient

template <bool kCentered, bool kMomentum>
struct RmspropOf {
  template <class A>
  struct Rule {
    static constexpr int kStates = 1 + kCentered + kMomentum;
    static constexpr int kSlots[] = {0, kCentered ? 1 : 2, 2};
    Gradient<A> gradient;
    Average<A> averaged;
    A alpha, weight, eps, momentum, lr;

    template <class N>
    FB_FN explicit Rule(const N& n)
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

  template <class N>
  FB_FN explicit Adagrad(const N& n)
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

  template <class N>
  FB_FN explicit Adadelta(const N& n)
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

// --- a step without state

template <class A>
struct Mix {
  static constexpr int kStates = 0;
  static constexpr int kSlots[] = {0};
  Average<A> average;

  template <class N>
  FB_FN explicit Mix(const N& n) : average(n.weight) {}

  template <class E>
  FB_FN A step(A old, A added) const {
    return average.template of<E>(old, added);
  }
};

// --- rows that a sparse gradient has values for

template <class A>
struct AdamRow {
  static constexpr int kStates = 2;
  A keep1, keep2, step_size, eps, sign;

  template <class N>
  FB_FN explicit AdamRow(const N& n)
      : keep1(static_cast<A>(1 - n.beta1)),
        keep2(static_cast<A>(1 - n.beta2)),
        step_size(static_cast<A>(-n.step_size)),
        eps(static_cast<A>(n.eps)),
        sign(n.maximize ? A(-1) : A(1)) {}

  FB_FN A step(A p, A grad, A& average, A& square) const {
    const A g = grad * sign;
    average = average + (g - average) * keep1;
    square = square + (g * g - square) * keep2;
    return p + average / (math::sqrt(square) + eps) * step_size;
  }
};

template <class A>
struct AdagradRow {
  static constexpr int kStates = 1;
  A rate, eps;

  template <class N>
  FB_FN explicit AdagradRow(const N& n)
      : rate(static_cast<A>(n.maximize ? n.rate : -n.rate)), eps(static_cast<A>(n.eps)) {}

  FB_FN A step(A p, A g, A& sum) const {
    sum = sum + g * g;
    return p + g / (math::sqrt(sum) + eps) * rate;
  }
};

// --- GradScaler

// The scale shrinks after gradients that were not finite, and grows after as many good steps as the
// interval has, unless it would become infinite.
template <class N>
FB_FN void update_scale(const N& n, bool found_inf, float& scale, int& steps) {
  const int done = found_inf ? 0 : steps + 1;
  const bool grows = !found_inf & (done == n.interval);
  const auto wanted = static_cast<float>(scale * (found_inf ? n.backoff : n.growth));
  scale = found_inf | (grows & math::is_finite(wanted)) ? wanted : scale;
  steps = grows ? 0 : done;
}

}  // namespace fb::scalar::optim

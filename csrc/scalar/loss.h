// Element functions of losses: the loss of an element, and its derivative by each operand.
//
// A loss has kOperands operands (a prediction x, a target y, sometimes a third z), two numbers p
// that are the same for all elements, value(x, y, z, p) and derivative<k>(x, y, z, p) by operand k.
#pragma once

#include "scalar/explog.h"

namespace fb::scalar::loss {

template <class T>
struct Numbers {
  T first, second;
};

struct OfTwo {
  static constexpr int kOperands = 2;
};
struct OfThree {
  static constexpr int kOperands = 3;
};

template <class T>
FB_FN T sign_of(T x) {
  return math::abs(x) > T(0) ? math::copysign(T(1), x) : x;
}
// log(1 + exp(x)) without overflow.
template <class T>
FB_FN T softplus_of(T x) {
  return (x > T(0) ? x : T(0)) + math::log1p(math::exp(-math::abs(x)));
}
// A logarithm that stays finite at 0, as binary cross entropy wants it; NaN stays NaN.
template <class T>
FB_FN T bounded(T logarithm) {
  return logarithm < T(-100) ? T(-100) : logarithm;
}

struct Squared : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    return (x - y) * (x - y);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return T(2) * (k == 0 ? x - y : y - x);
  }
};

struct Absolute : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    return math::abs(x - y);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return sign_of(k == 0 ? x - y : y - x);
  }
};

// p.first is beta: quadratic up to there.
struct SmoothAbsolute : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T> p) {
    const T d = math::abs(x - y);
    const T near = T(0.5) * d * d / p.first;
    return d < p.first ? near : d - T(0.5) * p.first;
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T> p) {
    const T d = k == 0 ? x - y : y - x;
    const T near = d / p.first;
    return math::abs(d) < p.first ? near : sign_of(d);
  }
};

// p.first is delta: quadratic up to there.
struct Huber : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T> p) {
    const T d = math::abs(x - y);
    return d <= p.first ? T(0.5) * d * d : p.first * (d - T(0.5) * p.first);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T> p) {
    const T d = k == 0 ? x - y : y - x;
    const T above = d < -p.first ? -p.first : d;
    return above > p.first ? p.first : above;
  }
};

// NaN where x or y is not between 0 and 1.
struct Binary : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    const T cost = (y - T(1)) * bounded(math::log1p(-x)) - y * bounded(math::log(x));
    return (y >= T(0)) & (y <= T(1)) ? cost : math::quiet_nan<T>();
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    if constexpr (k == 1) return bounded(math::log1p(-x)) - bounded(math::log(x));
    const T variance = (T(1) - x) * x;
    return (x - y) / (variance < T(1e-12) ? T(1e-12) : variance);
  }
};

struct BinaryLogits : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    // A single product with x, so that an infinity is not subtracted from itself.
    return (x > T(0) ? (T(1) - y) * x : -y * x) + math::log1p(math::exp(-math::abs(x)));
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return k == 0 ? sigmoid(x) - y : -x;
  }
};

// z weighs the positive class.
struct WeightedLogits : OfThree {
  template <class T>
  static FB_FN T value(T x, T y, T z, Numbers<T>) {
    return (T(1) - y) * x + (T(1) + (z - T(1)) * y) * softplus_of(-x);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T z, Numbers<T>) {
    if constexpr (k == 1) return (z - T(1)) * softplus_of(-x) - x;
    if constexpr (k == 2) return y * softplus_of(-x);
    return (T(1) - y) - (T(1) + (z - T(1)) * y) * sigmoid(-x);
  }
};

// y log(y) is 0 at 0.
struct Divergence : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    const T information = y * math::log(y);
    return (y == T(0) ? T(0) : information) - y * x;
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return k == 0 ? -y : math::log(y) + T(1) - x;
  }
};

struct LogDivergence : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    return math::exp(y) * (y - x);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return k == 0 ? -math::exp(y) : math::exp(y) * (y - x + T(1));
  }
};

// x is the rate; p.first keeps its logarithm finite.
struct Poisson : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T> p) {
    return x - y * math::log(x + p.first);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T> p) {
    return k == 0 ? T(1) - y / (x + p.first) : -math::log(x + p.first);
  }
};

// x is the logarithm of the rate.
struct LogPoisson : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    return math::exp(x) - y * x;
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return k == 0 ? math::exp(x) - y : -x;
  }
};

// z is the variance, at least p.first; p.second is a constant added. NaN where z is negative. The
// derivative by z is taken at the bounded variance, so that a variance below the bound can grow.
struct Gaussian : OfThree {
  template <class T>
  static FB_FN T variance(T z, Numbers<T> p) {
    return z < p.first ? p.first : z;
  }
  template <class T>
  static FB_FN T value(T x, T y, T z, Numbers<T> p) {
    const T v = variance(z, p);
    const T cost = T(0.5) * (math::log(v) + (x - y) * (x - y) / v) + p.second;
    return z < T(0) ? math::quiet_nan<T>() : cost;
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T z, Numbers<T> p) {
    const T v = variance(z, p);
    if constexpr (k == 2) return T(0.5) * (T(1) - (x - y) * (x - y) / v) / v;
    return (k == 0 ? x - y : y - x) / v;
  }
};

// y is 1 or -1, p.first the margin; another y has both parts.
struct HingeEmbedding : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T> p) {
    const T apart = p.first - x;
    return ((y != T(1)) & (apart > T(0)) ? apart : T(0)) + (y != T(-1) ? x : T(0));
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T> p) {
    if constexpr (k == 1) return T(0);
    return ((y != T(1)) & (p.first - x >= T(0)) ? T(-1) : T(0)) + (y != T(-1) ? T(1) : T(0));
  }
};

// y is 1 where x should rank higher than z, -1 where lower; p.first is the margin.
struct Ranking : OfThree {
  template <class T>
  static FB_FN T value(T x, T y, T z, Numbers<T> p) {
    const T cost = p.first - y * (x - z);
    return cost < T(0) ? T(0) : cost;
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T z, Numbers<T> p) {
    const T slope = k == 0 ? -y : k == 1 ? z - x : y;
    return p.first - y * (x - z) >= T(0) ? slope : T(0);
  }
};

struct SoftMargin : OfTwo {
  template <class T>
  static FB_FN T value(T x, T y, T, Numbers<T>) {
    return softplus_of(-y * x);
  }
  template <int k, class T>
  static FB_FN T derivative(T x, T y, T, Numbers<T>) {
    return (k == 0 ? -y : -x) * sigmoid(-y * x);
  }
};

}  // namespace fb::scalar::loss

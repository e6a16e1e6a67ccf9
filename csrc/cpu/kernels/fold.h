// A reducer for operations that fold: total = combine(total, map(element)).
//
// An operation has
//   Acc     what lanes accumulate in: float for 16-bit floats, int64 for sums of integers
//   Wide    what blocks accumulate in: double for float sums, as accurate as a pairwise sum
//   Out     the result's type
//   kLanes  lanes per vector, 1 where map or combine has no vector form
// and identity(), map(x), combine(a, b) for scalars and vectors alike, result(wide, plan); and may
// have kGroups, true where several short rows are worth folding together.
#pragma once

#include "cpu/kernels/reduce_driver.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T, class Op>
struct Fold {
  using Element = T;
  using Acc = typename Op::Acc;
  using State = typename Op::Wide;
  static constexpr int kLanes = Op::kLanes;
  using V = Vec<Acc, kLanes>;

  static State init() { return State(Op::identity()); }

  static FB_FN V at(const T* p) { return Op::map(load<Acc, kLanes>(p)); }
  static FB_FN Acc one_at(const T* p) { return Op::map(load<Acc, 1>(p)); }
  static FB_FN V join(const V& a, const V& b) { return Op::combine(a, b); }

#if defined(__AVX2__)  // the instructions load part of a vector quickly, also where a store is slow
  static constexpr bool kPart = kLanes > 1 && __is_same(T, Acc) &&
                                (sizeof(T) == sizeof(float) || sizeof(T) == sizeof(double));
#else
  static constexpr bool kPart = false;
#endif

  // As many elements as fill vectors, all of them where vectors can be filled in part; i becomes
  // their number.
  static FB_FN V lanes_of(const T* p, int64_t n, int64_t& i) {
    constexpr int L = kLanes;
    V a = broadcast<Acc, L>(Op::identity());
    i = 0;
    if (n >= 4 * L) {
      V b = a, c = a, d = a;
      for (; i + 4 * L <= n; i += 4 * L) {
        a = join(a, at(p + i));
        b = join(b, at(p + i + L));
        c = join(c, at(p + i + 2 * L));
        d = join(d, at(p + i + 3 * L));
      }
      a = join(join(a, b), join(c, d));
    }
    for (; i + L <= n; i += L) a = join(a, at(p + i));
    // Lanes beyond the end hold the identity, which map leaves neutral.
    if constexpr (kPart) {
      if (i < n) a = join(a, Op::map(load_part(p + i, n - i, Op::identity())));
      i = n;
    }
    return a;
  }

  static FB_FN void block(const T* p, int64_t n, int64_t, State& state) {
    int64_t i = 0;
    Acc total = Op::identity();
    if (n >= kLanes || kPart) {
      const V a = lanes_of(p, n, i);
      total = fold_lanes<Acc, kLanes>(
          a, [](const auto& x, const auto& y) { return Op::combine(x, y); });
    }
    for (; i < n; ++i) total = Op::combine(total, one_at(p + i));
    state = Op::combine(state, convert<State>(total));
  }

  // Where rows are short, folding the lanes of each takes longer than adding it up: as many rows as
  // a vector has lanes are folded together, each in the order of fold_lanes.
  static constexpr int kGroup = requires { requires Op::kGroups; } && kLanes > 2 ? kLanes : 1;

  // The lower or the upper half of each of the pieces of S lanes that x and y consist of.
  template <int half, int S, size_t... I>
  static FB_FN V halves(const V& x, const V& y, std::index_sequence<I...>) {
    constexpr size_t H = S / 2;
    return FB_SHUFFLE(x, y, (I / H * S + half * H + I % H)...);
  }
  // N vectors in pieces of S lanes to one, with one lane for each piece.
  template <int S, int N>
  static FB_FN V fold_pieces(const V* v) {
    if constexpr (N == 1) {
      return v[0];
    } else {
      using All = std::make_index_sequence<kLanes>;
      V joined[N / 2];
#pragma GCC unroll 8
      for (int k = 0; k < N / 2; ++k)
        joined[k] = join(halves<0, S>(v[2 * k], v[2 * k + 1], All{}),
                         halves<1, S>(v[2 * k], v[2 * k + 1], All{}));
      return fold_pieces<S / 2, N / 2>(joined);
    }
  }

  // block() for kGroup rows of the same length, `step` apart.
  static FB_FN void group(const T* p, int64_t step, int64_t n, State* state) {
    alignas(kVectorBytes) Acc total[kLanes];
    int64_t i = 0;
    if (n >= kLanes || kPart) {
      V sums[kLanes];
      for (int r = 0; r < kLanes; ++r) sums[r] = lanes_of(p + r * step, n, i);
      store(total, fold_pieces<kLanes, kLanes>(sums));
    } else {
      for (int r = 0; r < kLanes; ++r) total[r] = Op::identity();
    }
    for (int r = 0; r < kLanes; ++r) {
      Acc sum = total[r];
      for (int64_t k = i; k < n; ++k) sum = Op::combine(sum, one_at(p + r * step + k));
      state[r] = Op::combine(init(), convert<State>(sum));
    }
  }

  static void rows(const T* p, int64_t n, int64_t stride, int64_t width, int64_t, State* state) {
    constexpr int L = kLanes;
    alignas(64) Acc partial[kRowWidth];
    int64_t r = 0;
    for (int64_t c = 0; c < width; ++c) partial[c] = Op::identity();
    for (; r + 4 <= n; r += 4) {
      const T* q = p + r * stride;
      int64_t c = 0;
      for (; c + L <= width; c += L) {
        const V low = join(at(q + c), at(q + stride + c));
        const V high = join(at(q + 2 * stride + c), at(q + 3 * stride + c));
        store(partial + c, join(load<Acc, L>(partial + c), join(low, high)));
      }
      for (; c < width; ++c)
        for (int k = 0; k < 4; ++k)
          partial[c] = Op::combine(partial[c], one_at(q + k * stride + c));
    }
    for (; r < n; ++r) {
      const T* q = p + r * stride;
      int64_t c = 0;
      for (; c + L <= width; c += L) store(partial + c, join(load<Acc, L>(partial + c), at(q + c)));
      for (; c < width; ++c) partial[c] = Op::combine(partial[c], one_at(q + c));
    }
    for (int64_t c = 0; c < width; ++c)
      state[c] = Op::combine(state[c], convert<State>(partial[c]));
  }

  static void merge(State& into, const State& later) { into = Op::combine(into, later); }

  static FB_FN void finish(const ReducePlan& plan, const State& state, int64_t offset) {
    using Out = typename Op::Out;
    static_cast<Out*>(plan.out)[offset] = convert<Out>(Op::result(state, plan));
  }
};

// The limits that amax and amin start from: infinities for floats, the type's own bounds for
// integers.
template <class T>
constexpr T lowest() {
  if constexpr (kIsFloat<T>)
    return -__builtin_inff();
  else if constexpr (kIsSigned<T>)
    return static_cast<T>(T(1) << (8 * sizeof(T) - 1));
  else
    return 0;
}
template <class T>
constexpr T highest() {
  if constexpr (kIsFloat<T>)
    return __builtin_inff();
  else
    return static_cast<T>(~lowest<T>());
}

// NaN wins, whichever side it comes from.
template <class V>
FB_FN V max_or_nan(const V& a, const V& b) {
  return b != b ? b : larger(a, b);
}
template <class V>
FB_FN V min_or_nan(const V& a, const V& b) {
  return b != b ? b : smaller(a, b);
}

// bool is compared as a byte, 0 or 1.
template <class T>
struct ComparedAs {
  using type = T;
};
template <>
struct ComparedAs<bool> {
  using type = unsigned char;
};
template <>
struct ComparedAs<Half> {
  using type = float;
};
template <>
struct ComparedAs<BFloat16> {
  using type = float;
};

template <class T, bool kMax>
struct Extremum {
  using Acc = typename ComparedAs<T>::type;
  using Wide = Acc;
  using Out = T;
  static constexpr int kLanes = FB_ISA::kLanes<Acc>;
  static constexpr Acc identity() { return kMax ? lowest<Acc>() : highest<Acc>(); }
  template <class V>
  static FB_FN V map(const V& x) {
    return x;
  }
  template <class V>
  static FB_FN V combine(const V& a, const V& b) {
    return kMax ? max_or_nan(a, b) : min_or_nan(a, b);
  }
  static Acc result(Acc total, const ReducePlan&) { return total; }
};

}  // namespace
}  // namespace fb::cpu::FB_ISA

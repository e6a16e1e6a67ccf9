// The largest or smallest element along one dimension and where it first occurs. NaN counts as
// both.
#include "cpu/kernels/fold.h"

namespace fb::cpu::FB_ISA {
namespace {

// A signed integer as wide as a lane, so that values and row numbers are selected by one mask.
template <size_t kSize>
struct LaneIndex;
template <>
struct LaneIndex<1> {
  using type = signed char;
};
template <>
struct LaneIndex<2> {
  using type = short;
};
template <>
struct LaneIndex<4> {
  using type = int;
};
template <>
struct LaneIndex<8> {
  using type = long;
};
static_assert(kRowBlock <= 127);

template <class T, bool kMax>
struct IndexReducer {
  using Element = T;
  using Values = Fold<T, Extremum<T, kMax>>;
  using Acc = typename Values::Acc;
  using Index = typename LaneIndex<sizeof(Acc)>::type;
  struct State {
    Acc value;
    int64_t index;  // -1: nothing seen yet
  };
  static constexpr int L = kLanes<Acc>;

  static State init() { return {Extremum<T, kMax>::identity(), -1}; }

  template <class V>
  static FB_FN auto beats(const V& x, const V& best) {
    return ((kMax ? x > best : x < best) | (x != x)) & (best == best);
  }

  static void block(const T* p, int64_t n, int64_t position, State& state) {
    if (state.value != state.value) return;
    Acc best = Extremum<T, kMax>::identity();
    Values::block(p, n, 0, best);
    if (state.index < 0 || beats(best, state.value)) state = {best, position + find(p, n, best)};
  }

  static void rows(const T* p, int64_t n, int64_t stride, int64_t width, int64_t position,
                   State* state) {
    alignas(64) Acc value[kRowWidth];
    alignas(64) Index row[kRowWidth];
    const bool fresh = state[0].index < 0;
    for (int64_t c = 0; c < width; ++c) {
      value[c] = fresh ? load<Acc, 1>(p + c) : state[c].value;
      row[c] = fresh ? 0 : -1;
    }
    for (int64_t r = 0; r < n; ++r) {
      const T* q = p + r * stride;
      int64_t c = 0;
      for (; c + L <= width; c += L) {
        const Vec<Acc> x = load<Acc, L>(q + c);
        const Vec<Acc> best = load<Acc, L>(value + c);
        const Vec<Index> better = beats(x, best);
        store(value + c, better ? x : best);
        store(row + c, better ? Vec<Index>{} + static_cast<Index>(r) : load<Index, L>(row + c));
      }
      for (; c < width; ++c) {
        const Acc x = load<Acc, 1>(q + c);
        if (!beats(x, value[c])) continue;
        value[c] = x;
        row[c] = static_cast<Index>(r);
      }
    }
    for (int64_t c = 0; c < width; ++c)
      if (row[c] >= 0) state[c] = {value[c], position + row[c]};
  }

  static void merge(State& into, const State& later) {
    if (beats(later.value, into.value)) into = later;
  }

  static void finish(const ReducePlan& plan, const State& state, int64_t offset) {
    if (plan.out) static_cast<T*>(plan.out)[offset] = convert<T>(state.value);
    if (plan.out2) static_cast<int64_t*>(plan.out2)[offset] = state.index;
  }

 private:
  // The first position of `wanted`, which occurs; of the first NaN if it is NaN. Stays within
  // bounds even if another thread changes the elements meanwhile.
  static int64_t find(const T* p, int64_t n, Acc wanted) {
    if (wanted != wanted) return find_if(p, n, [](const auto& x) { return x != x; });
    return find_if(p, n, [&](const auto& x) { return x == wanted; });
  }
  template <class F>
  static FB_FN int64_t find_if(const T* p, int64_t n, F matches) {
    const auto at = [&](int64_t j) { return matches(load<Acc, L>(p + j)); };
    int64_t i = 0;
    while (i + 4 * L <= n && !any((at(i) | at(i + L)) | (at(i + 2 * L) | at(i + 3 * L))))
      i += 4 * L;
    for (; i + L <= n; i += L) {
      const auto found = at(i);
      if (any(found)) return i + first_lane(found);
    }
    while (i + 1 < n && !matches(load<Acc, 1>(p + i))) ++i;
    return i;
  }
};

template <bool kMax>
void run_index(DType dtype, const ReducePlan& plan) {
  visit_real(dtype, [&](auto tag) {
    run_reduction<IndexReducer<typename decltype(tag)::type, kMax>>(plan);
  });
}

}  // namespace

void reduce_index(ReduceOp op, DType dtype, const ReducePlan& plan) {
  if (op == ReduceOp::kMaxIndex)
    run_index<true>(dtype, plan);
  else
    run_index<false>(dtype, plan);
}

}  // namespace fb::cpu::FB_ISA

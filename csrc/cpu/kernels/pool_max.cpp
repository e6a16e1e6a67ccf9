// The largest element of each window. Images with the channels last take a vector of channels at a
// time, others a vector of neighbouring windows.
#include "cpu/kernels/pool.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class A>
constexpr A lowest_lane() {
  if constexpr (kIsFloat<A>)
    return -__builtin_inff();
  else
    return static_cast<A>(A(1) << (8 * sizeof(A) - 1));
}

// Every second of the elements at p. Reads nothing beyond the last that is wanted.
template <class V, size_t... I>
FB_FN V every_second(const V& low, const V& high, std::index_sequence<I...>) {
  constexpr size_t N = sizeof...(I);
  return __builtin_shufflevector(low, high, (2 * I < N ? 2 * I : 2 * I + 1)...);
}

template <class A, int N, class T>
FB_FN Vec<A, N> load_apart(const T* p, int64_t stride) {
  if constexpr (N == 1) {
    return convert<A>(*p);
  } else {
    if (stride == 1) return load<A, N>(p);
    if (stride == 2)
      return every_second(load<A, N>(p), load<A, N>(p + N - 1), std::make_index_sequence<N>());
    Vec<A, N> result;
    for (int i = 0; i < N; ++i) result[i] = convert<A>(p[i * stride]);
    return result;
  }
}

template <class T, bool kNumbers>
class MaxPool {
 public:
  using A = LaneOf<T>;
  using K = NumberOf<A>;

  MaxPool(const PoolPlan& plan, const T* in, T* out, uint8_t* numbers, int64_t* indices)
      : plan_(plan), in_(in), out_(out), numbers_(numbers), indices_(indices) {
    plan.axis[2].whole(whole_begin_, whole_end_);
    if (plan_.width.stride == 0) whole_begin_ = whole_end_ = 0;
    in_size_ = plan_.in_size();
    rows_ = plan_.depth.out * plan_.height.out;
  }

  void run() {
    const int64_t row_cost = plan_.width.out * plan_.inner * plan_.volume();
    parallel_for(plan_.planes * rows_, grain_of(row_cost), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row(r / rows_, r % rows_);
    });
  }

 private:
  // The windows of one row of the output: what they have in common.
  struct Row {
    int64_t d0, d1, h0, h1;  // places of the window that exist
    int64_t origin;          // the pixel at which the row's windows start, but for the column
    const T* in;
    int64_t out;  // the row's first element in the results
  };

  void row(int64_t plane, int64_t r) {
    const int64_t d = r / plan_.height.out, h = r % plan_.height.out;
    const AxisView &depth = plan_.depth, &height = plan_.height, &width = plan_.width;
    const Row row{depth.first[d],
                  depth.last[d],
                  height.first[h],
                  height.last[h],
                  (int64_t{depth.origin[d]} * height.in + height.origin[h]) * width.in,
                  in_ + plane * in_size_ * plan_.inner,
                  (plane * rows_ + r) * width.out * plan_.inner};
    if (plan_.inner > 1) {
      for (int64_t w = 0; w < width.out; ++w)
        in_blocks<T, A>(0, plan_.inner, [&](int64_t c, auto lanes) {
          window<decltype(lanes)::value>(row, w, c, plan_.inner);
        });
      return;
    }
    for (int64_t w = 0; w < whole_begin_; ++w) window<1>(row, w, 0, 1);
    in_blocks<T, A>(whole_begin_, whole_end_,
                    [&](int64_t w, auto lanes) { window<decltype(lanes)::value>(row, w, 0, 1); });
    for (int64_t w = whole_end_; w < width.out; ++w) window<1>(row, w, 0, 1);
  }

  // The windows of column w, of N channels from c on; without channels inside, of N columns.
  template <int N>
  FB_FN void window(const Row& row, int64_t w, int64_t c, int64_t inner) {
    const AxisView &depth = plan_.depth, &height = plan_.height, &width = plan_.width;
    const int64_t apart = inner > 1 ? 1 : width.stride;
    const int64_t w0 = width.first[w], w1 = width.last[w];
    const int64_t origin = row.origin + width.origin[w];
    Vec<A, N> best = broadcast<A, N>(lowest_lane<A>());
    Vec<K, N> number =
        broadcast<K, N>(static_cast<K>((row.d0 * height.kernel + row.h0) * width.kernel + w0));
    for (int64_t kd = row.d0; kd < row.d1; ++kd)
      for (int64_t kh = row.h0; kh < row.h1; ++kh) {
        const int64_t start =
            origin + (kd * depth.dilation * height.in + kh * height.dilation) * width.in;
        const int64_t code = (kd * height.kernel + kh) * width.kernel;
        for (int64_t kw = w0; kw < w1; ++kw) {
          const Vec<A, N> x =
              load_apart<A, N>(row.in + (start + kw * width.dilation) * inner + c, apart);
          const auto better = (x > best) | (x != x);
          best = better ? x : best;
          if constexpr (kNumbers)
            number = better ? broadcast<K, N>(static_cast<K>(code + kw)) : number;
        }
      }
    const int64_t at = row.out + w * inner + c;
    put<T, A, N>(out_ + at, best);
    if constexpr (kNumbers) keep<N>(number, at, origin, apart);
  }

  template <int N>
  FB_FN void keep(const Vec<K, N>& number, int64_t at, int64_t origin, int64_t apart) {
    if (numbers_) {
      put<uint8_t, K, N>(numbers_ + at, number);
    } else {
      K lane[N];
      __builtin_memcpy(lane, &number, sizeof(lane));
      // Channels of one pixel have one origin, neighbouring windows do not.
      const int64_t step = plan_.inner > 1 ? 0 : apart;
      for (int i = 0; i < N; ++i) indices_[at + i] = origin + i * step + plan_.offsets[lane[i]];
    }
  }

  const PlanView plan_;
  const T* const in_;
  T* const out_;
  uint8_t* const numbers_;
  int64_t* const indices_;
  int64_t whole_begin_, whole_end_;  // columns whose windows are whole
  int64_t in_size_, rows_;
};

}  // namespace

void max_pool(DType dtype, const PoolPlan& plan, const void* in, void* out, uint8_t* numbers,
              int64_t* indices) {
  visit_pooled(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const x = static_cast<const T*>(in);
    T* const y = static_cast<T*>(out);
    if (numbers || indices)
      MaxPool<T, true>(plan, x, y, numbers, indices).run();
    else
      MaxPool<T, false>(plan, x, y, nullptr, nullptr).run();
  });
}

}  // namespace fb::cpu::FB_ISA

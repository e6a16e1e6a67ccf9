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

// Every second of the elements at p. Reads nothing beyond the last one needed.
template <class V, size_t... I>
FB_FN V every_second(const V& low, const V& high, std::index_sequence<I...>) {
  constexpr size_t N = sizeof...(I);
  return FB_SHUFFLE(low, high, (2 * I < N ? 2 * I : 2 * I + 1)...);
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
  using Number = NumberOf<A>;

  MaxPool(const PoolPlan& plan, const T* in, T* out, uint8_t* numbers, int64_t* indices)
      : plan_(plan), in_(in), out_(out), numbers_(numbers), indices_(indices) {
    plan.axis[2].whole(whole_begin_, whole_end_);
    if (plan_.width.stride == 0) whole_begin_ = whole_end_ = 0;
    in_size_ = plan_.in_size();
    rows_ = plan_.depth.out * plan_.height.out;
  }

  void run() {
    const AxisView &height = plan_.height, &width = plan_.width;
    const bool is_dense = plan_.depth.kernel == 1 && height.dilation == 1 && width.dilation == 1;
    const auto are = [&](int64_t h, int64_t w) {
      return is_dense && height.kernel == h && width.kernel == w;
    };
    if constexpr (__is_same(T, float)) {
      if (are(2, 2)) return all_rows<2, 2>();
      if (are(3, 3)) return all_rows<3, 3>();
      if (are(1, 2)) return all_rows<1, 2>();
      if (are(1, 3)) return all_rows<1, 3>();
    }
    all_rows<0, 0>();
  }

 private:
  // The windows of one row of the output: what they have in common.
  struct Row {
    int64_t d0, d1, h0, h1;  // positions of the window that exist
    int64_t origin;          // the pixel at which the row's windows start, but for the column
    const T* in;
    int64_t out;  // the row's first element in the results
  };

  // Whole windows of the common sizes H x W need no loops at run time; the form 0 x 0 is for all
  // other windows.
  template <int H, int W>
  void all_rows() {
    const int64_t row_cost = plan_.width.out * plan_.inner * plan_.volume();
    parallel_for(plan_.planes * rows_, grain_of(row_cost), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row<H, W>(r / rows_, r % rows_);
    });
  }

  template <int H, int W>
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
    for (int64_t w = 0; w < whole_begin_; ++w) windows<0, 0>(row, w, w + 1);
    if (row.h1 - row.h0 == H)
      windows<H, W>(row, whole_begin_, whole_end_);
    else
      windows<0, 0>(row, whole_begin_, whole_end_);
    for (int64_t w = whole_end_; w < width.out; ++w) windows<0, 0>(row, w, w + 1);
  }

  // The windows of columns [begin, end), which are whole unless it is a single one.
  template <int H, int W>
  void windows(const Row& row, int64_t begin, int64_t end) {
    if (plan_.inner == 1)
      return in_blocks<T, A>(begin, end, [&](int64_t w, auto lanes) {
        window<decltype(lanes)::value, H, W>(row, w, 0, 1);
      });
    if constexpr (kHasParts<T>)
      if (plan_.inner < kLanes<A>) {
        for (int64_t w = begin; w < end; ++w) window<kLanes<A>, H, W, true>(row, w, 0, plan_.inner);
        return;
      }
    for (int64_t w = begin; w < end; ++w)
      in_blocks<T, A>(0, plan_.inner, [&](int64_t c, auto lanes) {
        window<decltype(lanes)::value, H, W>(row, w, c, plan_.inner);
      });
  }

  // The windows of column w, of N channels from c on; without channels inside, of N columns. A part
  // has as many channels as there are.
  template <int N, int H, int W, bool kPart = false>
  FB_FN void window(const Row& row, int64_t w, int64_t c, int64_t inner) {
    const AxisView &depth = plan_.depth, &height = plan_.height, &width = plan_.width;
    const int64_t apart = inner > 1 ? 1 : width.stride;
    const int64_t w0 = width.first[w], w1 = width.last[w];
    const int64_t origin = row.origin + width.origin[w];
    Vec<A, N> best = broadcast<A, N>(lowest_lane<A>());
    Vec<Number, N> number = broadcast<Number, N>(
        static_cast<Number>((row.d0 * height.kernel + row.h0) * width.kernel + w0));
    const auto take = [&](int64_t pixel, int64_t code) __attribute__((always_inline)) {
      const T* const from = row.in + pixel * inner + c;
      Vec<A, N> x;
      if constexpr (kPart)
        x = load_part(from, inner, A(0));
      else
        x = load_apart<A, N>(from, apart);
      const auto better = (x > best) | (x != x);
      best = better ? x : best;
      if constexpr (kNumbers)
        number = better ? broadcast<Number, N>(static_cast<Number>(code)) : number;
    };
    if constexpr (W > 0) {
#pragma GCC unroll 9
      for (int k = 0; k < H * W; ++k) take(origin + k / W * width.in + k % W, k);
    } else {
      for (int64_t kd = row.d0; kd < row.d1; ++kd)
        for (int64_t kh = row.h0; kh < row.h1; ++kh) {
          const int64_t start =
              origin + (kd * depth.dilation * height.in + kh * height.dilation) * width.in;
          const int64_t code = (kd * height.kernel + kh) * width.kernel;
          for (int64_t kw = w0; kw < w1; ++kw) take(start + kw * width.dilation, code + kw);
        }
    }
    const int64_t at = row.out + w * inner + c;
    if constexpr (kPart)
      store_part(out_ + at, best, inner);
    else
      put<T, A, N>(out_ + at, best);
    if constexpr (kNumbers) keep<N, kPart>(number, at, origin, apart);
  }

  template <int N, bool kPart>
  FB_FN void keep(const Vec<Number, N>& number, int64_t at, int64_t origin, int64_t apart) {
    if (numbers_) {
      if constexpr (kPart)
        store_numbers(numbers_ + at, number, plan_.inner);
      else
        put<uint8_t, Number, N>(numbers_ + at, number);
    } else {
      Number lane[N];
      __builtin_memcpy(lane, &number, sizeof(lane));
      // Channels of one pixel have one origin, neighbouring windows do not.
      const int64_t step = plan_.inner > 1 ? 0 : apart;
      const int64_t count = kPart ? plan_.inner : N;
      for (int64_t i = 0; i < count; ++i)
        indices_[at + i] = origin + i * step + plan_.offsets[lane[i]];
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

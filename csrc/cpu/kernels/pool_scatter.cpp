// Scatters gradients to the positions of the largest elements, and gathers elements from there.
#include "cpu/kernels/pool.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
FB_FN void add_to(T& sum, T term) {
  using A = LaneOf<T>;
  sum = convert<T>(convert<A>(sum) + convert<A>(term));
}

// Calls f(element of the output, element of the input) for each output of one plane.
template <class F>
void each_position(const PlanView& plan, int64_t plane, const uint8_t* numbers,
                   const int64_t* indices, F&& f) {
  const int64_t inner = plan.inner;
  int64_t at = plane * plan.out_size() * inner;
  const int64_t base = plane * plan.in_size() * inner;
  if (indices) {
    for (int64_t p = 0; p < plan.out_size(); ++p)
      for (int64_t c = 0; c < inner; ++c, ++at) f(at, base + indices[at] * inner + c);
    return;
  }
  for (int64_t d = 0; d < plan.depth.out; ++d)
    for (int64_t h = 0; h < plan.height.out; ++h)
      for (int64_t w = 0; w < plan.width.out; ++w) {
        const int64_t origin = plan.origin(d, h, w);
        for (int64_t c = 0; c < inner; ++c, ++at)
          f(at, base + (origin + plan.offsets[numbers[at]]) * inner + c);
      }
}

// Of all planes, each of which writes elements of its own.
template <class F>
void all_positions(const PlanView& plan, const uint8_t* numbers, const int64_t* indices, F f) {
  parallel_for(plan.planes, grain_of(plan.out_size() * plan.inner),
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end; ++p) each_position(plan, p, numbers, indices, f);
               });
}

template <class T>
void clear(T* p, int64_t n) {
  __builtin_memset(p, 0, static_cast<size_t>(n) * sizeof(T));
}

// Windows side by side, from the first position on.
bool are_apart(const AxisView& axis) {
  return axis.kernel == axis.stride && axis.dilation == 1 && axis.origin[0] == 0 &&
         axis.out * axis.kernel <= axis.in;
}
bool are_apart(const PlanView& plan) {
  return are_apart(plan.depth) && are_apart(plan.height) && are_apart(plan.width);
}
bool cover_all(const PlanView& plan) { return plan.out_size() * plan.volume() == plan.in_size(); }

// Windows that do not overlap, two positions wide: both are written, the smaller element's as 0.
template <class T>
class Pairs {
 public:
  using A = LaneOf<T>;
  using K = NumberOf<A>;

  static bool fit(const PlanView& plan) {
    return __is_same(T, A) && plan.inner == 1 && plan.width.kernel == 2 && are_apart(plan);
  }

  static void plane(const PlanView& plan, const T* gradient, const uint8_t* numbers, T* out) {
    const AxisView &depth = plan.depth, &height = plan.height, &width = plan.width;
    if (!cover_all(plan)) clear(out, plan.in_size());
    for (int64_t d = 0; d < depth.out * depth.kernel; ++d)
      for (int64_t h = 0; h < height.out * height.kernel; ++h) {
        const int64_t from = (d / depth.kernel * height.out + h / height.kernel) * width.out;
        const int64_t number = (d % depth.kernel * height.kernel + h % height.kernel) * 2;
        row(gradient + from, numbers + from, number, width.out,
            out + (d * height.in + h) * width.in);
      }
  }

 private:
  template <int N, size_t... I>
  static FB_FN void interleave(const Vec<A, N>& even, const Vec<A, N>& odd, T* out,
                               std::index_sequence<I...>) {
    store(out, FB_SHUFFLE(even, odd, (I / 2 + I % 2 * N)...));
    store(out + N, FB_SHUFFLE(even, odd, (N / 2 + I / 2 + I % 2 * N)...));
  }

  // N windows from the first of `gradient` on.
  template <int N>
  static FB_FN void windows(const T* gradient, const uint8_t* numbers, int64_t number, T* out) {
    if constexpr (N == 1) {
      for (int64_t k = 0; k < 2; ++k) out[k] = *numbers == number + k ? *gradient : convert<T>(0);
    } else {
      const Vec<A, N> g = load<A, N>(gradient), none{};
      const Vec<K, N> k = load<K, N>(numbers);
      const Vec<A, N> even = k == static_cast<K>(number) ? g : none;
      const Vec<A, N> odd = k == static_cast<K>(number + 1) ? g : none;
      interleave<N>(even, odd, out, std::make_index_sequence<N>());
    }
  }

  static void row(const T* gradient, const uint8_t* numbers, int64_t number, int64_t n, T* out) {
    if constexpr (__is_same(T, A))
      in_blocks<T, A>(0, n, [&](int64_t w, auto lanes) {
        windows<decltype(lanes)::value>(gradient + w, numbers + w, number, out + 2 * w);
      });
  }
};

// Windows that do not overlap, with the channels inside: all positions of a window are written, all
// but the largest element's as 0.
template <class T>
class Apart {
 public:
  using A = LaneOf<T>;
  using K = NumberOf<A>;

  static void run(const PlanView& plan, const T* gradient, const uint8_t* numbers, T* out) {
    if (!cover_all(plan)) clear(out, plan.planes * plan.in_size() * plan.inner);
    const int64_t rows = plan.depth.out * plan.height.out;
    const int64_t cost = plan.width.out * plan.inner * plan.volume();
    parallel_for(plan.planes * rows, grain_of(cost), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t w = 0; w < plan.width.out; ++w) {
          const int64_t from = (r * plan.width.out + w) * plan.inner;
          const int64_t first = r / rows * plan.in_size() +
                                plan.origin(r % rows / plan.height.out, r % plan.height.out, w);
          window(plan, gradient + from, numbers + from, out + first * plan.inner);
        }
    });
  }

 private:
  static FB_FN void window(const PlanView& plan, const T* gradient, const uint8_t* numbers,
                           T* out) {
    const int64_t inner = plan.inner, volume = plan.volume();
    if constexpr (kHasParts<T>)
      if (inner < kLanes<T>) {
        const Vec<int, 16> winner = load_numbers(numbers, inner);
        const Vec<T> g = load_part(gradient, inner, T(0));
        for (int64_t k = 0; k < volume; ++k)
          store_part(out + plan.offsets[k] * inner,
                     winner == static_cast<int>(k) ? g : broadcast<T, kLanes<T>>(T(0)), inner);
        return;
      }
    in_blocks<T, A>(0, inner, [&](int64_t c, auto lanes) {
      constexpr int N = decltype(lanes)::value;
      const Vec<K, N> winner = load<K, N>(numbers + c);
      const Vec<A, N> g = load<A, N>(gradient + c);
      for (int64_t k = 0; k < volume; ++k) {
        const auto wins = winner == static_cast<K>(k);
        put<T, A, N>(out + plan.offsets[k] * inner + c, wins ? g : broadcast<A, N>(A(0)));
      }
    });
  }
};

// One row of the input with the channels inside: what its pixels get from the windows they are in.
template <class T>
class Gathered {
 public:
  using A = LaneOf<T>;
  using K = NumberOf<A>;

  Gathered(const PoolPlan& plan, const T* gradient, const uint8_t* numbers, T* out)
      : plan_(plan), gradient_(gradient), numbers_(numbers), out_(out) {
    for (int i = 0; i < 3; ++i) {
      begin_[i] = plan.cover[i].begin.data();
      output_[i] = plan.cover[i].output.data();
      number_[i] = plan.cover[i].number.data();
    }
  }

  void run() {
    const int64_t rows = plan_.depth.in * plan_.height.in;
    const int64_t cost = plan_.width.in * plan_.inner * 2;
    parallel_for(plan_.planes * rows, grain_of(cost), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t w = 0; w < plan_.width.in; ++w) pixel(r / rows, r % rows, w);
    });
  }

 private:
  // The windows that a pixel is in: their positions among the results, and its number in them.
  struct Windows {
    int count = 0;
    int64_t position[kCompactVolume];
    K number[kCompactVolume];
  };

  void pixel(int64_t plane, int64_t row, int64_t w) {
    const int64_t d = row / plan_.height.in, h = row % plan_.height.in;
    Windows windows;
    for (int64_t i = begin_[0][d]; i < begin_[0][d + 1]; ++i)
      for (int64_t j = begin_[1][h]; j < begin_[1][h + 1]; ++j) {
        const int64_t out_row =
            (plane * plan_.depth.out + output_[0][i]) * plan_.height.out + output_[1][j];
        const int64_t number =
            (number_[0][i] * plan_.height.kernel + number_[1][j]) * plan_.width.kernel;
        for (int64_t k = begin_[2][w]; k < begin_[2][w + 1]; ++k, ++windows.count) {
          windows.position[windows.count] =
              (out_row * plan_.width.out + output_[2][k]) * plan_.inner;
          windows.number[windows.count] = static_cast<K>(number + number_[2][k]);
        }
      }
    T* const out = out_ + ((plane * plan_.depth.in * plan_.height.in + row) * plan_.width.in + w) *
                              plan_.inner;
    in_blocks<T, A>(0, plan_.inner, [&](int64_t c, auto lanes) {
      channels<decltype(lanes)::value>(windows, c, out + c);
    });
  }

  template <int N>
  FB_FN void channels(const Windows& windows, int64_t c, T* out) const {
    Vec<A, N> sum = broadcast<A, N>(A(0));
    for (int i = 0; i < windows.count; ++i) {
      const int64_t at = windows.position[i] + c;
      const auto wins = load<K, N>(numbers_ + at) == windows.number[i];
      const Vec<A, N> g = load<A, N>(gradient_ + at);
      sum += wins ? g : broadcast<A, N>(A(0));
    }
    put<T, A, N>(out, sum);
  }

  const PlanView plan_;
  const T* const gradient_;
  const uint8_t* const numbers_;
  T* const out_;
  const int32_t *begin_[3], *output_[3], *number_[3];
};

}  // namespace

void max_pool_scatter(DType dtype, const PoolPlan& plan, const void* gradient,
                      const uint8_t* numbers, const int64_t* indices, void* out) {
  visit_pooled(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const g = static_cast<const T*>(gradient);
    T* const y = static_cast<T*>(out);
    const PlanView view(plan);
    if (numbers && plan.inner > 1)
      return are_apart(view) ? Apart<T>::run(view, g, numbers, y)
                             : Gathered<T>(plan, g, numbers, y).run();
    const int64_t out_size = view.out_size() * view.inner, in_size = view.in_size() * view.inner;
    const bool pairs = numbers && Pairs<T>::fit(view);
    parallel_for(view.planes, grain_of(in_size), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        if (pairs) {
          Pairs<T>::plane(view, g + p * out_size, numbers + p * out_size, y + p * in_size);
          continue;
        }
        clear(y + p * in_size, in_size);
        each_position(view, p, numbers, indices,
                      [&](int64_t from, int64_t to) { add_to(y[to], g[from]); });
      }
    });
  });
}

void max_pool_pick(DType dtype, const PoolPlan& plan, const void* in, const uint8_t* numbers,
                   const int64_t* indices, void* out) {
  visit_pooled(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const x = static_cast<const T*>(in);
    T* const y = static_cast<T*>(out);
    all_positions(PlanView(plan), numbers, indices,
                  [&](int64_t to, int64_t from) { y[to] = x[from]; });
  });
}

void max_unpool(DType dtype, const PoolPlan& plan, const void* in, const int64_t* indices,
                void* out) {
  visit_pooled(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const x = static_cast<const T*>(in);
    T* const y = static_cast<T*>(out);
    all_positions(PlanView(plan), nullptr, indices,
                  [&](int64_t from, int64_t to) { y[to] = x[from]; });
  });
}

}  // namespace fb::cpu::FB_ISA

// Separable maps of images: rows are combined first, then the columns of the combined row.
#include "cpu/resample.h"

#include <memory>

#include "cpu/kernels/blocks.h"
#include "cpu/kernels/loops.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

template <class T>
struct Computed {
  using type = float;
};
template <>
struct Computed<double> {
  using type = double;
};

template <class T, class A>
FB_FN T rounded(A value) {
  if constexpr (__is_same(T, uint8_t)) {
    const A whole = __builtin_rintf(value);
    return static_cast<uint8_t>(whole < 0 ? 0 : whole > 255 ? 255 : whole);
  } else {
    return convert<T>(value);
  }
}

constexpr int64_t kWorthCopying = 16;  // consecutive outputs that are consecutive inputs

// An AxisMap as plain pointers, its weights in the type that is computed with.
template <class A>
class Map {
 public:
  explicit Map(const AxisMap& map)
      : in(map.in),
        out(map.out),
        terms(map.terms),
        least(map.least),
        identity(map.identity),
        index(map.index.data()),
        count(map.count.data()),
        weights_(new A[static_cast<size_t>(terms * out)]) {
    const double* const weight = map.weight.data();
    for (int64_t i = 0; i < terms * out; ++i) weights_[i] = static_cast<A>(weight[i]);
    this->weight = weights_.get();
    find_copied();
  }
  // Whether two outputs are the same sum.
  bool same(int64_t a, int64_t b) const {
    if (count[a] != count[b]) return false;
    for (int64_t k = 0; k < count[a]; ++k)
      if (index[k * out + a] != index[k * out + b] || weight[k * out + a] != weight[k * out + b])
        return false;
    return true;
  }

  const int64_t in, out, terms, least;
  const bool identity;
  const int32_t *index, *count;
  const A* weight;
  // Outputs that are a contiguous run of the input: everything within a border.
  int64_t copied_begin = 0, copied_end = 0;
  bool picks = true;  // every output is an input

 private:
  bool is_copy(int64_t o) const { return count[o] == 1 && weight[o] == 1; }
  void find_copied() {
    for (int64_t begin = 0, end = 0; begin < out; begin = end) {
      end = begin + 1;
      picks &= is_copy(begin);
      if (!is_copy(begin)) continue;
      while (end < out && is_copy(end) && index[end] == index[end - 1] + 1) ++end;
      if (end - begin <= copied_end - copied_begin) continue;
      copied_begin = begin;
      copied_end = end;
    }
  }

  std::unique_ptr<A[]> weights_;
};

template <class T>
class Resample {
 public:
  using A = typename Computed<T>::type;

  Resample(const ResamplePlan& plan, const T* in, T* out)
      : inner_(plan.inner),
        planes_(plan.planes),
        depth_(plan.axis[0]),
        height_(plan.axis[1]),
        width_(plan.axis[2]),
        in_(in),
        out_(out) {}

  void run() {
    const int64_t rows = depth_.out * height_.out;
    if (depth_.picks && height_.picks && width_.picks &&
        width_.copied_end - width_.copied_begin >= width_.out / 2)
      return pick_rows();
    const int64_t cost =
        inner_ * (width_.in * depth_.terms * height_.terms + width_.out * width_.terms) / 2 + 1;
    const int64_t grain = cost < kGrain ? kGrain / cost : 1;
    parallel_for(planes_ * rows, grain, [&](int64_t begin, int64_t end) {
      const std::unique_ptr<A[]> combined(new A[static_cast<size_t>(width_.in * inner_)]);
      const std::unique_ptr<A[]> mapped(
          __is_same(T, A) ? nullptr : new A[static_cast<size_t>(width_.out * inner_)]);
      for (int64_t r = begin; r < end; ++r)
        row(r / rows, r % rows, r > begin && r % rows > 0, combined.get(), mapped.get());
    });
  }

 private:
  // Borders around images: every row is a row of the input with a few more elements at its ends.
  void pick_rows() {
    const int64_t rows = depth_.out * height_.out, length = width_.out * inner_;
    parallel_for(planes_ * rows, kGrain / (length + 1) + 1, [&](int64_t begin, int64_t end) {
      int64_t plane = begin / rows, d = begin % rows / height_.out, h = begin % height_.out;
      T* out = out_ + begin * length;
      for (int64_t r = begin; r < end; ++r, out += length) {
        pick_row(row_at(plane, depth_.index[d], height_.index[h]), out);
        if (++h < height_.out) continue;
        h = 0;
        if (++d < depth_.out) continue;
        d = 0;
        ++plane;
      }
    });
  }

  FB_FN void pick_row(const T* in, T* out) const {
    const int64_t begin = width_.copied_begin, end = width_.copied_end;
    pick_pixels(in, out, 0, begin);
    copy_run(in + width_.index[begin] * inner_, out + begin * inner_, (end - begin) * inner_);
    pick_pixels(in, out, end, width_.out);
  }

  FB_FN void pick_pixels(const T* in, T* out, int64_t begin, int64_t end) const {
    if (inner_ == 1)
      for (int64_t w = begin; w < end; ++w) out[w] = in[width_.index[w]];
    else
      for (int64_t w = begin; w < end; ++w)
        copy_run(in + width_.index[w] * inner_, out + w * inner_, inner_);
  }

  // Rows and pixels are short: a call of memcpy would take longer.
  static FB_FN void copy_run(const T* in, T* out, int64_t n) {
    const auto* from = reinterpret_cast<const uint8_t*>(in);
    auto* to = reinterpret_cast<uint8_t*>(out);
    const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    constexpr int64_t kLongRun = 4096;
    if (bytes < kVectorBytes || bytes > kLongRun) {
      __builtin_memcpy(to, from, static_cast<size_t>(bytes));
      return;
    }
    cover<kVectorBytes>(0, bytes, [&](int64_t i, auto lanes) {
      store(to + i, load<uint8_t, decltype(lanes)::value>(from + i));
    });
  }

  void row(int64_t plane, int64_t r, bool has_previous, A* combined, A* mapped) {
    const int64_t d = r / height_.out, h = r % height_.out;
    const int64_t length = width_.out * inner_;
    T* const out = out_ + (plane * depth_.out * height_.out + r) * length;
    if (has_previous && h > 0 && height_.same(h, h - 1)) {
      __builtin_memcpy(out, out - length, static_cast<size_t>(length) * sizeof(T));
      return;
    }
    if constexpr (__is_same(T, A)) {
      if (width_.identity) return combine(plane, d, h, out);
      columns(combine_or_borrow(plane, d, h, combined), out);
    } else {
      combine(plane, d, h, combined);
      columns(combined, mapped);
      for (int64_t i = 0; i < length; ++i) out[i] = rounded<T, A>(mapped[i]);
    }
  }

  const T* row_at(int64_t plane, int64_t d, int64_t h) const {
    return in_ + ((plane * depth_.in + d) * height_.in + h) * width_.in * inner_;
  }

  // A row that is used unchanged need not be copied.
  const A* combine_or_borrow(int64_t plane, int64_t d, int64_t h, A* combined) const {
    if (depth_.count[d] == 1 && height_.count[h] == 1 && depth_.weight[d] == 1 &&
        height_.weight[h] == 1)
      return row_at(plane, depth_.index[d], height_.index[h]);
    combine(plane, d, h, combined);
    return combined;
  }

  // The weighted sum of the rows that (d, h) is made of, four at a time.
  void combine(int64_t plane, int64_t d, int64_t h, A* sum) const {
    const int64_t n = width_.in * inner_;
    const int64_t terms = depth_.count[d] * height_.count[h];
    if (terms == 0)
      for (int64_t i = 0; i < n; ++i) sum[i] = 0;
    const T* from[4];
    A weight[4];
    for (int64_t t = 0; t < terms;) {
      const bool fresh = t == 0;
      int taken = 0;
      for (; taken < 4 && t < terms; ++taken, ++t) {
        const int64_t kd = t / height_.count[h] * depth_.out + d;
        const int64_t kh = t % height_.count[h] * height_.out + h;
        from[taken] = row_at(plane, depth_.index[kd], height_.index[kh]);
        weight[taken] = depth_.weight[kd] * height_.weight[kh];
      }
      switch (taken) {
        case 1:
          fresh ? add<1, true>(from, weight, sum, n) : add<1, false>(from, weight, sum, n);
          break;
        case 2:
          fresh ? add<2, true>(from, weight, sum, n) : add<2, false>(from, weight, sum, n);
          break;
        case 3:
          fresh ? add<3, true>(from, weight, sum, n) : add<3, false>(from, weight, sum, n);
          break;
        default: fresh ? add<4, true>(from, weight, sum, n) : add<4, false>(from, weight, sum, n);
      }
    }
  }

  template <int kRows, bool kFresh>
  static void add(const T* const* from, const A* weight, A* sum, int64_t n) {
    constexpr int L = kLanes<A>;
    int64_t i = add_by<kRows, kFresh, L>(from, weight, sum, 0, n);
    if constexpr (L > 8) i = add_by<kRows, kFresh, 8>(from, weight, sum, i, n);
    if constexpr (L > 4 && !__is_same(T, Half))
      i = add_by<kRows, kFresh, 4>(from, weight, sum, i, n);
    add_by<kRows, kFresh, 1>(from, weight, sum, i, n);
  }

  // From element i on, as many as vectors of N can take; returns where they ended.
  template <int kRows, bool kFresh, int N>
  static FB_FN int64_t add_by(const T* const* from, const A* weight, A* sum, int64_t i, int64_t n) {
    for (; i + N <= n; i += N) {
      Vec<A, N> total = load<A, N>(from[0] + i) * weight[0];
      for (int r = 1; r < kRows; ++r) total += load<A, N>(from[r] + i) * weight[r];
      if constexpr (!kFresh) total += load<A, N>(sum + i);
      store(sum + i, total);
    }
    return i;
  }

  void columns(const A* in, A* out) const {
    const int64_t begin = width_.copied_begin, end = width_.copied_end;
    if (end - begin < kWorthCopying) return sums(in, out, 0, width_.out);
    sums(in, out, 0, begin);
    __builtin_memcpy(out + begin * inner_, in + width_.index[begin] * inner_,
                     static_cast<size_t>((end - begin) * inner_) * sizeof(A));
    sums(in, out, end, width_.out);
  }

  // Outputs [begin, end).
  void sums(const A* in, A* out, int64_t begin, int64_t end) const {
    if (inner_ > 1)
      pixels(in, out, begin, end);
    else if (end - begin < kLanes<A> / 2)
      for (int64_t w = begin; w < end; ++w) out[w] = pixel<1>(in, w);
    else if (width_.terms > width_.out)
      long_sums(in, out);
    else
      short_sums(in, out, begin, end);
  }

  // Several outputs at a time, term by term.
  void short_sums(const A* in, A* out, int64_t begin, int64_t end) const {
    const int64_t n = width_.out;
    const int32_t* index = width_.index;
    const A* weight = width_.weight;
    if (width_.least == 0)
      for (int64_t w = begin; w < end; ++w) out[w] = 0;
    for (int64_t k = 0; k < width_.least; ++k, index += n, weight += n) {
      if (k == 0) {
        FB_IVDEP
        for (int64_t w = begin; w < end; ++w) out[w] = weight[w] * in[index[w]];
      } else {
        FB_IVDEP
        for (int64_t w = begin; w < end; ++w) out[w] += weight[w] * in[index[w]];
      }
    }
    // Outputs with fewer terms have weights of 0, which must not multiply an infinity.
    for (int64_t k = width_.least; k < width_.terms; ++k, index += n, weight += n) {
      FB_IVDEP
      for (int64_t w = begin; w < end; ++w)
        out[w] += weight[w] != 0 ? weight[w] * in[index[w]] : A(0);
    }
  }

  // Few outputs of many terms each.
  void long_sums(const A* in, A* out) const {
    const int64_t n = width_.out;
    for (int64_t w = 0; w < n; ++w) {
      A sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < width_.count[w]; ++k)
        sum += width_.weight[k * n + w] * in[width_.index[k * n + w]];
      out[w] = sum;
    }
  }

  void pixels(const A* in, A* out, int64_t begin, int64_t end) const {
    for (int64_t w = begin; w < end; ++w)
      in_blocks<A, A>(0, inner_, [&](int64_t c, auto lanes) {
        store(out + w * inner_ + c, pixel<decltype(lanes)::value>(in + c, w));
      });
  }

  template <int N>
  FB_FN Vec<A, N> pixel(const A* in, int64_t w) const {
    Vec<A, N> sum = broadcast<A, N>(A(0));
    for (int64_t k = 0; k < width_.count[w]; ++k)
      sum += load<A, N>(in + width_.index[k * width_.out + w] * inner_) *
             width_.weight[k * width_.out + w];
    return sum;
  }

  const int64_t inner_, planes_;
  const Map<A> depth_, height_, width_;
  const T* const in_;
  T* const out_;
};

}  // namespace

void resample(DType dtype, const ResamplePlan& plan, const void* in, void* out) {
  const auto run = [&](auto tag) {
    using T = typename decltype(tag)::type;
    Resample<T>(plan, static_cast<const T*>(in), static_cast<T*>(out)).run();
  };
  switch (dtype) {
    case DType::kFloat32: return run(TypeTag<float>{});
    case DType::kFloat64: return run(TypeTag<double>{});
    case DType::kFloat16: return run(TypeTag<Half>{});
    case DType::kBFloat16: return run(TypeTag<BFloat16>{});
    case DType::kUInt8: return run(TypeTag<uint8_t>{});
    default: fail(ErrorKind::kNotImplemented, "not implemented for dtype ", dtype);
  }
}

}  // namespace fb::cpu::FB_ISA

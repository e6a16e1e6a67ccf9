// Fourier transforms of many rows. Short rows and neighbouring columns go through tiles, one row in
// each lane of the vectors (Note [Tiles]). Long rows are transformed one by one, as matrices whose
// columns fill the lanes; those with a large prime factor by a convolution.
#include "cpu/fft.h"

#include <algorithm>

#include "core/allocator.h"
#include "cpu/kernels/fft_tile.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

using kernel::FftKind;
using kernel::FftPlan;

// From how many points on a row alone is worth a matrix, from how many a few rows are worth threads
// inside each, and from how many any rows are.
constexpr int64_t kLongRow = 64, kThreadedRow = int64_t{1} << 15, kHugeRow = int64_t{1} << 18;
constexpr int64_t kFewRows = 16;
// Of a tile and its twin: where passes begin to wait for the cache, and where they do so more than
// half empty vectors would cost. Beyond the last, tiles could be larger than what is transformed.
constexpr int64_t kNearBytes = int64_t{64} << 10, kFarBytes = int64_t{1} << 20,
                  kMostBytes = int64_t{32} << 20;
// Points a thread should have to do: 4 to 7 us.
constexpr int64_t kPointGrain = 8192;

int64_t chunks_of(int64_t n, int64_t chunk) { return (n + chunk - 1) / chunk; }

template <class T>
class Memory {
 public:
  explicit Memory(int64_t count)
      : storage_(allocate_cpu(static_cast<size_t>(count) * sizeof(T))),
        next_(static_cast<T*>(storage_->data)) {}
  // Counts are multiples of a vector, so all pieces are aligned.
  T* take(int64_t count) {
    next_ += count;
    return next_ - count;
  }

 private:
  Storage storage_;
  T* next_;
};

// Numbers of a tile, and room for the last square of a transpose.
template <class T>
int64_t tile_numbers(int64_t n) {
  return (n + kFftLanes<T>)*2 * kLanes<T>;
}

// f(begin, end) over numbers [begin, end) of a row, on several threads if it is that long. Chunks
// are whole vectors and do not depend on the threads, so that neither do the bits of what is left
// over.
template <class F>
void over_row(int64_t begin, int64_t end, bool threaded, F&& f) {
  if (!threaded) return f(begin, end);
  constexpr int64_t kChunk = 4096;
  parallel_for(chunks_of(end - begin, kChunk), 4, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c)
      f(begin + c * kChunk, std::min(begin + (c + 1) * kChunk, end));
  });
}

// --- one row, of contiguous complex numbers

template <class T>
class RowBySteps {
 public:
  static constexpr int L = kLanes<T>;

  RowBySteps(const FftSteps<T>& steps, const T* in, T* out, const Factors<T>& factors)
      : steps_(steps), in_(in), out_(out), factors_(factors) {}

  static int64_t matrix_memory(const FftSteps<T>& steps) {
    // The columns of the last tile are transposed whole, whether they are there or not.
    return chunks_of(steps.second.size, L) * L * 2 * steps.pitch;
  }
  static int64_t tile_memory(const FftSteps<T>& steps) {
    return 2 * tile_numbers<T>(std::max(steps.first.size, steps.second.size));
  }

  // On this thread. `matrix` and `tiles` are of the sizes above.
  void run(T* matrix, T* tiles) const {
    columns(0, steps_.second.size, matrix, tiles);
    rows(0, steps_.first.size, matrix, tiles);
  }

  void run_threaded(T* matrix) const {
    const auto by_tiles = [&](int64_t side, int64_t other, auto&& part) {
      const int64_t grain = std::max<int64_t>(1, kPointGrain / (other * L));
      parallel_for(chunks_of(side, L), grain, [&](int64_t begin, int64_t end) {
        Memory<T> tiles(tile_memory(steps_));
        part(begin * L, std::min(end * L, side), tiles.take(tile_memory(steps_)));
      });
    };
    by_tiles(steps_.second.size, steps_.first.size,
             [&](int64_t begin, int64_t end, T* tiles) { columns(begin, end, matrix, tiles); });
    by_tiles(steps_.first.size, steps_.second.size,
             [&](int64_t begin, int64_t end, T* tiles) { rows(begin, end, matrix, tiles); });
  }

 private:
  // Transforms columns [begin, end) of the row as a matrix (first, second) into rows of `matrix`.
  void columns(int64_t begin, int64_t end, T* matrix, T* tiles) const {
    const FftPasses<T>& passes = steps_.first;
    const int64_t stride = 2 * steps_.second.size;
    T* const other = tiles + tile_numbers<T>(passes.size);
    for (int64_t c = begin; c < end; c += L) {
      const T* numbers;
      if (c + L <= end) {
        const ColumnSource<T> source{in_ + 2 * c, stride, factors_.sign};
        numbers = run_passes_from(passes, source, tiles, other);
      } else {
        int64_t lanes[L];
        for (int l = 0; l < L; ++l) lanes[l] = 2 * std::min(c + l, end - 1);
        load_tile<T>({in_, stride, true, 1, lanes, static_cast<int>(end - c), 2}, passes.size,
                     factors_.sign, tiles);
        numbers = run_passes(passes, 0, passes.passes.size(), tiles, other);
      }
      transpose_into(matrix + c * 2 * steps_.pitch, numbers);
    }
  }

  void transpose_into(T* matrix, const T* numbers) const {
    const int64_t pitch = steps_.pitch;
    for (int64_t k = 0; k < steps_.first.size; k += L) {
      for (int64_t part = 0; part < 2; ++part) {
        Vec<T> square[L];
#pragma GCC unroll 16
        for (int i = 0; i < L; ++i) square[i] = load<T, L>(numbers + (2 * (k + i) + part) * L);
        transpose_lanes(square);
#pragma GCC unroll 16
        for (int l = 0; l < L; ++l) store(matrix + (2 * l + part) * pitch + k, square[l]);
      }
    }
  }

  // Transforms the columns [begin, end) of `matrix`, which are rows of the input, into the result.
  void rows(int64_t begin, int64_t end, const T* matrix, T* tiles) const {
    const FftPasses<T>& passes = steps_.second;
    T* const other = tiles + tile_numbers<T>(passes.size);
    const int64_t stride = 2 * steps_.first.size;
    const T re_scale = factors_.re_scale, im_scale = factors_.im_scale;
    const auto transform = [&](int64_t k, const auto& source) {
      if (k + L <= end) {
        const ColumnSink<T> sink{out_ + 2 * k, stride, re_scale, im_scale};
        run_passes_through(passes, source, sink, tiles, other);
      } else {
        int64_t lanes[L];
        for (int l = 0; l < L; ++l) lanes[l] = 2 * (k + l);
        const T* const numbers = run_passes_from(passes, source, tiles, other);
        store_tile<T>({out_, stride, true, 1, lanes, static_cast<int>(end - k), 2}, passes.size,
                      re_scale, im_scale, numbers);
      }
    };
    const T *const fine = steps_.fine.data(), *const coarse = steps_.coarse.data();
    for (int64_t k = begin; k < end; k += L) {
      if (steps_.coarse.empty())
        transform(k, TurnedSource<T, false>{matrix + k, fine + k, nullptr, steps_.pitch});
      else
        transform(k, TurnedSource<T, true>{matrix + k, fine + k, coarse + k, steps_.pitch});
    }
  }

  const FftSteps<T>& steps_;
  const T* in_;
  T* out_;
  Factors<T> factors_;
};

// The tables for rows of one length, and how one of them is transformed.
template <class T>
class RowTransform {
 public:
  explicit RowTransform(int64_t size) {
    if (fft_has_passes(size))
      steps_ = fft_steps<T>(size);
    else
      convolution_ = fft_convolution<T>(size, [](const FftSteps<T>& steps, T* numbers) {
        Memory<T> memory(RowBySteps<T>::matrix_memory(steps));
        RowBySteps<T>(steps, numbers, numbers, {1, 1, 1})
            .run_threaded(memory.take(RowBySteps<T>::matrix_memory(steps)));
      });
  }

  // Of numbers that run() works with; threaded or not.
  int64_t memory(bool threaded) const {
    return convolution_memory() + RowBySteps<T>::matrix_memory(steps()) +
           (threaded ? 0 : RowBySteps<T>::tile_memory(steps()));
  }

  void run(const T* in, T* out, const Factors<T>& factors, T* memory, bool threaded) const {
    if (!convolution_) return by_steps(in, out, factors, memory, threaded);
    // The conjugate of a forward transform of the conjugate is the backward one.
    const int64_t n = convolution_->size, padded = steps().size();
    const T* const chirp = convolution_->chirp.data();
    T* const numbers = memory;
    memory += convolution_memory();
    const auto multiply = [&](const T* from, const T* by, T* to, int64_t count,
                              const Factors<T>& parts) {
      over_row(0, count, threaded,
               [&](int64_t begin, int64_t end) { multiply_rows(from, by, to, parts, begin, end); });
    };
    multiply(in, chirp, numbers, n, {factors.sign, 1, 1});
    std::fill(numbers + 2 * n, numbers + 2 * padded, T(0));
    by_steps(numbers, numbers, {1, 1, 1}, memory, threaded);
    multiply(numbers, convolution_->spectrum.data(), numbers, padded, {1, 1, 1});
    by_steps(numbers, numbers, {-1, 1, -1}, memory, threaded);
    multiply(numbers, chirp, out, n, {1, factors.re_scale, factors.im_scale});
  }

 private:
  const FftSteps<T>& steps() const { return steps_ ? *steps_ : *convolution_->padded; }
  int64_t convolution_memory() const { return convolution_ ? 2 * steps().size() : 0; }

  void by_steps(const T* in, T* out, const Factors<T>& factors, T* memory, bool threaded) const {
    const RowBySteps<T> row(steps(), in, out, factors);
    if (threaded)
      row.run_threaded(memory);
    else
      row.run(memory, memory + RowBySteps<T>::matrix_memory(steps()));
  }

  std::shared_ptr<const FftSteps<T>> steps_;
  std::shared_ptr<const FftConvolution<T>> convolution_;
};

// --- all rows of a plan

// Where the rows of a plan begin in one of its tensors, in units of T.
struct Starts {
  Dims sizes, strides;

  bool is_even() const { return sizes.size() == 1; }

  // Of rows [first, first + count); returns the step between them where that is always the same,
  // else 0.
  int64_t get(int64_t first, int count, int64_t* starts) const {
    Dims at(sizes.size());
    int64_t start = 0;
    for (size_t d = sizes.size(); d-- > 0;) {
      at[d] = first % sizes[d];
      first /= sizes[d];
      start += at[d] * strides[d];
    }
    bool is_even = true;
    for (int i = 0; i < count; ++i) {
      starts[i] = start;
      is_even = is_even && (i < 2 || start - starts[i - 1] == starts[1] - starts[0]);
      for (size_t d = sizes.size(); d-- > 0;) {
        start += strides[d];
        if (++at[d] < sizes[d]) break;
        start -= sizes[d] * strides[d];
        at[d] = 0;
      }
    }
    return is_even && count > 1 ? starts[1] - starts[0] : 0;
  }
};

// The starts of the rows of a tile, from `base` on.
template <int L>
struct Lanes {
  const Starts& starts;
  int count = 0;
  int64_t base = 0, step = 0;
  int64_t lanes[L] = {};

  // To rows [first, first + rows). Those at even steps only move together.
  void move(int64_t first, int rows) {
    base = 0;
    if (starts.is_even()) {
      base = first * starts.strides[0];
      if (rows == count) return;
      first = 0;
    }
    step = starts.get(first, rows, lanes);
    std::fill(lanes + rows, lanes + L, lanes[0]);
    count = rows;
  }
};

template <class T>
class Transform {
 public:
  static constexpr int L = kLanes<T>;

  explicit Transform(const FftPlan& plan)
      : plan_(plan),
        in_(static_cast<const T*>(plan.in)),
        out_(static_cast<T*>(plan.out)),
        rows_(1),
        halved_(plan.kind != FftKind::kComplex && plan.size % 2 == 0),
        numbers_(halved_ ? plan.size / 2 : plan.size),
        in_unit_(plan.kind == FftKind::kFromReal ? 1 : 2),
        out_unit_(plan.kind == FftKind::kToReal ? 1 : 2) {
    for (size_t d = 0; d < plan.batch.size(); ++d)
      add_dim(plan.batch[d], plan.in_batch_strides[d] * in_unit_,
              plan.out_batch_strides[d] * out_unit_);
    const T scale = static_cast<T>(plan.scale);
    const bool is_conjugate = plan.backward && plan.kind == FftKind::kComplex;
    factors_ = {static_cast<T>(plan.backward ? -1 : 1), scale, is_conjugate ? -scale : scale};
    if (halved_) roots_ = fft_real_roots<T>(plan.size);
  }

  void run() const {
    if (rows_ == 0) return;
    if (goes_by_rows())
      by_rows();
    else
      by_tiles();
  }

 private:
  // Another dimension of rows, inside those before it; one that goes on where it ends joins it.
  void add_dim(int64_t size, int64_t in_stride, int64_t out_stride) {
    rows_ *= size;
    if (size == 1) return;
    Dims &sizes = in_starts_.sizes, &in = in_starts_.strides, &out = out_starts_.strides;
    if (!sizes.empty() && in.back() == size * in_stride && out.back() == size * out_stride) {
      sizes.back() *= size;
      in.back() = in_stride;
      out.back() = out_stride;
    } else {
      sizes.push_back(size);
      in.push_back(in_stride);
      out.push_back(out_stride);
    }
    out_starts_.sizes = sizes;
  }

  bool goes_by_rows() const {
    if (!fft_has_passes(numbers_)) return true;
    if (numbers_ < kLongRow) return false;
    if (rows_ * 2 <= L) return true;
    const int64_t bytes = numbers_ * L * 4 * static_cast<int64_t>(sizeof(T));
    if (plan_.in_stride != 1 || plan_.out_stride != 1) return bytes > kMostBytes;
    return bytes > (fft_suits_steps<T>(numbers_) ? kNearBytes : kFarBytes);
  }

  // --- through tiles

  void by_tiles() const {
    const auto passes = fft_passes<T>(numbers_);
    const int64_t memory = tile_numbers<T>(plan_.size + 1);
    const int64_t grain = std::max<int64_t>(1, kPointGrain / (numbers_ * L));
    parallel_for(chunks_of(rows_, L), grain, [&](int64_t begin, int64_t end) {
      Memory<T> tiles(2 * memory);
      T *const tile = tiles.take(memory), *const other = tiles.take(memory);
      Lanes<L> in{in_starts_}, out{out_starts_};
      for (int64_t t = begin; t < end; ++t) {
        const int count = static_cast<int>(std::min<int64_t>(L, rows_ - t * L));
        in.move(t * L, count);
        out.move(t * L, count);
        one_tile(*passes, in, out, tile, other);
      }
    });
  }

  void one_tile(const FftPasses<T>& passes, const Lanes<L>& in_lanes, const Lanes<L>& out_lanes,
                T* tile, T* other) const {
    const int64_t in_step = plan_.in_stride * in_unit_, out_step = plan_.out_stride * out_unit_;
    LaneView<const T> in{in_ + in_lanes.base, in_step,        true,         1,
                         in_lanes.lanes,      in_lanes.count, in_lanes.step};
    LaneView<T> out{out_ + out_lanes.base, out_step,        true,          1,
                    out_lanes.lanes,       out_lanes.count, out_lanes.step};
    const int64_t n = plan_.size, half = n / 2 + 1;
    const auto [sign, re_scale, im_scale] = factors_;
    const auto transformed = [&] {
      return run_passes(passes, 0, passes.passes.size(), tile, other);
    };
    if (plan_.kind == FftKind::kComplex) {
      if (in.count == L && in.lane_step == 2 && out.lane_step == 2) {
        run_passes_through(passes, ColumnSource<T>{in.p + in.lanes[0], in_step, sign},
                           ColumnSink<T>{out.p + out.lanes[0], out_step, re_scale, im_scale}, tile,
                           other);
        return;
      }
      load_tile(in, n, sign, tile);
      store_tile(out, n, re_scale, im_scale, transformed());
    } else if (plan_.kind == FftKind::kFromReal) {
      in.is_complex = halved_;
      in.imaginary = in_step;
      if (halved_) in.step *= 2;
      load_tile(in, numbers_, sign, tile);
      T* const result = transformed();
      if (halved_) split_real_tile(result, numbers_, roots_->data());
      if (plan_.mirrored) mirror_tile(result, n);
      store_tile<T>(out, plan_.mirrored ? n : half, re_scale, im_scale, result);
    } else {
      out.is_complex = halved_;
      out.imaginary = out_step;
      if (halved_) out.step *= 2;
      load_tile(in, half, sign, tile);
      if (halved_)
        join_real_tile(tile, numbers_, roots_->data());
      else
        mirror_as_real(tile);
      store_tile(out, numbers_, re_scale, im_scale, transformed());
    }
  }

  void mirror_as_real(T* tile) const {
    std::fill(tile + L, tile + 2 * L, T(0));  // what has no mirror image is real
    mirror_tile(tile, plan_.size);
  }

  // --- row by row

  void by_rows() const {
    const RowTransform<T> transform(numbers_);
    const bool threaded = numbers_ >= (rows_ < kFewRows ? kThreadedRow : kHugeRow);
    const int64_t padded = chunks_of(2 * plan_.size + 2, kFftLanes<T>) * kFftLanes<T>;
    const int64_t memory = transform.memory(threaded);
    auto some_rows = [&](int64_t begin, int64_t end) {
      Memory<T> all(memory + 2 * padded);
      T *const in_row = all.take(padded), *const out_row = all.take(padded);
      T* const work = all.take(memory);
      for (int64_t r = begin; r < end; ++r) one_row(transform, r, in_row, out_row, work, threaded);
    };
    if (threaded)
      some_rows(0, rows_);
    else
      parallel_for(rows_, std::max<int64_t>(1, kPointGrain / numbers_), some_rows);
  }

  void one_row(const RowTransform<T>& transform, int64_t r, T* in_row, T* out_row, T* work,
               bool threaded) const {
    int64_t in_start, out_start;
    in_starts_.get(r, 1, &in_start);
    out_starts_.get(r, 1, &out_start);
    const int64_t n = plan_.size;
    const bool is_real = plan_.kind == FftKind::kFromReal,
               gives_real = plan_.kind == FftKind::kToReal;
    const T* in = in_ + in_start;
    // What is not there as complex numbers side by side is brought together.
    if (is_real && !halved_) {
      for (int64_t k = 0; k < n; ++k) {
        in_row[2 * k] = in[k * plan_.in_stride];
        in_row[2 * k + 1] = 0;
      }
      in = in_row;
    } else if (plan_.in_stride != 1) {
      const int64_t count = gives_real ? n / 2 + 1 : n;
      for (int64_t k = 0; k < count; ++k)
        for (int64_t part = 0; part < in_unit_; ++part)
          in_row[k * in_unit_ + part] = in[k * plan_.in_stride * in_unit_ + part];
      in = in_row;
    }
    Factors<T> factors = factors_;
    if (gives_real) {
      if (halved_) {
        over_row(1, numbers_ / 2 + 1, threaded, [&](int64_t begin, int64_t end) {
          join_real_row(in, in_row, numbers_, factors.sign, roots_->data(), begin, end);
        });
        join_real_ends(in, in_row, numbers_);
        factors.sign = 1;
      } else {
        if (in != in_row) std::copy(in, in + n + 1, in_row);
        in_row[1] = 0;
        mirror_row(in_row, n, 1, (n + 1) / 2);
      }
      in = in_row;
    }
    T* const target = out_ + out_start;
    const int64_t results = !is_real || plan_.mirrored ? n : n / 2 + 1;
    const bool is_direct =
        plan_.out_stride == 1 && (halved_ || results == n) && (!gives_real || halved_);
    T* const out = is_direct ? target : out_row;
    transform.run(in, out, factors, work, threaded);
    if (is_real && halved_) {
      over_row(1, numbers_ / 2 + 1, threaded, [&](int64_t begin, int64_t end) {
        split_real_row(out, numbers_, roots_->data(), begin, end);
      });
      split_real_ends(out, numbers_);
    }
    if (plan_.mirrored)
      over_row(1, (n + 1) / 2, threaded,
               [&](int64_t begin, int64_t end) { mirror_row(out, n, begin, end); });
    if (is_direct) return;
    // Real points beside complex numbers without an imaginary part, or pairs of them.
    const int64_t out_parts = gives_real && !halved_ ? 2 : out_unit_;
    for (int64_t k = 0; k < results; ++k)
      for (int64_t part = 0; part < out_unit_; ++part)
        target[k * plan_.out_stride * out_unit_ + part] = out[k * out_parts + part];
  }

  const FftPlan& plan_;
  const T* in_;
  T* out_;
  int64_t rows_;
  bool halved_;      // real points in pairs, as complex numbers
  int64_t numbers_;  // complex numbers that are transformed
  int64_t in_unit_, out_unit_;
  Starts in_starts_, out_starts_;
  Factors<T> factors_;
  std::shared_ptr<const std::vector<T>> roots_;
};

}  // namespace

void fft(const FftPlan& plan) {
  if (plan.real_dtype == DType::kFloat64)
    Transform<double>(plan).run();
  else
    Transform<float>(plan).run();
}

}  // namespace fb::cpu::FB_ISA

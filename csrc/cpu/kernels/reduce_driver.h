// Walks a ReducePlan for any reducer: blocks, rows, packing of strided data, the split over
// threads.
//
// A reducer R has
//   Element  of the input
//   State    what is carried from block to block, trivially copyable; init() is the first
//   block(p, n, position, State&)                n <= kBlock contiguous elements
//   rows(p, n, stride, width, position, State*)  n <= kRowBlock rows of width <= kRowWidth
//   merge(State& into, const State& later)
//   finish(plan, const State&, out_offset)       writes the result
// and may have
//   kGroup, group(p, step, n, State*)            block() of kGroup rows from init() on
// `position` is the index of the first element or row among the reduced ones. Blocks and chunks are
// cut by size alone, so a result does not depend on the number of threads.
#pragma once

#include <memory>

#include "cpu/kernels/simd.h"
#include "cpu/reduce.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

inline constexpr int64_t kBlock =
    4096;  // 16 KB of floats: a second look at a block hits the L1 cache
inline constexpr int64_t kRowBlock = 64;
inline constexpr int64_t kRowWidth = 1024;
inline constexpr int64_t kChunk = 65536;  // elements in a piece of a long reduction
inline constexpr int64_t kMaxChunks = 64;

FB_FN int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
FB_FN int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Steps through the index space of a range of dimensions along the last one. Out of line: the walk
// is the same for every reducer, and the hot loops are inside a run.
class Cursor {
 public:
  Cursor(int ndim, const int64_t* sizes, const int64_t* strides, const int64_t* strides2,
         int64_t begin)
      : last_(ndim - 1), sizes_(sizes), strides_(strides), strides2_(strides2) {
    start(begin);
  }

  int64_t left_in_row() const { return sizes_[last_] - index_[last_]; }

  // n <= left_in_row()
  FB_FN void advance(int64_t n) {
    index_[last_] += n;
    offset += n * strides_[last_];
    offset2 += n * strides2_[last_];
    if (index_[last_] == sizes_[last_] && last_ > 0) carry();
  }

  int64_t offset = 0;
  int64_t offset2 = 0;

 private:
  [[gnu::noinline]] void start(int64_t position) {
    for (int d = 0; d <= last_; ++d) index_[d] = 0;
    for (int d = last_; d >= 0 && position != 0;
         --d) {  // no division by the size of an empty dimension
      index_[d] = position % sizes_[d];
      position /= sizes_[d];
      offset += index_[d] * strides_[d];
      offset2 += index_[d] * strides2_[d];
    }
  }

  [[gnu::noinline]] void carry() {
    for (int d = last_; d > 0 && index_[d] == sizes_[d]; --d) {
      offset += strides_[d - 1] - index_[d] * strides_[d];
      offset2 += strides2_[d - 1] - index_[d] * strides2_[d];
      index_[d] = 0;
      ++index_[d - 1];
    }
  }

  int last_;
  const int64_t* sizes_;
  const int64_t* strides_;
  const int64_t* strides2_;
  int64_t index_[kMaxReduceDims];
};

inline Cursor kept_cursor(const ReducePlan& plan, int64_t begin) {
  return Cursor(plan.kept_ndim, plan.kept_sizes, plan.kept_in, plan.kept_out, begin);
}
inline Cursor reduced_cursor(const ReducePlan& plan, int64_t begin) {
  return Cursor(plan.reduced_ndim, plan.reduced_sizes, plan.reduced_in, plan.reduced_in, begin);
}

template <class T>
[[gnu::noinline]] void pack(const T* p, int64_t n, int64_t stride, T* buffer) {
  for (int64_t i = 0; i < n; ++i) buffer[i] = element_at(p + i * stride);
}

template <class R>
class Reduction {
  using T = typename R::Element;
  using State = typename R::State;
  static constexpr int kGroup = [] {
    if constexpr (requires { R::kGroup; })
      return R::kGroup;
    else
      return 1;
  }();

 public:
  explicit Reduction(const ReducePlan& plan) : plan_(plan), in_(static_cast<const T*>(plan.in)) {}

  void run() {
    const int64_t work = plan_.outputs * plan_.count;
    if (work <= 2 * kGrain) return range(0, plan_.outputs, 0, plan_.count, nullptr);
    // Few results are split along the reduction; many are divided among the threads.
    const int64_t units = plan_.by_rows ? plan_.outputs / kRowWidth : plan_.outputs;
    const int64_t chunks = min64(kMaxChunks, work / kChunk);
    if (units < 8 && plan_.count >= 2 * kRowBlock) return run_split(chunks);
    const int64_t grain = plan_.by_rows ? ceil_div(kGrain, plan_.count * kRowWidth) * kRowWidth
                                        : ceil_div(kGrain, plan_.count);
    parallel_for(plan_.outputs, grain,
                 [&](int64_t begin, int64_t end) { range(begin, end, 0, plan_.count, nullptr); });
  }

 private:
  void run_split(int64_t wanted_chunks) {
    const int64_t unit = plan_.by_rows ? kRowBlock : kBlock;
    const int64_t length = ceil_div(ceil_div(plan_.count, wanted_chunks), unit) * unit;
    const int64_t chunks = ceil_div(plan_.count, length);
    const std::unique_ptr<State[]> states(new State[chunks * plan_.outputs]);
    parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        range(0, plan_.outputs, c * length, min64(plan_.count, (c + 1) * length),
              &states[c * plan_.outputs]);
    });
    Cursor kept = kept_cursor(plan_, 0);
    for (int64_t o = 0; o < plan_.outputs; ++o, kept.advance(1)) {
      State total = states[o];
      for (int64_t c = 1; c < chunks; ++c) R::merge(total, states[c * plan_.outputs + o]);
      R::finish(plan_, total, kept.offset2);
    }
  }

  // Results [first, last) over reduced positions [begin, end). States go to `states` where it is
  // not null, otherwise the results are finished.
  void range(int64_t first, int64_t last, int64_t begin, int64_t end, State* states) const {
    if (plan_.by_rows)
      range_by_rows(first, last, begin, end, states);
    else
      range_by_blocks(first, last, begin, end, states);
  }

  void range_by_blocks(int64_t first, int64_t last, int64_t begin, int64_t end,
                       State* states) const {
    const int64_t stride = plan_.reduced_in[plan_.reduced_ndim - 1];
    T buffer[kBlock];
    // Most rows are one block: the walk is set up only for longer ones.
    const Cursor start = reduced_cursor(plan_, begin);
    const int64_t first_n = min64(min64(start.left_in_row(), end - begin), kBlock);
    Cursor run = start;
    Cursor kept = kept_cursor(plan_, first);
    [[maybe_unused]] const bool groups =
        kGroup > 1 && stride == 1 && first_n == end - begin && !states;
    for (int64_t o = first; o < last;) {
      if constexpr (kGroup > 1) {
        if (groups && min64(last - o, kept.left_in_row()) >= kGroup) {
          group(kept, start.offset, first_n);
          o += kGroup;
          kept.advance(kGroup);
          continue;
        }
      }
      State state = R::init();
      int64_t offset = start.offset;
      int64_t n = first_n;
      for (int64_t position = begin; position < end;) {
        const T* p = in_ + kept.offset + offset;
        if (stride != 1) pack(p, n, stride, buffer);
        R::block(stride == 1 ? p : buffer, n, position, state);
        if (position == begin && n < end - begin) run = start;
        position += n;
        if (position == end) break;
        run.advance(n);
        offset = run.offset;
        n = min64(min64(run.left_in_row(), end - position), kBlock);
      }
      if (states)
        states[o - first] = state;
      else
        R::finish(plan_, state, kept.offset2);
      ++o;
      kept.advance(1);
    }
  }

  // kGroup results of one block each.
  FB_FN void group(const Cursor& kept, int64_t offset, int64_t n) const {
    const int64_t step = plan_.kept_in[plan_.kept_ndim - 1];
    const int64_t out_step = plan_.kept_out[plan_.kept_ndim - 1];
    State states[kGroup];
    R::group(in_ + kept.offset + offset, step, n, states);
    for (int r = 0; r < kGroup; ++r) R::finish(plan_, states[r], kept.offset2 + r * out_step);
  }

  void range_by_rows(int64_t first, int64_t last, int64_t begin, int64_t end, State* states) const {
    const int64_t row_stride = plan_.reduced_in[plan_.reduced_ndim - 1];
    const int64_t step = plan_.kept_in[plan_.kept_ndim - 1];
    const int64_t out_step = plan_.kept_out[plan_.kept_ndim - 1];
    State local[kRowWidth];
    std::unique_ptr<T[]> buffer(step == 1 ? nullptr : new T[kRowBlock * kRowWidth]);
    Cursor kept = kept_cursor(plan_, first);
    for (int64_t o = first; o < last;) {
      const int64_t width = min64(kRowWidth, min64(kept.left_in_row(), last - o));
      State* const state = states ? states + (o - first) : local;
      for (int64_t c = 0; c < width; ++c) state[c] = R::init();
      Cursor run = reduced_cursor(plan_, begin);
      for (int64_t position = begin; position < end;) {
        const int64_t n = min64(min64(run.left_in_row(), end - position), kRowBlock);
        const T* p = in_ + kept.offset + run.offset;
        if (step != 1)
          for (int64_t r = 0; r < n; ++r) pack(p + r * row_stride, width, step, &buffer[r * width]);
        R::rows(step == 1 ? p : buffer.get(), n, step == 1 ? row_stride : width, width, position,
                state);
        position += n;
        run.advance(n);
      }
      if (!states)
        for (int64_t c = 0; c < width; ++c) R::finish(plan_, state[c], kept.offset2 + c * out_step);
      o += width;
      kept.advance(width);
    }
  }

  const ReducePlan& plan_;
  const T* const in_;
};

template <class R>
void run_reduction(const ReducePlan& plan) {
  Reduction<R>(plan).run();
}

}  // namespace
}  // namespace fb::cpu::FB_ISA

// Elements picked by position: how the work is divided among threads.
#include "cpu/index.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/checked.h"
#include "cpu/copy.h"
#include "cpu/strided.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// The number of picks whose offsets are computed at a time; they stay in the first-level cache.
constexpr int64_t kChunk = 512;

Dims in_bytes(IntSpan strides, size_t element_size) {
  Dims result = strides.vec();
  for (int64_t& stride : result) stride *= static_cast<int64_t>(element_size);
  return result;
}

Dims natural_order(size_t dims) {
  Dims order(dims);
  for (size_t i = 0; i < dims; ++i) order[i] = static_cast<int64_t>(i);
  return order;
}

// A loop over some dimensions of the target (operand 0) and of the other side (operand 1).
StridedLoop<2> loop_over(IntSpan shape, IntSpan target_strides, IntSpan other_strides) {
  return StridedLoop<2>(shape, {target_strides, other_strides}, 2, natural_order(shape.size()));
}

[[noreturn]] void refuse_position(const Picks& picks) {
  for (size_t d = 0; d < picks.positions.size(); ++d) {
    const int64_t size = picks.target.sizes()[picks.before + static_cast<int64_t>(d)];
    const auto* position = picks.positions[d].data_as<int64_t>();
    for (int64_t k = 0; k < picks.count(); ++k) {
      FB_CHECK_INDEX(picks.from_the_end || position[k] >= 0, "index out of range: got ",
                     position[k], "; negative indices are not allowed here");
      FB_CHECK_INDEX(position[k] >= -size && position[k] < size, "index ", position[k],
                     " is out of bounds for dimension ", picks.before + static_cast<int64_t>(d),
                     " with size ", size);
    }
  }
  FB_ASSERT(false);
  __builtin_unreachable();
}

// The byte offsets of the picks from..to-1.
class Offsets {
 public:
  explicit Offsets(const Picks& picks) : picks_(picks) {
    for (size_t d = 0; d < picks.positions.size(); ++d) {
      const auto dim = static_cast<size_t>(picks.before) + d;
      sizes_.push_back(picks.target.sizes()[dim]);
      strides_.push_back(picks.target.strides()[dim] *
                         static_cast<int64_t>(picks.target.element_size()));
    }
  }
  bool compute(int64_t from, int64_t to, int64_t* offsets) const {
    const int64_t* positions[kMaxDims];
    for (size_t d = 0; d < picks_.positions.size(); ++d)
      positions[d] = picks_.positions[d].data_as<int64_t>() + from;
    return FB_KERNEL(pick_offsets)(to - from, static_cast<int>(picks_.positions.size()), positions,
                                   sizes_.data(), strides_.data(), picks_.from_the_end, offsets);
  }

 private:
  const Picks& picks_;
  Dims sizes_, strides_;
};

// The dimensions of both sides, in three groups: before the picked ones, the picked ones, after
// them.
struct Sides {
  StridedLoop<2> outer, inner;
  int64_t other_step;  // bytes from one pick to the next on the other side

  Sides(const Picks& picks, const Tensor& other)
      : Sides(picks, other, in_bytes(picks.target.strides(), picks.target.element_size()),
              in_bytes(other.strides(), other.element_size())) {}

 private:
  Sides(const Picks& picks, const Tensor& other, const Dims& target, const Dims& strides)
      : outer(loop_over(picks.target.sizes().first(picks.before),
                        IntSpan(target).first(picks.before), IntSpan(strides).first(picks.before))),
        inner(loop_over(picks.target.sizes().last(after(picks)), IntSpan(target).last(after(picks)),
                        IntSpan(strides).last(after(picks)))),
        other_step(0) {
    // The caller ensures that the picks are evenly spaced on the other side.
    const size_t rank = picks.shape.size();
    for (size_t i = 0; i < rank; ++i) {
      const auto dim = static_cast<size_t>(picks.before) + rank - 1 - i;
      if (other.sizes()[dim] == 1) continue;
      other_step = strides[dim];
      break;
    }
  }

  static size_t after(const Picks& picks) {
    return static_cast<size_t>(picks.target.dim() - picks.before) - picks.positions.size();
  }
};

// Visits every (outer block, chunk of picks) with f(target offset, other offset, first pick, last
// pick, byte offsets of the picks). `ordered`: visits the chunks of a block in order. Skips a chunk
// in which a position is out of bounds, and then returns false.
template <class F>
bool each_chunk(const Picks& picks, const Sides& sides, bool ordered, F&& f) {
  const int64_t count = picks.count();
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  const int64_t blocks = sides.outer.rows() * sides.outer.inner();
  const int64_t row = sides.inner.rows() * sides.inner.inner();
  const Offsets offsets(picks);
  std::atomic<bool> good{true};
  auto visit = [&](int64_t begin, int64_t end) {
    int64_t buffer[kChunk];
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t block = piece / chunks;
      const int64_t from = piece % chunks * kChunk;
      const int64_t to = std::min(from + kChunk, count);
      if (!offsets.compute(from, to, buffer)) {
        good = false;
        continue;
      }
      const RowCursor<2> at(sides.outer, 2, block / sides.outer.inner());
      const int64_t column = block % sides.outer.inner();
      f(at.offset[0] + column * sides.outer.strides[0].back(),
        at.offset[1] + column * sides.outer.strides[1].back(), from, to, buffer);
    }
  };
  const int64_t work = std::max<int64_t>(1, std::min(count, kChunk) * row);
  int64_t grain = std::max<int64_t>(1, kGrain / work);
  if (ordered) grain = (grain + chunks - 1) / std::max<int64_t>(chunks, 1) * chunks;
  parallel_for(blocks * chunks, grain, visit);
  return good;
}

// Copies (or combines) the inner dimensions of one pick.
template <class Run>
void each_row(const StridedLoop<2>& inner, Run&& run) {
  RowCursor<2> at(inner, 2, 0);
  const int64_t rows = inner.rows();
  for (int64_t row = 0; row < rows; ++row, at.next()) run(at.offset[0], at.offset[1]);
}

bool has_one_value(const Tensor& t) {
  for (int64_t d = 0; d < t.dim(); ++d)
    if (t.sizes()[d] > 1 && t.strides()[d] != 0) return false;
  return true;
}

bool is_row(const StridedLoop<2>& inner, int64_t size) {
  return inner.ndim == 1 && inner.strides[0].back() == size && inner.strides[1].back() == size;
}

void check_positions(const Picks& picks) {
  const Offsets offsets(picks);
  const int64_t count = picks.count();
  std::atomic<bool> good{true};
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    int64_t buffer[kChunk];
    for (int64_t from = begin; from < end; from += kChunk)
      if (!offsets.compute(from, std::min(from + kChunk, end), buffer)) good = false;
  });
  if (!good) refuse_position(picks);
}

}  // namespace

void pick(const Tensor& out, const Picks& picks) {
  if (out.numel() == 0) return check_positions(picks);
  const auto size = static_cast<int64_t>(out.element_size());
  const Sides sides(picks, out);
  const StridedLoop<2>& inner = sides.inner;
  const auto* source = static_cast<const char*>(picks.target.data());
  auto* target = static_cast<char*>(out.data());
  const auto elements = FB_KERNEL(pick_elements);
  const ConvertFn run = converter(out.dtype(), out.dtype());
  const int64_t length = inner.inner();
  const bool row = is_row(inner, size);
  const bool good = each_chunk(
      picks, sides, false,
      [&](int64_t in, int64_t to, int64_t from, int64_t end, const int64_t* at) {
        char* out_at = target + to + from * sides.other_step;
        if (inner.ndim == 1 && length == 1)
          return elements(static_cast<size_t>(size), end - from, source + in, at, out_at);
        for (int64_t k = from; k < end; ++k, out_at += sides.other_step) {
          const char* in_at = source + in + at[k - from];
          if (row) {
            std::memcpy(out_at, in_at, static_cast<size_t>(length * size));
            continue;
          }
          each_row(inner, [&](int64_t offset_in, int64_t offset_out) {
            run(length, in_at + offset_in, inner.strides[0].back(), out_at + offset_out,
                inner.strides[1].back());
          });
        }
      });
  if (!good) refuse_position(picks);
}

void index_put(const Picks& picks, const Tensor& values, bool accumulate) {
  check_positions(picks);
  if (values.numel() == 0) return;
  const auto size = static_cast<int64_t>(values.element_size());
  const Sides sides(picks, values);
  const StridedLoop<2>& inner = sides.inner;
  const auto* source = static_cast<const char*>(values.data());
  auto* target = static_cast<char*>(picks.target.data());
  const auto elements = FB_KERNEL(put_elements);
  const auto add = FB_KERNEL(add_elements);
  const ConvertFn run = accumulate ? FB_KERNEL(add_kernel)(values.dtype())
                                   : converter(values.dtype(), values.dtype());
  const int64_t length = inner.inner();
  // With one value for all the order does not matter.
  const bool any_order = !accumulate && has_one_value(values);
  const auto visit = [&](int64_t out, int64_t in, int64_t from, int64_t end, const int64_t* at) {
    const char* value = source + in + from * sides.other_step;
    if (inner.ndim == 1 && length == 1) {
      if (accumulate)
        return add(values.dtype(), end - from, value, sides.other_step, at, target + out);
      return elements(static_cast<size_t>(size), end - from, value, sides.other_step, at,
                      target + out);
    }
    for (int64_t k = from; k < end; ++k, value += sides.other_step) {
      char* out_at = target + out + at[k - from];
      each_row(inner, [&](int64_t offset_out, int64_t offset_in) {
        run(length, value + offset_in, inner.strides[1].back(), out_at + offset_out,
            inner.strides[0].back());
      });
    }
  };
  each_chunk(picks, sides, !any_order, visit);
}

int64_t total_count(const int64_t* counts, int64_t n) {
  int64_t total = 0;
  for (int64_t i = 0; i < n; ++i) total = checked_add(total, counts[i]);
  return total;
}

void repeat_positions(const int64_t* counts, int64_t n, int64_t* out) {
  for (int64_t i = 0; i < n; ++i) out = std::fill_n(out, counts[i], i);
}

}  // namespace fb::cpu

// Images of bytes at another resolution: see Note [Sums of bytes] in cpu/pixels.h.
//
// Sums along a column are sums of whole rows, which vectors do well whatever a pixel is made of.
// Sums along a row are made the same: sixteen rows are turned over, so that a column of them is a
// vector, and the results turned back.
#include <algorithm>
#include <memory>

#include "cpu/kernels/bytes.h"
#include "cpu/kernels/transpose.h"
#include "cpu/pixels.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int kRows = 16;   // turned over at a time
constexpr int kBlocks = 4;  // vectors that are summed at a time
constexpr int64_t kAlign = 64;

using Scratch = std::unique_ptr<uint8_t[]>;
Scratch make_scratch(int64_t bytes) { return Scratch(new uint8_t[static_cast<size_t>(bytes)]); }
int64_t rounded_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// The terms of one output.
struct Terms {
  const int32_t* weight;
  int64_t count;
  int bits;

  Terms(const ByteSums& sums, int64_t o)
      : weight(sums.weight.data() + o * sums.terms), count(sums.count[o]), bits(sums.bits) {}
};

// out[i] = the sum of in[i], in[step + i], in[2 step + i] ... for kCount vectors.
template <int kCount>
FB_FN void sum_vectors(const uint8_t* in, int64_t step, const Terms& terms, uint8_t* out) {
  constexpr int L = kLanes<int32_t>;
  using Sums = Vec<int32_t>;
  Sums sum[kCount];
  for (int b = 0; b < kCount; ++b) sum[b] = broadcast<int32_t, L>(1 << terms.bits >> 1);
  for (int64_t k = 0; k < terms.count; ++k) {
    const Sums weight = broadcast<int32_t, L>(terms.weight[k]);
    for (int b = 0; b < kCount; ++b) sum[b] += load_bytes(in + k * step + b * L) * weight;
  }
  for (int b = 0; b < kCount; ++b) store_bytes(out + b * L, sum[b] >> terms.bits);
}

// The same for n bytes; as many as a vector has may be read beyond them.
FB_FN void sum_rows(const uint8_t* in, int64_t step, const Terms& terms, uint8_t* out, int64_t n) {
  constexpr int L = kLanes<int32_t>;
  int64_t i = 0;
  for (; i + kBlocks * L <= n; i += kBlocks * L) sum_vectors<kBlocks>(in + i, step, terms, out + i);
  for (; i + L <= n; i += L) sum_vectors<1>(in + i, step, terms, out + i);
  if (i == n) return;
  uint8_t last[L];
  sum_vectors<1>(in + i, step, terms, last);
  __builtin_memcpy(out + i, last, static_cast<size_t>(n - i));
}

class Resize {
 public:
  Resize(const ByteResizePlan& plan, const uint8_t* in, uint8_t* out)
      : plan_(plan),
        height_(plan.height),
        width_(plan.width),
        in_bytes_(width_.in * plan.inner),
        out_bytes_(width_.out * plan.inner),
        pitch_(rounded_up(out_bytes_, kAlign) + kAlign),
        in_(in),
        out_(out) {}

  void run() const {
    const int64_t rows_of_row = height_.in / height_.out + 1;
    const int64_t cost = (rows_of_row * in_bytes_ * 2 + out_bytes_ * height_.terms) / 8 + 1;
    const int64_t grain = std::max<int64_t>(kGrain / cost, 1);
    const int64_t planes = plan_.images * plan_.planes;
    parallel_for(planes * height_.out, grain, [&](int64_t begin, int64_t end) {
      for (int64_t next = 0; begin < end; begin = next) {
        const int64_t plane = begin / height_.out;
        next = std::min(end, (plane + 1) * height_.out);
        band(plane, begin - plane * height_.out, next - plane * height_.out);
      }
    });
  }

 private:
  // Output rows [begin, end) of one plane.
  void band(int64_t plane, int64_t begin, int64_t end) const {
    int64_t first = height_.in, last = 0;
    for (int64_t y = begin; y < end; ++y) {
      first = std::min<int64_t>(first, height_.first[y]);
      last = std::max<int64_t>(last, height_.first[y] + height_.count[y]);
    }
    const uint8_t* const in =
        in_ + plane / plan_.planes * plan_.image_step + plane % plan_.planes * plan_.plane_step;
    const Scratch narrowed = make_scratch((last - first) * pitch_);
    narrow(in + first * plan_.row_step, last - first, narrowed.get());
    uint8_t* const out = out_ + plane * height_.out * out_bytes_;
    for (int64_t y = begin; y < end; ++y)
      sum_rows(narrowed.get() + (height_.first[y] - first) * pitch_, pitch_, Terms(height_, y),
               out + y * out_bytes_, out_bytes_);
  }

  // The sums along `rows` rows.
  void narrow(const uint8_t* in, int64_t rows, uint8_t* out) const {
    if (width_.identity) {
      for (int64_t r = 0; r < rows; ++r)
        __builtin_memcpy(out + r * pitch_, in + r * plan_.row_step, static_cast<size_t>(in_bytes_));
      return;
    }
    const Scratch turned = make_scratch(rounded_up(in_bytes_, kRows) * kRows);
    const Scratch sums = make_scratch(rounded_up(out_bytes_, kRows) * kRows);
    const int64_t inner = plan_.inner * kRows;
    for (int64_t r = 0; r < rows; r += kRows) {
      const int64_t count = std::min<int64_t>(rows - r, kRows);
      turn(in + r * plan_.row_step, count, turned.get());
      for (int64_t x = 0; x < width_.out; ++x)
        sum_rows(turned.get() + width_.first[x] * inner, inner, Terms(width_, x),
                 sums.get() + x * inner, inner);
      turn_back(sums.get(), count, out + r * pitch_);
    }
  }

  // Up to sixteen rows as columns. Where there are fewer, the last one stands for the others.
  void turn(const uint8_t* in, int64_t rows, uint8_t* out) const {
    const uint8_t* row[kRows];
    for (int64_t r = 0; r < kRows; ++r) row[r] = in + std::min(r, rows - 1) * plan_.row_step;
    Vec<uint8_t, kRows> tile[kRows];
    int64_t i = 0;
    for (; i + kRows <= in_bytes_; i += kRows) {
      for (int r = 0; r < kRows; ++r) tile[r] = load<uint8_t, kRows>(row[r] + i);
      transpose_lanes(tile);
      for (int r = 0; r < kRows; ++r) store(out + (i + r) * kRows, tile[r]);
    }
    for (; i < in_bytes_; ++i)
      for (int r = 0; r < kRows; ++r) out[i * kRows + r] = row[r][i];
  }

  // The columns as rows again, which are as long as a whole number of vectors.
  void turn_back(const uint8_t* in, int64_t rows, uint8_t* out) const {
    Vec<uint8_t, kRows> tile[kRows];
    for (int64_t i = 0; i < out_bytes_; i += kRows) {
      for (int c = 0; c < kRows; ++c) tile[c] = load<uint8_t, kRows>(in + (i + c) * kRows);
      transpose_lanes(tile);
      for (int64_t r = 0; r < rows; ++r) store(out + r * pitch_ + i, tile[r]);
    }
  }

  const ByteResizePlan& plan_;
  const ByteSums &height_, &width_;
  const int64_t in_bytes_, out_bytes_;  // of a row
  const int64_t pitch_;                 // from one row between the two passes to the next
  const uint8_t* const in_;
  uint8_t* const out_;
};

}  // namespace

void resize_bytes(const ByteResizePlan& plan, const uint8_t* in, uint8_t* out) {
  Resize(plan, in, out).run();
}

}  // namespace fb::cpu::FB_ISA

// Resizing of byte images: see Note [Sums of bytes] in kernel/pixels.h.
//
// Sums along a column are sums of whole rows, which vectorise well whatever the channels. Sums
// along a row are computed the same way: as many rows as a vector has bytes are transposed, so that
// a column of them is a vector, and the results are transposed back.
#include <algorithm>
#include <memory>

#include "cpu/kernels/bytes.h"
#include "cpu/pixels.h"
#include "cpu/threads.h"

namespace fb::cpu::FB_ISA {
namespace {

constexpr int kRows = 16;                  // of a tile that is transposed at a time
constexpr int64_t kColumn = kVectorBytes;  // rows that are summed at a time
constexpr int64_t kAlign = 64;

using Scratch = std::unique_ptr<uint8_t[]>;
Scratch make_scratch(int64_t bytes) { return Scratch(new uint8_t[static_cast<size_t>(bytes)]); }
int64_t rounded_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// The sum of output `o` over vectors at in, in + step, in + 2 step ...
template <int kLimbs>
FB_FN Bytes sum_vectors(const uint8_t* in, int64_t step, const ByteSums& sums, int64_t o) {
  const int32_t* weight = sums.weight.data() + o * sums.pairs * kLimbs;
  ByteTotals totals[kLimbs];
  for (int64_t k = 0; k < sums.pairs; ++k, in += 2 * step, weight += kLimbs) {
    const Bytes a = load<uint8_t, kVectorBytes>(in), b = load<uint8_t, kVectorBytes>(in + step);
    for (int limb = 0; limb < kLimbs; ++limb) totals[limb].add(a, b, weight[limb]);
  }
  for (int i = 0; i < 4; ++i) {
    Vec<int32_t>& total = totals[0].part[i];
    if constexpr (kLimbs == 2) total = (total << ByteSums::kLimbBits) + totals[1].part[i];
    total = (total + (1 << sums.bits >> 1)) >> sums.bits;
  }
  return totals[0].bytes();
}

// The same for n bytes; as many as a vector has may be read beyond them.
template <int kLimbs>
FB_FN void sum_rows(const uint8_t* in, int64_t step, const ByteSums& sums, int64_t o, uint8_t* out,
                    int64_t n) {
  int64_t i = 0;
  for (; i + kVectorBytes <= n; i += kVectorBytes)
    store(out + i, sum_vectors<kLimbs>(in + i, step, sums, o));
  const int64_t rest = n - i;
  if (rest <= 0 || rest >= kVectorBytes) return;  // the second never occurs: a hint for GCC 13
  const Bytes last = sum_vectors<kLimbs>(in + i, step, sums, o);
  __builtin_memcpy(out + i, &last, static_cast<size_t>(rest));
}

template <int kLimbs>
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
    const int64_t cost = (rows_of_row * in_bytes_ * 2 + out_bytes_ * height_.pairs) / 8 + 1;
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
    // Outputs do not begin in order: the first weights of some are 0, and left out.
    const auto firsts =
        std::minmax_element(height_.first.begin() + begin, height_.first.begin() + end);
    const int64_t first = *firsts.first, last = *firsts.second + 2 * height_.pairs;
    const uint8_t* const in =
        in_ + plane / plan_.planes * plan_.image_step + plane % plan_.planes * plan_.plane_step;
    const Scratch narrowed = make_scratch((last - first) * pitch_);
    narrow(in + first * plan_.row_step, std::min(last, height_.in) - first, narrowed.get());
    uint8_t* const out = out_ + plane * height_.out * out_bytes_;
    for (int64_t y = begin; y < end; ++y)
      sum_rows<kLimbs>(narrowed.get() + (height_.first[y] - first) * pitch_, pitch_, height_, y,
                       out + y * out_bytes_, out_bytes_);
  }

  // The sums along `rows` rows.
  void narrow(const uint8_t* in, int64_t rows, uint8_t* out) const {
    if (width_.identity) {
      for (int64_t r = 0; r < rows; ++r)
        __builtin_memcpy(out + r * pitch_, in + r * plan_.row_step, static_cast<size_t>(in_bytes_));
      return;
    }
    const int64_t pixel = plan_.inner * kColumn;
    const Scratch transposed = make_scratch((in_bytes_ + plan_.inner) * kColumn);
    const Scratch sums = make_scratch(rounded_up(out_bytes_, kAlign) * kColumn);
    for (int64_t r = 0; r < rows; r += kColumn) {
      for (int64_t t = 0; t < kColumn && r + t < rows; t += kRows)
        transpose(in + (r + t) * plan_.row_step, rows - r - t, transposed.get() + t);
      for (int64_t x = 0; x < width_.out; ++x)
        sum_rows<kLimbs>(transposed.get() + width_.first[x] * pixel, pixel, width_, x,
                         sums.get() + x * pixel, pixel);
      for (int64_t t = 0; t < kColumn && r + t < rows; t += kRows)
        turn_back(sums.get() + t, rows - r - t, out + (r + t) * pitch_);
    }
  }

  // Up to sixteen rows as columns. If there are fewer, the last one is repeated.
  void transpose(const uint8_t* in, int64_t rows, uint8_t* out) const {
    const uint8_t* row[kRows];
    for (int64_t r = 0; r < kRows; ++r) row[r] = in + std::min(r, rows - 1) * plan_.row_step;
    int64_t i = turn_by<kVectorBytes>(row, 0, out);
    if constexpr (kVectorBytes > kRows) i = turn_by<kRows>(row, i, out);
    for (; i < in_bytes_; ++i)
      for (int r = 0; r < kRows; ++r) out[i * kColumn + r] = row[r][i];
  }

  // From byte i on, as many as vectors of N can take; returns where they ended.
  template <int N>
  int64_t turn_by(const uint8_t* const* row, int64_t i, uint8_t* out) const {
    Vec<uint8_t, N> tiles[kRows];
    for (; i + N <= in_bytes_; i += N) {
      for (int r = 0; r < kRows; ++r) tiles[r] = load<uint8_t, N>(row[r] + i);
      transpose_lanes(tiles);
      for (int r = 0; r < kRows; ++r)
        store_pieces<N>(out + (i + r) * kColumn, kRows * kColumn, tiles[r]);
    }
    return i;
  }

  // Up to sixteen columns as rows again. There are as many columns as vectors have bytes, and rows
  // have room for them.
  void turn_back(const uint8_t* in, int64_t rows, uint8_t* out) const {
    constexpr int N = kVectorBytes;
    Vec<uint8_t, N> tiles[kRows];
    for (int64_t i = 0; i < out_bytes_; i += N) {
      for (int c = 0; c < kRows; ++c)
        tiles[c] = load_pieces<N>(in + (i + c) * kColumn, kRows * kColumn);
      transpose_lanes(tiles);
      for (int64_t r = 0; r < std::min<int64_t>(rows, kRows); ++r)
        store(out + r * pitch_ + i, tiles[r]);
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
  if (plan.width.limbs == 1)
    Resize<1>(plan, in, out).run();
  else
    Resize<2>(plan, in, out).run();
}

}  // namespace fb::cpu::FB_ISA

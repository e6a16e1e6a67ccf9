// Large products of float32 matrices by tiles of our own, where B is stored transposed, as the
// weight of a linear layer is: it is packed once for all rows of A.
//
// Every element of C is summed in the order of the depth, however the work is cut, so that the
// result does not depend on the number of threads.
#include <algorithm>

#include "core/allocator.h"
#include "cpu/gemm_impl.h"
#include "cpu/packed_gemm.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// The depth and rows of a block: A's block and a panel of B's share a second-level cache.
constexpr int64_t kBlockDepth = 384;
constexpr int64_t kBlockRows = 192;
// Columns of a panel: whole vectors of every instruction set.
constexpr int64_t kPanel = 64;
// Elements of B that are packed at a time.
constexpr int64_t kPackedAtOnce = 1 << 20;
// Fewer rows do not repay packing; fewer columns leave vectors empty.
constexpr int64_t kFewRows = 32;
constexpr int64_t kFewColumns = 16;
// Multiplications that are worth a thread.
constexpr int64_t kWorthThread = 64 * 64 * 64;

int64_t parts_of(int64_t extent, int64_t most) { return (extent + most - 1) / most; }

// One product whose B is packed at once.
class Product {
 public:
  explicit Product(const GemmCall& g)
      : g_(g),
        blocks_(parts_of(g.k, kBlockDepth)),
        panels_(parts_of(g.n, kPanel)),
        padded_(parts_of(g.n, kFewColumns) * kFewColumns),
        packed_(allocate_cpu(static_cast<size_t>(g.k * padded_) * sizeof(float))) {}

  void operator()() const {
    const int64_t grain = std::max<int64_t>(kGrain / (g_.k * kPanel / blocks_), 1);
    parallel_for(blocks_ * panels_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pack(i / panels_, i % panels_);
    });
    const int64_t threads = num_threads();
    int64_t strips = parts_of(g_.m, kBlockRows), stretches = 1;
    if (g_.m >= threads * kFewRows)
      strips = parts_of(strips, threads) * threads;  // an even share for each
    else
      stretches = std::min(threads, panels_);
    const int64_t parts = strips * stretches;
    const int64_t work = g_.m * g_.n * g_.k / parts;
    parallel_for(parts, std::max<int64_t>(kWorthThread / work, 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t strip = i / stretches, stretch = i % stretches;
        multiply({g_.m * strip / strips, g_.m * (strip + 1) / strips},
                 {panels_ * stretch / stretches, panels_ * (stretch + 1) / stretches});
      }
    });
  }

 private:
  struct Range {
    int64_t begin, end;
  };

  Range depth_of(int64_t block) const {
    return {g_.k * block / blocks_, g_.k * (block + 1) / blocks_};
  }
  float* panel_at(Range depth, int64_t panel) const {
    return static_cast<float*>(packed_->data) + depth.begin * padded_ +
           panel * kPanel * (depth.end - depth.begin);
  }

  void pack(int64_t block, int64_t panel) const {
    const Range depth = depth_of(block);
    const int64_t column = panel * kPanel, ld = g_.b.ld;
    const auto* const from = static_cast<const float*>(g_.b.data) + column * ld + depth.begin;
    FB_KERNEL(pack_matrix<float>)
    ({depth.end - depth.begin, std::min(kPanel, g_.n - column), from, ld, true},
     panel_at(depth, panel));
  }

  void multiply(Range rows, Range panels) const {
    const int64_t column = panels.begin * kPanel;
    float* const c = static_cast<float*>(g_.c.data) + rows.begin * g_.c.ld + column;
    const auto* const bias = static_cast<const float*>(g_.bias);
    for (int64_t block = 0; block < blocks_; ++block) {
      const Range depth = depth_of(block);
      const auto* const a =
          static_cast<const float*>(g_.a.data) + rows.begin * g_.a.ld + depth.begin;
      FB_KERNEL(packed_product<float>)
      ({rows.end - rows.begin, std::min(panels.end * kPanel, g_.n) - column,
        depth.end - depth.begin, a, g_.a.ld, panel_at(depth, panels.begin), c, g_.c.ld,
        g_.accumulate || block > 0, bias && block == 0 ? bias + column : nullptr});
    }
  }

  const GemmCall g_;
  const int64_t blocks_, panels_;
  const int64_t padded_;  // columns
  const Storage packed_;
};

}  // namespace

bool gemm_packed(const GemmCall& call) {
  // Measured: elsewhere, and in other orders, the tiles do not beat the libraries.
  if (isa() != Isa::kAvx512 || call.batch != 1 || call.a.transposed || !call.b.transposed ||
      call.k == 0 || call.m < kFewRows || call.n < kFewColumns)
    return false;
  const BlockingRegion unlocked(call.m * call.n * call.k > (1 << 18));
  const int64_t columns = std::max<int64_t>(kPackedAtOnce / call.k / kPanel, 1) * kPanel;
  for (int64_t j = 0; j < call.n; j += columns)
    Product(part_of(call, 0, 0, call.m, j, std::min(columns, call.n - j)))();
  return true;
}

}  // namespace fb::cpu

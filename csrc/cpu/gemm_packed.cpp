// Large products of float32 matrices by tiles of our own, where B is stored transposed, as the
// weight of a linear layer is: it is packed once for all rows of A.
//
// Every element of C is summed in the order of the depth, however the work is divided, so that the
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

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// How a product is divided among threads: by columns, where each packs its own; or by rows, where
// each packs all of B, because data that another core has just packed is slow to fetch.
struct Cut {
  int64_t down = 1, across = 1;

  explicit Cut(const GemmCall& g) {
    const int64_t threads = std::clamp<int64_t>(g.m * g.n * g.k / kWorthThread, 1, num_threads());
    const int64_t panels = parts_of(g.n, kPanel);
    const bool is_even = g.n % (threads * kPanel) == 0 || panels >= 8 * threads;
    if (is_even || g.m < threads * kFewRows)
      across = std::min(threads, panels);
    else
      down = threads;
  }
};

// The number of elements of packed columns of B.
int64_t packed_size(const GemmCall& g, int64_t columns) {
  return g.k * parts_of(columns, kFewColumns) * kFewColumns;
}

// Rows of C, and columns for which B is packed at once.
class Part {
 public:
  Part(const GemmCall& g, Range rows, Range columns, float* packed)
      : g_(g),
        rows_(rows),
        columns_(columns),
        blocks_(parts_of(g.k, kBlockDepth)),
        packed_(packed) {}

  void operator()() const {
    for (int64_t block = 0; block < blocks_; ++block) pack(block);
    const int64_t strips = parts_of(rows_.size(), kBlockRows);
    for (int64_t i = 0; i < strips; ++i) {
      const Range strip{rows_.begin + rows_.size() * i / strips,
                        rows_.begin + rows_.size() * (i + 1) / strips};
      for (int64_t block = 0; block < blocks_; ++block) multiply(strip, block);
    }
  }

 private:
  Range depth_of(int64_t block) const {
    return {g_.k * block / blocks_, g_.k * (block + 1) / blocks_};
  }
  float* packed_at(Range depth) const {
    return packed_ + packed_size(g_, columns_.size()) / g_.k * depth.begin;
  }

  void pack(int64_t block) const {
    const Range depth = depth_of(block);
    const auto* const from =
        static_cast<const float*>(g_.b.data) + columns_.begin * g_.b.ld + depth.begin;
    FB_KERNEL(pack_matrix<float>)
    ({depth.size(), columns_.size(), from, g_.b.ld, true}, packed_at(depth));
  }

  void multiply(Range strip, int64_t block) const {
    const Range depth = depth_of(block);
    const auto* const a = static_cast<const float*>(g_.a.data) + strip.begin * g_.a.ld;
    float* const c = static_cast<float*>(g_.c.data) + strip.begin * g_.c.ld + columns_.begin;
    const auto* const bias = static_cast<const float*>(g_.bias);
    FB_KERNEL(packed_product<float>)
    ({strip.size(), columns_.size(), depth.size(), a + depth.begin, g_.a.ld, packed_at(depth), c,
      g_.c.ld, g_.accumulate || block > 0, bias && block == 0 ? bias + columns_.begin : nullptr});
  }

  const GemmCall& g_;
  const Range rows_, columns_;
  const int64_t blocks_;
  float* const packed_;
};

}  // namespace

bool gemm_packed(const GemmCall& call) {
  // Measured: on other machines, and in other orders, the tiles do not beat the libraries.
  if (isa() != Isa::kAvx512 || call.batch != 1 || call.a.transposed || !call.b.transposed ||
      call.k == 0 || call.m < kFewRows || call.n < kFewColumns)
    return false;
  const BlockingRegion unlocked(call.m * call.n * call.k > (1 << 18));
  const Cut cut(call);
  const int64_t most = std::max<int64_t>(kPackedAtOnce / call.k / kPanel, 1) * kPanel;
  const int64_t panels = parts_of(call.n, kPanel);
  const int64_t room = packed_size(call, std::min(most, parts_of(panels, cut.across) * kPanel));
  // Allocated here: each thread caches what it frees, and only the user's thread can be told to
  // empty its cache.
  const Storage packed = allocate_cpu(cut.down * cut.across * room * sizeof(float));
  parallel_for(cut.down * cut.across, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t strip = i / cut.across, stretch = i % cut.across;
      const Range rows{call.m * strip / cut.down, call.m * (strip + 1) / cut.down};
      const Range columns{panels * stretch / cut.across * kPanel,
                          std::min(panels * (stretch + 1) / cut.across * kPanel, call.n)};
      for (int64_t j = columns.begin; j < columns.end; j += most)
        Part(call, rows, {j, std::min(j + most, columns.end)},
             static_cast<float*>(packed->data) + i * room)();
    }
  });
  return true;
}

}  // namespace fb::cpu

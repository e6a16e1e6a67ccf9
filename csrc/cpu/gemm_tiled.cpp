// Large products by tiles of our own: cuts the result into a part per thread and each part into
// blocks that the caches hold.
//
// Every element of C is summed in one order that depends on the shape alone: over blocks of the
// depth, and within a block element by element. So the division among threads, and whether a matrix
// is packed or read in place, change nothing.
#include <algorithm>
#include <atomic>
#include <memory>

#include "core/allocator.h"
#include "cpu/gemm_grid.h"
#include "cpu/gemm_impl.h"
#include "cpu/packed_gemm.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Depth of a block: a panel of B and a tile's rows of A fit a first-level cache together.
constexpr int64_t kBlockDepth = 256;
// B's packed columns take half of a second-level cache of 1 MB, A's packed rows a part of the rest.
constexpr int64_t kBlockRows = 84;
constexpr int64_t kBlockColumns = 512;
// Fewer rows do not repay packing B: it is read in place, or packed by a few columns that the next
// tiles find in the first-level cache.
constexpr int64_t kFewRows = 128;
constexpr int64_t kFewColumns = 64;
// Fewer columns do not repay packing A: measured for one that is stored by rows, and for one that
// is stored by columns, the lines of which may fall into few sets of a cache.
constexpr int64_t kColumnsForRows = 256;
constexpr int64_t kColumnsForColumns = 128;

static_assert(GemmGrid::kColumnUnit % kWholeColumns == 0);

int64_t threads_for(const GemmCall& g) {
  if (detail::in_parallel()) return 1;
  // Multiplications that are worth a thread: about 7 us.
  constexpr int64_t kWorthThread = 1 << 19;
  return std::clamp<int64_t>(g.batch * g.m * g.n * g.k / kWorthThread, 1, num_threads());
}

// Few rows times a matrix stored by rows, of which each thread should find its part in its own
// cache again: columns of a matrix with short rows fall into few sets of it, whole rows do not. Cut
// into the blocks of its depth, a sum is the same as in one piece.
bool pays_by_blocks(const GemmCall& g) {
  constexpr int64_t kRowsOfVector = 8, kShortRow = 2048, kLeast = 1 << 20, kThreads = 4;
  const int64_t blocks = parts_of(g.k, kBlockDepth), threads = threads_for(g);
  // More threads than two for a block were slower so: 50 us on 16 of them, 28 us by columns.
  return g.batch == 1 && g.m <= kRowsOfVector && !g.b.transposed && g.n <= kShortRow &&
         g.n * g.k >= kLeast && blocks >= kThreads && blocks <= 2 * kThreads &&
         threads >= kThreads && threads <= 2 * blocks;
}

// A small C with a deep sum is cut by depth, too; independently of the number of threads, as this
// decides the order of the sum. Cuts between the blocks of the depth do not, and may depend on it.
int64_t stretches_of(const GemmCall& g) {
  constexpr int64_t kEnough = 16, kTile = 64, kLeastDepth = 512;
  const int64_t tiles = g.batch * parts_of(g.m, kTile) * parts_of(g.n, kTile);
  if (tiles >= kEnough || g.k < 2 * kLeastDepth)
    return pays_by_blocks(g) ? parts_of(g.k, kBlockDepth) : 1;
  return std::min(kEnough / tiles, g.k / kLeastDepth);
}

// Every part packs what it multiplies, so that more parts than threads cost more than they gain.
// Many threads are done at different times, though, which shows in long products.
int64_t parts_for(const GemmCall& g) {
  constexpr int64_t kLong = int64_t{1} << 33, kManyThreads = 8, kEach = 4;
  const int64_t threads = threads_for(g);
  const bool is_long = g.batch * g.m * g.n * g.k >= kLong && threads >= kManyThreads;
  return is_long ? threads * kEach : threads;
}

// Rows, columns and depth of one product that a thread computes.
template <class T>
class Part {
 public:
  Part(const GemmCall& g, Range rows, Range columns, Range depth)
      : g_(g), rows_(rows), columns_(columns), depth_(depth) {}

  // Elements that it packs at a time, of A and of B.
  static int64_t packed_a(const GemmCall& g, int64_t rows) {
    return packed_rows_elements(std::min(rows, kFewRows), std::min(g.k, kBlockDepth));
  }
  static int64_t packed_b(const GemmCall& g, int64_t columns) {
    return packed_elements(std::min(g.k, kBlockDepth), std::min(columns, kBlockColumns));
  }

  // start + A B into C, with the start and the C of the call, or of a sum of its own from zero.
  void operator()(T* a, T* b, T* own) const {
    rows_.size() <= kFewRows ? few_rows(a, b, own) : many_rows(a, b, own);
  }

 private:
  static_assert(kBlockRows <= kFewRows && kFewColumns <= kBlockColumns);

  // A and B as they are read: packed if the rows are no distance apart.
  struct Left {
    const T* data;
    int64_t row;
    bool by_columns;
  };
  struct Right {
    const T* data;
    int64_t row;
  };

  void few_rows(T* a, T* b, T* own) const {
    const int64_t whole = g_.b.transposed ? 0 : columns_.size() / kWholeColumns * kWholeColumns;
    const int64_t end_in_place = columns_.begin + whole;
    for (int64_t block = 0; block < blocks(); ++block) {
      const Range depth = depth_of(block);
      const Left left = left_of(rows_, depth, a);
      if (whole > 0) {
        const Range columns{columns_.begin, end_in_place};
        multiply(rows_, columns, depth, left, {right_data(columns, depth), g_.b.ld}, own);
      }
      for (int64_t j = end_in_place; j < columns_.end; j += kFewColumns) {
        const Range columns{j, std::min(j + kFewColumns, columns_.end)};
        multiply(rows_, columns, depth, left, packed_right(columns, depth, b), own);
      }
    }
  }

  void many_rows(T* a, T* b, T* own) const {
    const int64_t strips = parts_of(rows_.size(), kBlockRows);
    for (int64_t j = columns_.begin; j < columns_.end; j += kBlockColumns) {
      const Range columns{j, std::min(j + kBlockColumns, columns_.end)};
      for (int64_t block = 0; block < blocks(); ++block) {
        const Range depth = depth_of(block);
        const Right right = packed_right(columns, depth, b);
        for (int64_t s = 0; s < strips; ++s) {
          const Range strip = part_of_range(rows_.size(), s, strips, GemmGrid::kRowUnit);
          const Range rows{rows_.begin + strip.begin, rows_.begin + strip.end};
          multiply(rows, columns, depth, left_of(rows, depth, a), right, own);
        }
      }
    }
  }

  int64_t blocks() const { return parts_of(depth_.size(), kBlockDepth); }
  Range depth_of(int64_t block) const {
    const Range part = part_of_range(depth_.size(), block, blocks(), 1);
    return {depth_.begin + part.begin, depth_.begin + part.end};
  }

  Left left_of(Range rows, Range depth, T* packed) const {
    const T* const data =
        static_cast<const T*>(g_.a.data) +
        (g_.a.transposed ? depth.begin * g_.a.ld + rows.begin : rows.begin * g_.a.ld + depth.begin);
    const bool can_read = !g_.a.transposed || rows.size() % 2 == 0;
    const int64_t few = g_.a.transposed ? kColumnsForColumns : kColumnsForRows;
    if (can_read && columns_.size() <= few) return {data, g_.a.ld, g_.a.transposed};
    FB_KERNEL(pack_rows<T>)
    ({depth.size(), rows.size(), data, g_.a.ld, !g_.a.transposed}, packed);
    return {packed, 0, false};
  }

  const T* right_data(Range columns, Range depth) const {
    return static_cast<const T*>(g_.b.data) + (g_.b.transposed
                                                   ? columns.begin * g_.b.ld + depth.begin
                                                   : depth.begin * g_.b.ld + columns.begin);
  }
  Right packed_right(Range columns, Range depth, T* packed) const {
    FB_KERNEL(pack_matrix<T>)
    ({depth.size(), columns.size(), right_data(columns, depth), g_.b.ld, g_.b.transposed}, packed);
    return {packed, 0};
  }

  void multiply(Range rows, Range columns, Range depth, const Left& left, const Right& right,
                T* own) const {
    const bool is_first = depth.begin == depth_.begin;
    PackedProduct<T> product{};
    product.m = rows.size();
    product.n = columns.size();
    product.k = depth.size();
    product.a = left.data;
    product.a_row = left.row;
    product.a_by_columns = left.by_columns;
    product.b = right.data;
    product.b_row = right.row;
    product.c_row = own ? g_.n : g_.c.ld;
    product.c =
        (own ? own : static_cast<T*>(g_.c.data)) + rows.begin * product.c_row + columns.begin;
    product.accumulate = !is_first || (!own && g_.accumulate);
    if (g_.bias && is_first && !own) product.bias = static_cast<const T*>(g_.bias) + columns.begin;
    FB_KERNEL(packed_product<T>)(product);
  }

  const GemmCall& g_;
  const Range rows_, columns_, depth_;
};

// All parts of a call. A thread takes its share, which is the same in the next call, so that its
// cache may hold a part of B, and then what the others have left.
template <class T>
class Parts {
 public:
  explicit Parts(const GemmCall& g)
      : g_(g),
        deep_(stretches_of(g)),
        grid_(grid_of(g, parts_for(g), deep_)),
        count_(g.batch * grid_.parts() * deep_),
        threads_(std::min(threads_for(g), count_)),
        room_a_(round_up(Part<T>::packed_a(g, grid_.most_rows(g)))),
        room_b_(round_up(Part<T>::packed_b(g, grid_.most_columns(g)))),
        size_(g.m * g.n),
        // Allocated here: each thread caches what it frees, and only the user's thread can be told
        // to empty its cache.
        packed_(allocate_cpu(threads_ * (room_a_ + room_b_) * sizeof(T))),
        taken_(new std::atomic<bool>[count_]()) {
    if (deep_ > 1) sums_ = allocate_cpu(g.batch * (deep_ - 1) * size_ * sizeof(T));
  }

  void run() {
    parallel_for(threads_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t thread = begin; thread < end; ++thread) {
        T* const a = static_cast<T*>(packed_->data) + thread * (room_a_ + room_b_);
        const int64_t first = count_ * thread / threads_;
        for (int64_t t = 0; t < count_; ++t) {
          const int64_t i = first + t < count_ ? first + t : first + t - count_;
          if (take(i)) run_part(i, a, a + room_a_);
        }
      }
    });
    if (deep_ > 1) add_sums();
  }

 private:
  // Whole cache lines, so that no two threads write to the same one.
  static int64_t round_up(int64_t elements) { return (elements + 63) / 64 * 64; }

  bool take(int64_t i) {
    return !taken_[i].load(std::memory_order_relaxed) &&
           !taken_[i].exchange(true, std::memory_order_relaxed);
  }

  void run_part(int64_t i, T* a, T* b) {
    const int64_t place = i % grid_.parts(), stretch = i / grid_.parts() % deep_;
    const int64_t product = i / (grid_.parts() * deep_);
    const GemmCall one = part_of(g_, product, 0, g_.m, 0, g_.n);
    const Part<T> part(one, grid_.rows(g_, place), grid_.columns(g_, place),
                       part_of_range(g_.k, stretch, deep_, 1));
    part(a, b, stretch > 0 ? sum_of(product, stretch) : nullptr);
  }

  T* sum_of(int64_t product, int64_t stretch) {
    return static_cast<T*>(sums_->data) + (product * (deep_ - 1) + stretch - 1) * size_;
  }

  // The sums over stretches of the depth, in their order.
  void add_sums() {
    parallel_for(g_.batch * g_.m, std::max<int64_t>(kGrain / (g_.n * deep_), 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t row = begin; row < end; ++row) {
                     const GemmCall one = part_of(g_, row / g_.m, row % g_.m, 1, 0, g_.n);
                     T* const c = static_cast<T*>(one.c.data);
                     for (int64_t s = 1; s < deep_; ++s) {
                       const T* const sum = sum_of(row / g_.m, s) + row % g_.m * g_.n;
                       for (int64_t j = 0; j < g_.n; ++j) c[j] += sum[j];
                     }
                   }
                 });
  }

  const GemmCall& g_;
  const int64_t deep_;
  const GemmGrid grid_;
  const int64_t count_, threads_, room_a_, room_b_, size_;
  const Storage packed_;
  const std::unique_ptr<std::atomic<bool>[]> taken_;
  Storage sums_;
};

}  // namespace

template <class T>
void gemm_tiled(const GemmCall& call) {
  const BlockingRegion unlocked(call.batch * call.m * call.n * call.k > (1 << 18));
  Parts<T>(call).run();
}

template void gemm_tiled<float>(const GemmCall& call);

}  // namespace fb::cpu

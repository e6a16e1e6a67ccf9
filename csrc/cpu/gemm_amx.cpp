// Products of bfloat16 matrices by AMX: whether this machine has it, and the parts of a call.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "core/allocator.h"
#include "cpu/amx.h"
#include "cpu/gemm_grid.h"
#include "cpu/gemm_impl.h"
#include "cpu/threads.h"

#if defined(FB_MULTI_ISA) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace fb::cpu {
namespace {

// Whether the processor has tiles and the system lets this process use them: they are so large that
// it saves them only for those who have asked.
bool may_use_tiles() {
#if defined(FB_MULTI_ISA) && defined(__linux__)
  constexpr unsigned kBFloat16 = 1u << 22, kTiles = 1u << 24;  // leaf 7, edx
  constexpr unsigned kSaved = 3u << 17;                        // their configuration and data
  constexpr int kAskForRegisters = 0x1023, kTileData = 18;     // of arch_prctl
  unsigned eax, ebx, ecx, edx, saved, high;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
  if ((edx & (kBFloat16 | kTiles)) != (kBFloat16 | kTiles)) return false;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));  // there is AVX-512
  return (saved & kSaved) == kSaved && syscall(SYS_arch_prctl, kAskForRegisters, kTileData) == 0;
#else
  return false;
#endif
}

Amx find_amx() {
  const char* const wanted = std::getenv("FLAMBEAU_AMX");
  if (wanted && std::string_view(wanted) == "emulated") return Amx::kEmulated;
  if (wanted && std::string_view(wanted) == "off") return Amx::kNone;
  return isa() == Isa::kAvx512 && may_use_tiles() ? Amx::kTiles : Amx::kNone;
}

// Down and across, in squares.
struct Grid {
  int64_t down = 1, across = 1;

  Range rows(const GemmCall& g, int64_t part) const {
    return part_of_range(g.m, part / across, down, kAmxSide);
  }
  Range columns(const GemmCall& g, int64_t part) const {
    return part_of_range(g.n, part % across, across, kAmxSide);
  }
  int64_t most_rows(const GemmCall& g) const {
    return parts_of(parts_of(g.m, kAmxSide), down) * kAmxSide;
  }
  int64_t most_columns(const GemmCall& g) const {
    return parts_of(parts_of(g.n, kAmxSide), across) * kAmxSide;
  }
};

// The grid of at least so many parts, if there are as many squares, whose rounds take least.
Grid grid_for(const GemmCall& g, int64_t wanted) {
  constexpr int64_t kPacking = kAmxSide;  // a row or column takes as long as so many products
  const int64_t most = amx_most(g.k);
  const Grid least{parts_of(g.m, most), parts_of(g.n, most)};
  const int64_t limit = std::max(parts_of(wanted, g.batch), least.down * least.across);
  const auto cost = [&](const Grid& grid) {
    return parts_of(g.batch * grid.down * grid.across, wanted) * (grid.most_rows(g) + kPacking) *
           (grid.most_columns(g) + kPacking);
  };
  Grid best = least;
  for (int64_t down = least.down; down <= std::min(limit, parts_of(g.m, kAmxSide)); ++down) {
    const int64_t most_across = std::min(limit / down, parts_of(g.n, kAmxSide));
    for (int64_t across = least.across; across <= most_across; ++across)
      if (const Grid grid{down, across}; cost(grid) < cost(best)) best = grid;
  }
  return best;
}

// Multiplications that are worth a thread: about 8 us.
constexpr int64_t kWorthThread = 1 << 22;

int64_t threads_for(int64_t work) {
  if (detail::in_parallel()) return 1;
  return std::clamp<int64_t>(work / kWorthThread, 1, num_threads());
}

// Many threads are done at different times: each gets several smaller parts.
int64_t parts_for(int64_t threads) {
  constexpr int64_t kManyThreads = 8, kEach = 4;
  return threads < kManyThreads ? threads : kEach * threads;
}

}  // namespace

Amx amx() {
  static const Amx found = find_amx();
  return found;
}

bool gemm_amx(const GemmCall& g) {
  // A vector would leave most of a tile unused.
  if (amx() == Amx::kNone || g.m == 1 || g.n == 1 || g.k == 0) return false;
  const int64_t work = g.batch * g.m * g.n * g.k;
  const int64_t most_threads = threads_for(work);
  const Grid grid = grid_for(g, parts_for(most_threads));
  const int64_t parts = grid.down * grid.across, count = g.batch * parts;
  const int64_t threads = std::min(most_threads, count);
  const int64_t room = amx_bytes(grid.most_rows(g), grid.most_columns(g), g.k);
  const Storage memory = allocate_cpu(threads * room);
  const BlockingRegion unlocked(work > (1 << 20));
  std::atomic<int64_t> next{0};
  parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t thread = begin; thread < end; ++thread) {
      AmxProduct product{
          {}, static_cast<char*>(memory->data) + thread * room, amx() == Amx::kEmulated};
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        const Range rows = grid.rows(g, i % parts), columns = grid.columns(g, i % parts);
        product.call =
            part_of(g, i / parts, rows.begin, rows.size(), columns.begin, columns.size());
        FB_KERNEL(amx_product)(product);
      }
    }
  });
  return true;
}

}  // namespace fb::cpu

// Lookup tables for bytes.
#include "cpu/pixels.h"

#include <algorithm>

#include "core/error.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// An entry is copied as a number of its size, whatever its type is.
template <class Entry>
void map_entries(const ByteMapPlan& plan, const uint8_t* in, const Entry* table, Entry* out) {
  const int64_t rows = plan.images * plan.channels * plan.height;
  const int64_t grain = std::max<int64_t>(kGrain / plan.width, 1);
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t plane = r / plan.height, channel = plane % plan.channels;
      const uint8_t* const from = in + plane / plan.channels * plan.image_step +
                                  channel * plan.channel_step + r % plan.height * plan.row_step;
      const Entry* const entries = table + channel * plan.table_step;
      Entry* const to = out + r * plan.width;
      for (int64_t i = 0; i < plan.width; ++i) to[i] = entries[from[i * plan.step]];
    }
  });
}

}  // namespace

void map_bytes(const ByteMapPlan& plan, const uint8_t* in, const void* table, void* out) {
  const auto run = [&](auto entry) {
    using Entry = decltype(entry);
    map_entries(plan, in, static_cast<const Entry*>(table), static_cast<Entry*>(out));
  };
  switch (plan.entry_bytes) {
    case 1: return run(uint8_t{});
    case 2: return run(uint16_t{});
    case 4: return run(uint32_t{});
    case 8: return run(uint64_t{});
    default: FB_CHECK(false, "entries of ", plan.entry_bytes, " bytes are not supported");
  }
}

}  // namespace fb::cpu

// Positions of the blocks of sparse tensors.
#include "cpu/sparse.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

namespace fb::cpu {
namespace {

uint64_t bit_of(int64_t position) { return uint64_t{1} << (position % 64); }

int64_t group_by_marks(const int64_t* positions, int64_t n, int64_t limit, int64_t* distinct,
                       int64_t* groups) {
  std::vector<uint64_t> words(static_cast<size_t>(limit) / 64 + 1);
  for (int64_t i = 0; i < n; ++i)
    words[static_cast<size_t>(positions[i]) / 64] |= bit_of(positions[i]);
  std::vector<int64_t> before(words.size());  // marked positions before those of each word
  int64_t count = 0;
  for (size_t w = 0; w < words.size(); ++w) {
    before[w] = count;
    for (uint64_t rest = words[w]; rest; rest &= rest - 1)
      distinct[count++] = static_cast<int64_t>(w) * 64 + std::countr_zero(rest);
  }
  for (int64_t i = 0; i < n; ++i) {
    const size_t w = static_cast<size_t>(positions[i]) / 64;
    groups[i] = before[w] + std::popcount(words[w] & (bit_of(positions[i]) - 1));
  }
  return count;
}

int64_t group_by_sorting(const int64_t* positions, int64_t n, int64_t* distinct, int64_t* groups) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::sort(order, {}, [&](int64_t i) { return positions[i]; });
  int64_t count = 0;
  for (const int64_t i : order) {
    if (count == 0 || distinct[count - 1] != positions[i]) distinct[count++] = positions[i];
    groups[i] = count - 1;
  }
  return count;
}

}  // namespace

void number_positions(const int64_t* coordinates, int64_t n, IntSpan sizes, int64_t* positions) {
  std::fill(positions, positions + n, int64_t{0});
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t* const row = coordinates + static_cast<int64_t>(d) * n;
    for (int64_t i = 0; i < n; ++i) positions[i] = positions[i] * sizes[d] + row[i];
  }
}

void locate_positions(const int64_t* positions, int64_t n, IntSpan sizes, int64_t* coordinates) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = positions[i];
    for (size_t d = sizes.size(); d-- > 0;) {
      coordinates[static_cast<int64_t>(d) * n + i] = rest % sizes[d];
      rest /= sizes[d];
    }
  }
}

int64_t group_positions(const int64_t* positions, int64_t n, int64_t limit, int64_t* distinct,
                        int64_t* groups) {
  // A bit for every position is faster than sorting unless there are many more positions than
  // blocks.
  constexpr int64_t kPositionsPerBlock = 512;
  return limit / kPositionsPerBlock < n ? group_by_marks(positions, n, limit, distinct, groups)
                                        : group_by_sorting(positions, n, distinct, groups);
}

int64_t merge_positions(const int64_t* a, int64_t a_count, const int64_t* b, int64_t b_count,
                        bool by_position, int64_t* of_a, int64_t* of_b) {
  int64_t count = 0;
  for (int64_t i = 0, j = 0; i < a_count || j < b_count; ++count) {
    const bool takes_a = i < a_count && (j == b_count || !by_position || a[i] <= b[j]);
    const bool takes_b = j < b_count && (i == a_count || (by_position && b[j] <= a[i]));
    if (takes_a) of_a[i++] = count;
    if (takes_b) of_b[j++] = count;
  }
  return count;
}

int64_t match_positions(const int64_t* positions, int64_t n, const int64_t* list, int64_t count,
                        int64_t* of_positions, int64_t* of_list) {
  int64_t matches = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t* const match = std::lower_bound(list, list + count, positions[i]);
    if (match == list + count || *match != positions[i]) continue;
    of_positions[matches] = i;
    of_list[matches++] = match - list;
  }
  return matches;
}

}  // namespace fb::cpu

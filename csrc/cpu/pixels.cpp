// The integer weights of Note [Sums of bytes].
#include "cpu/pixels.h"

#include <algorithm>

namespace fb::cpu {
namespace {

// With one more bit the largest weight would not fit into 16.
int bits_in_16(const AxisMap& map) {
  const double largest = *std::max_element(map.weight.begin(), map.weight.end());
  int bits = 0;
  while (bits < kPillowBits && static_cast<int64_t>(0.5 + largest * (2 << bits)) < (1 << 15))
    ++bits;
  return bits;
}

}  // namespace

ByteSums in_integers(const AxisMap& map, int bits) {
  ByteSums sums;
  sums.in = map.in;
  sums.out = map.out;
  sums.terms = map.terms;
  sums.bits = bits > 0 ? bits : bits_in_16(map);
  sums.identity = map.identity;
  sums.count = map.count;
  sums.first.assign(map.index.begin(), map.index.begin() + map.out);
  sums.weight.assign(static_cast<size_t>(map.terms * map.out), 0);
  const double one = 1 << sums.bits;
  for (int64_t o = 0; o < map.out; ++o)
    for (int64_t k = 0; k < map.count[o]; ++k) {
      const double weight = map.weight[k * map.out + o] * one;
      sums.weight[o * map.terms + k] = static_cast<int32_t>(weight + (weight < 0 ? -0.5 : 0.5));
    }
  return sums;
}

}  // namespace fb::cpu

// The integer weights of Note [Sums of bytes].
#include "kernel/pixels.h"

#include <algorithm>

namespace fb::kernel {
namespace {

// With one more bit the largest weight would not fit into 16.
int bits_in_16(const AxisMap& map) {
  const double largest = *std::max_element(map.weight.begin(), map.weight.end());
  int bits = 0;
  while (bits < kPillowBits && static_cast<int64_t>(0.5 + largest * (2 << bits)) < (1 << 15))
    ++bits;
  return bits;
}

// The weights of a map as integers.
class Rounded {
 public:
  Rounded(const AxisMap& map, int bits)
      : begin(static_cast<size_t>(map.out), 0),
        end(map.count),
        out_(map.out),
        weight_(map.weight.size()) {
    const double one = 1 << bits;
    for (size_t i = 0; i < weight_.size(); ++i) {
      const double weight = map.weight[i] * one;
      weight_[i] = static_cast<int32_t>(weight + (weight < 0 ? -0.5 : 0.5));
    }
    for (int64_t o = 0; o < out_; ++o) {
      while (begin[o] < end[o] && at(o, begin[o]) == 0) ++begin[o];
      while (begin[o] < end[o] && at(o, end[o] - 1) == 0) --end[o];
      terms = std::max<int64_t>(terms, end[o] - begin[o]);
    }
  }
  int32_t at(int64_t o, int64_t k) const { return weight_[k * out_ + o]; }

  int64_t terms = 1;                // the most that an output has
  std::vector<int32_t> begin, end;  // of its terms: filters end in weights of 0

 private:
  int64_t out_;
  std::vector<int32_t> weight_;
};

// Term k of an output: see ByteSums.
void put_weight(int32_t* pairs, int limbs, int64_t k, int32_t weight) {
  constexpr int kBits = ByteSums::kLimbBits;
  int32_t* const pair = pairs + k / 2 * limbs;
  const auto put = [&](int limb, int32_t value) {
    pair[limb] |= static_cast<int32_t>(static_cast<uint32_t>(value & 0xffff) << k % 2 * 16);
  };
  if (limbs == 1) return put(0, weight);
  const int32_t high = (weight + (1 << (kBits - 1))) >> kBits;
  put(0, high);
  put(1, weight - high * (1 << kBits));
}

}  // namespace

ByteSums in_integers(const AxisMap& map, int bits) {
  ByteSums sums;
  sums.in = map.in;
  sums.out = map.out;
  sums.bits = bits > 0 ? bits : bits_in_16(map);
  sums.limbs = bits > 0 ? 2 : 1;
  const Rounded rounded(map, sums.bits);
  sums.pairs = (rounded.terms + 1) / 2;
  sums.first.resize(static_cast<size_t>(map.out));
  sums.weight.assign(static_cast<size_t>(map.out * sums.pairs * sums.limbs), 0);
  sums.identity = map.in == map.out && rounded.terms == 1;
  for (int64_t o = 0; o < map.out; ++o) {
    const int64_t begin = rounded.begin[o], end = rounded.end[o];
    const bool is_nothing = begin == end;  // of so many inputs that all weights round to 0
    const int64_t index = map.index[(is_nothing ? 0 : begin) * map.out + o];
    const int64_t first = std::min(index, map.in - rounded.terms);
    sums.first[o] = static_cast<int32_t>(first);
    int32_t* const weight = sums.weight.data() + o * sums.pairs * sums.limbs;
    for (int64_t k = begin; k < end; ++k)
      put_weight(weight, sums.limbs, index - first + k - begin, rounded.at(o, k));
    sums.identity &= !is_nothing && index == o && rounded.at(o, begin) == 1 << sums.bits;
  }
  return sums;
}

}  // namespace fb::kernel

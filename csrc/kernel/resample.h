// Weighted sums along the dimensions of images.
//
// Note [Separable maps]: averages over windows, interpolation, reflected borders, and the gradients
// of all of them have the same form. Along each dimension an output is a weighted sum of a few
// inputs, and an image is mapped one dimension after the other. A map is a sparse matrix; the
// gradient is the map with the transposed matrices. So there is one kernel, and operators differ
// only in the matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// A sparse matrix of `out` rows and `in` columns. Row o has count[o] terms, of which term k is
// weight[k * out + o] times the input at index[k * out + o].
struct AxisMap {
  int64_t in = 1, out = 1;
  int64_t terms = 1;      // the most that a row has
  int64_t least = 1;      // the fewest
  bool identity = false;  // every output is the input at its own position
  std::vector<int32_t> index, count;
  std::vector<double> weight;
};

// Collects the rows of a map, in their order.
class AxisMapMaker {
 public:
  explicit AxisMapMaker(int64_t in) : in_(in) {}
  // Reserves memory for `rows` rows of `terms` terms.
  void reserve(int64_t rows, int64_t terms) {
    starts_.reserve(static_cast<size_t>(rows));
    terms_.reserve(static_cast<size_t>(rows * terms));
  }
  void begin_row() { starts_.push_back(terms_.size()); }
  // Adjacent terms with the same index become one.
  void add(int64_t index, double weight);
  AxisMap finish() const;

 private:
  struct Term {
    int32_t index;
    double weight;
  };
  const int64_t in_;
  std::vector<size_t> starts_;
  std::vector<Term> terms_;
};

AxisMap identity_map(int64_t size);
AxisMap transposed(const AxisMap& map);

// Contiguous arrays (planes, depth, height, width, inner), as in PoolPlan. The maps are in the
// host's memory.
struct ResamplePlan {
  int64_t planes = 0, inner = 1;
  AxisMap axis[3];
};

struct Resample {
  // Real floating types; uint8 is computed in float and rounded.
  Slot<void(DType dtype, const ResamplePlan& plan, const void* in, void* out)> resample;
};

}  // namespace fb::kernel

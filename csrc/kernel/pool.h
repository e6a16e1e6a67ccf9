// Max pooling: windows along up to three dimensions, and the gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "core/dtype.h"
#include "kernel/slot.h"

namespace fb::kernel {

// The windows along one dimension. Window o has the positions origin[o] + k * dilation with k in
// [first[o], last[o]), which lie within the input.
struct PoolAxis {
  int64_t in = 1, out = 1;
  int64_t kernel = 1;  // the most positions that a window has
  int64_t stride = 1;  // between origins; 0 where it varies
  int64_t dilation = 1;
  int64_t padding = 0;   // before the first origin, where they have a stride
  bool is_even = false;  // windows divide the input evenly
  std::vector<int32_t> origin{0}, first{0}, last{1};

  void push(int64_t start, int64_t k_first, int64_t k_last);
  // Outputs [begin, end) whose windows are whole.
  void whole(int64_t& begin, int64_t& end) const;
};

// The windows that contain input position i: outputs, and its number in each of them, in [begin[i],
// begin[i + 1]).
struct PoolCover {
  std::vector<int32_t> begin, output, number;
};
PoolCover cover_of(const PoolAxis& axis);

// How many windows there are. In ceil mode the last may reach beyond the padded end, but must start
// before it.
int64_t pooled_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool ceil_mode);
PoolAxis sliding_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
                      int64_t dilation);
// Windows that divide the input evenly among the outputs.
PoolAxis adaptive_axis(int64_t in, int64_t out);
// Windows of one size that start at the given positions.
PoolAxis axis_at(int64_t in, int64_t kernel, const std::vector<int64_t>& starts);

// Contiguous arrays (planes, depth, height, width, inner). For channels_last images planes are
// images and `inner` the channels; for others every channel is a plane, and `inner` is 1. The lists
// of a plan are in the host's memory.
struct PoolPlan {
  int64_t planes = 0, inner = 1;
  PoolAxis axis[3];
  // How far position number k of a window is from its origin, in pixels.
  std::vector<int64_t> offsets;
  PoolCover cover[3];  // for max_pool_scatter with channels inside

  int64_t in_size() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t out_size() const { return axis[0].out * axis[1].out * axis[2].out; }
  int64_t volume() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
  void set_offsets();
};

// The largest windows whose positions fit into uint8.
inline constexpr int64_t kCompactVolume = 256;

// Windows at random positions, which differ between the contiguous planes (depth, height, width).
// If there are fewer dimensions, the first ones are 1.
struct FractionalPlan {
  int64_t planes = 0, rank = 2;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};

  // The sample of a plane that belongs to an axis: for images the width's comes first.
  int64_t sample_of(int64_t axis) const { return rank == 2 ? 2 - axis : axis - (3 - rank); }
};

struct Pool {
  // The largest element of each window, the first of equals, the last NaN if there is any. Its
  // place goes to `numbers`, as its number in the window, or to `indices`, as its position in the
  // plane; either may be null.
  Slot<void(DType dtype, const PoolPlan& plan, const void* in, void* out, uint8_t* numbers,
            int64_t* indices)>
      max_pool;
  // The gradient of the input: adds each element of `gradient` at the position of its window's
  // largest element, given by `numbers` or `indices`.
  Slot<void(DType dtype, const PoolPlan& plan, const void* gradient, const uint8_t* numbers,
            const int64_t* indices, void* out)>
      max_pool_scatter;
  // The adjoint: picks from each plane of `in` the elements at those positions.
  Slot<void(DType dtype, const PoolPlan& plan, const void* in, const uint8_t* numbers,
            const int64_t* indices, void* out)>
      max_pool_pick;
  // Stores elements at `indices`; the last of several stays. The rest of `out` is unchanged.
  Slot<void(DType dtype, const PoolPlan& plan, const void* in, const int64_t* indices, void* out)>
      max_unpool;
  // The largest elements of windows that start at steps of room / (out - 1), rounded down, from a
  // random phase on; the last one ends with the input. `samples` are the phases in [0, 1), (planes,
  // rank), of the type that positions are computed in, as PyTorch does: double for float64, else
  // float. Refuses a phase out of range; a GPU, which cannot, moves it to the nearer end.
  Slot<void(DType dtype, const FractionalPlan& plan, const void* samples, const void* in, void* out,
            int64_t* indices)>
      fractional_max_pool;
};

}  // namespace fb::kernel

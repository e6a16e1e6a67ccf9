// Images, signals and volumes as kernels see them: a batch or a single one, channels first or last
// in memory.
#pragma once

#include "core/layout.h"

namespace fb::ops {

// Whether the strides of (N, C, ...) are channels last and not contiguous at the same time.
bool has_channels_last(IntSpan sizes, IntSpan strides);

// The image with the channels of a pixel adjacent in memory: itself if they are.
Tensor with_channels_last(const Tensor& image);

// A new image computed from `like`. Users' channels_last images stay channels last; signals (3-d)
// do not, as they only look like it after a transposition.
Tensor make_image_of(const Tensor& like, IntSpan sizes);

// An (N, C, ...) or (C, ...) tensor with `rank` dimensions after the channels, in one of the two
// orders that kernels take.
struct Image {
  Image(const Tensor& input, int64_t rank);
  // In an order that the caller has chosen.
  Image(const Tensor& input, int64_t rank, bool channels_last);

  Tensor elements;  // of `input`; a copy if its memory order is neither
  int64_t rank;
  bool channels_last;

  // Sizes after the channels.
  IntSpan space() const { return elements.sizes().last(static_cast<size_t>(rank)); }
  // See PoolPlan: how many planes there are and how many elements a pixel has.
  int64_t planes() const;
  int64_t inner() const;
  // The sizes of a result with other sizes after the channels.
  Dims sizes_with(IntSpan space) const;
  // A new tensor in the same order, which is deferred if that of the elements is (Note [Deferred
  // layouts] in core/layout.h).
  Tensor make(IntSpan space, DType dtype) const;
  Tensor make(IntSpan space) const { return make(space, elements.dtype()); }
};

// Refuses a tensor that is neither a batch nor a single image, or that has empty dimensions other
// than the batch and, if allowed, the channels.
void check_image(const Tensor& input, int64_t rank, bool channels_may_be_empty = false);

// Refuses sizes and steps beyond int32: kernels count in int32, and sums and products of two such
// numbers fit into int64.
void check_countable(IntSpan values, const char* name);

// Fails early if there is no memory for a result: a plan is as long as the result's sides.
void check_memory(IntSpan sizes, DType dtype, Device device);

// One number for each of `rank` dimensions, from one for all or one for each.
Dims for_each_dim(IntSpan values, int64_t rank, const char* name);

}  // namespace fb::ops

// Images, signals and volumes as kernels see them: a batch or a single one, channels first or last
// in memory.
#pragma once

#include "core/layout.h"

namespace fb::ops {

// Whether the strides of (N, C, ...) have the channels last, and are not contiguous as well.
bool has_channels_last(IntSpan sizes, IntSpan strides);

// The image with the channels of a pixel as neighbours: itself where they are already.
Tensor with_channels_last(const Tensor& image);

// New elements for an image made of `like`. Users may have images with the channels last, and keep
// them so, but no signals: those are transposed by chance.
Tensor make_image_of(const Tensor& like, IntSpan sizes);

// An (N, C, ...) or (C, ...) tensor with `rank` dimensions after the channels, in one of the two
// orders that kernels take.
struct Image {
  Image(const Tensor& input, int64_t rank);
  // In an order that somebody else has chosen.
  Image(const Tensor& input, int64_t rank, bool channels_last);

  Tensor elements;  // of `input`; a copy where its order in memory was neither
  int64_t rank;
  bool channels_last;

  // Sizes after the channels.
  IntSpan space() const { return elements.sizes().last(static_cast<size_t>(rank)); }
  // See PoolPlan: how many planes there are and how many elements a pixel has.
  int64_t planes() const;
  int64_t inner() const;
  // The sizes of a result with other sizes after the channels.
  Dims sizes_with(IntSpan space) const;
  // New elements in the same order, which is ours to choose if that of the elements is (Note
  // [Deferred layouts] in core/layout.h).
  Tensor make(IntSpan space, DType dtype) const;
  Tensor make(IntSpan space) const { return make(space, elements.dtype()); }
};

// Refuses a tensor that is neither a batch nor a single image, or has empty dimensions other than
// the batch and, where they may be, the channels.
void check_image(const Tensor& input, int64_t rank, bool channels_may_be_empty = false);

// Refuses sizes and steps beyond int32: kernels count in it, and no sum or product of two of them
// leaves int64.
void check_countable(IntSpan values, const char* name);

// Fails where there is no memory for a result, before a plan as long as its sides is made.
void check_memory(IntSpan sizes, DType dtype, Device device);

// One number for each of `rank` dimensions, of one for all or one each.
Dims for_each_dim(IntSpan values, int64_t rank, const char* name);

}  // namespace fb::ops

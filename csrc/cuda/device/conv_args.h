// What the kernels of convolutions are given.
#pragma once

namespace fb::device {

// Along one dimension: tap k of the window at position p of the image that is written lies at
// (p * step + start + k * tap_step) / divisor of the one that is read, if that is a whole number
// and inside. So the gradient of an image is written as the forward pass is.
struct ConvSide {
  int from, to, taps;
  int step, start, tap_step, divisor;
  int to_all, to_first, to_step;  // of all positions, those that are written
};

// Elements between neighbours in an image.
struct ConvSteps {
  long long sample, pixel, channel;
};

// A window's elements are numbered tap by tap, with the channels of a group inside: the depth.
// Multiples of a tile are what weights are padded to.
struct ConvArguments {
  ConvSide side[3];
  ConvSteps from_step, to_step;
  long long rows;                          // pixels of all images that are written
  long long to_pixels;                     // of one image
  long long groups, from_group, to_group;  // channels of a group
  long long depth, padded_depth, padded_columns;
  // Elements of the weight between groups, channels that are written, channels that are read, taps.
  long long first_tap, group_step, written_step, read_step, tap_step[3];
  long long parts, part;  // how often a sum is cut, and what is summed in a part
  bool planes;            // channels are planes in memory
  bool all;               // every pixel is written
  const void* from;
  const void* to_read;  // by the gradient of the weight
  const void* weight;
  const void* bias;
  void* to;
  void* partial;
};

// Packs are neighbouring channels of a pixel.
struct PixelBias {
  void* to;
  const void* bias;
  long long packs, packs_of_pixel;
};

}  // namespace fb::device

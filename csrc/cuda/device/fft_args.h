// What the kernels of csrc/cuda/fft.cpp are given.
#pragma once

namespace fb::device {

inline constexpr int kFftDims = 16;
inline constexpr int kFftPasses = 24;
// Bytes of shared memory for the points of a block, of which there are two copies.
inline constexpr int kFftBytes = 16384;
inline constexpr int kFftRows = 128;  // the most rows of a block
inline constexpr int kFftLargestRadix = 13;

// What points are read as, and written.
enum class FftForm : int {
  kComplex,
  kReal,  // written: the real part alone
  kHalf,  // the first half of a spectrum, whose other half is its mirror image
};

// Strides are in elements. Rows are counted over all dimensions, the last one fastest.
struct FftSide {
  FftForm form;
  bool conjugate;
  void* data;
  long long stride;  // of the points
  long long unit;    // the same in the whole transform, of which these may be every n-th
  long long strides[kFftDims];
};

// A row of the whole transform has `size` points, of which number p of a row here is point
// p * step + the sum of the row's coordinates times `index`. Halves of spectra need this number.
struct FftArguments {
  FftSide in, out;
  long long size, step;
  long long rows;
  int dims;
  long long sizes[kFftDims], index[kFftDims];

  // Of the rows that are transformed here.
  int points, rows_of_block;
  int passes;
  int radices[kFftPasses];
  const void* roots;  // exp(-2 pi i k / points)

  // If `coarse` is not null, point p is multiplied by exp(-2 pi i p c / (points * the last size)),
  // where c is the last coordinate: fine[m % count] times coarse[m / count] for m = p c.
  const void* fine;
  const void* coarse;
  int fine_bits;  // the count is a power of two

  double scale;
};

// The roots exp(-pi i k step / half) for k < count, or exp(-pi i k^2 / half).
struct RootArguments {
  void* out;
  long long count, step, half;
  bool squares;
};

// Rows of `points` numbers, which a transform of any length goes through (Bluestein).
struct ChirpArguments {
  FftSide side;       // the user's
  void* padded;       // (rows, points), contiguous
  const void* chirp;  // exp(-pi i k^2 / size)
  long long size, points, rows;
  int dims;
  long long sizes[kFftDims];
  double scale;
};

struct SpectrumArguments {
  void* rows;
  const void* spectrum;  // (points)
  long long elements, points;
};

}  // namespace fb::device

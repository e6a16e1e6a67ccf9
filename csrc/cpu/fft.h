// Fourier transforms: the tables that belong to a length, which all instruction-set levels share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cpu/isa.h"
#include "kernel/fft.h"

namespace fb::cpu {

FB_DECLARE_LEVELS(kernel::Fft, fft)

// The largest prime factor that a pass transforms by the definition. Lengths with a larger one go
// through a convolution.
inline constexpr int kLargestRadix = 61;
// Tables are laid out for the widest vectors of all levels.
template <class T>
inline constexpr int64_t kFftLanes = 64 / static_cast<int64_t>(sizeof(T));

// One of the passes that a length is factored into. It splits what is left of the length into
// `radix` parts of `rest` points; `done` is the product of the radices before it.
struct FftPass {
  int radix;
  int64_t rest, done;
  int64_t twiddles;  // where in the table: (radix - 1) complex numbers for each point of `rest`
  int64_t roots;     // where in the table: all `radix` roots of unity, of odd radices
};

// A length without large prime factors.
template <class T>
struct FftPasses {
  int64_t size = 1;
  std::vector<FftPass> passes;
  std::vector<T> table;
};

// A row whose points are a matrix of (first, second) sizes: columns are transformed, multiplied by
// roots of unity, then rows. w^(j k) of row j is fine[j] or, of long rows, which have coarse ones,
// fine[j % kFftFineRows] times coarse[j / kFftFineRows]; each has `pitch` real parts, then as many
// imaginary ones.
inline constexpr int64_t kFftFineRows = 32;
template <class T>
struct FftSteps {
  FftPasses<T> first, second;
  int64_t pitch = 0;
  std::vector<T> fine, coarse;

  int64_t size() const { return first.size * second.size; }
};

// A length with a large prime factor, as a convolution of `padded.size()` points (Bluestein).
template <class T>
struct FftConvolution {
  int64_t size = 0;
  std::shared_ptr<const FftSteps<T>> padded;
  std::vector<T> chirp;     // exp(-i pi k^2 / size), real and imaginary parts in turn
  std::vector<T> spectrum;  // of the conjugate chirp, over the number of points
};

// Whether all prime factors of `size` are small enough for passes.
bool fft_has_passes(int64_t size);
// Whether `size` makes a matrix of which both sides fill most of the vectors.
template <class T>
bool fft_suits_steps(int64_t size);

template <class T>
std::shared_ptr<const FftPasses<T>> fft_passes(int64_t size);
template <class T>
std::shared_ptr<const FftSteps<T>> fft_steps(int64_t size);
// `transform` turns the padded chirp into its spectrum, in place.
template <class T>
std::shared_ptr<const FftConvolution<T>> fft_convolution(
    int64_t size, const std::function<void(const FftSteps<T>& padded, T* numbers)>& transform);
// exp(-2 pi i k / size) for k up to size / 4: what joins the halves of a real transform.
template <class T>
std::shared_ptr<const std::vector<T>> fft_real_roots(int64_t size);

}  // namespace fb::cpu

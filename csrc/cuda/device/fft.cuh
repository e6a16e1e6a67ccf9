// Fourier transforms of rows that fit into shared memory, in passes (Stockham); and what joins
// them to longer ones.
//
// All transforms are forward here. A backward one conjugates what it reads and what it writes.
#pragma once

#include "cuda/device/base.cuh"
#include "cuda/device/fft_args.h"
#include "scalar/math.h"

namespace fb::device {

template <class T>
__device__ inline Complex<T> conjugate_if(bool condition, Complex<T> z) {
  return {z.re, condition ? -z.im : z.im};
}

// --- points of tensors

// Where rows lie, found once for all points of a row.
template <class Args>
__device__ inline long long row_offset(const Args& args, const long long* steps, long long row) {
  long long offset = 0;
  for (int d = args.dims - 1; d >= 0; --d) {
    const long long next = row / args.sizes[d];
    offset += (row - next * args.sizes[d]) * steps[d];
    row = next;
  }
  return offset;
}

// Point `number` of `size`, where `offset` is what its strides give.
template <class T>
__device__ inline Complex<T> read_point(const FftSide& in, long long offset, long long number,
                                        long long size) {
  if (in.form == FftForm::kReal) return {static_cast<const T*>(in.data)[offset], T(0)};
  const bool mirrored = in.form == FftForm::kHalf && number > size / 2;
  if (mirrored) offset += (size - 2 * number) * in.unit;
  const Complex<T> z = static_cast<const Complex<T>*>(in.data)[offset];
  return conjugate_if(in.conjugate != mirrored, z);
}

template <class T>
__device__ inline void write_point(const FftSide& out, long long offset, long long number,
                                   long long size, Complex<T> z) {
  if (out.form == FftForm::kReal)
    static_cast<T*>(out.data)[offset] = z.re;
  else if (out.form == FftForm::kComplex || number <= size / 2)
    static_cast<Complex<T>*>(out.data)[offset] = conjugate_if(out.conjugate, z);
}

// --- small transforms in registers

template <class T>
__device__ inline Complex<T> turned(Complex<T> z) {  // times -i
  return {z.im, -z.re};
}

template <class T>
__device__ inline void transform(Complex<T> (&x)[2], const Complex<T>*, int) {
  const Complex<T> a = x[0];
  x[0] = a + x[1];
  x[1] = a - x[1];
}

template <class T>
__device__ inline void transform(Complex<T> (&x)[4], const Complex<T>*, int) {
  const Complex<T> a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = turned(x[1] - x[3]);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
}

template <class T>
__device__ inline void transform(Complex<T> (&x)[8], const Complex<T>* roots, int step) {
  constexpr T kHalfRoot = static_cast<T>(0.70710678118654752440);
  Complex<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
  transform(even, roots, step);
  transform(odd, roots, step);
  odd[1] = {(odd[1].re + odd[1].im) * kHalfRoot, (odd[1].im - odd[1].re) * kHalfRoot};
  odd[2] = turned(odd[2]);
  odd[3] = {(odd[3].im - odd[3].re) * kHalfRoot, -(odd[3].re + odd[3].im) * kHalfRoot};
  for (int k = 0; k < 4; ++k) {
    x[k] = even[k] + odd[k];
    x[k + 4] = even[k] - odd[k];
  }
}

// Odd lengths by the definition, of sums and differences of pairs. `roots` has one of the length
// every `step` elements.
template <class T, int radix>
__device__ inline void transform(Complex<T> (&x)[radix], const Complex<T>* roots, int step) {
  constexpr int kPairs = radix / 2;
  Complex<T> sums[kPairs], differences[kPairs], w[kPairs];
#pragma unroll
  for (int j = 0; j < kPairs; ++j) {
    sums[j] = x[j + 1] + x[radix - 1 - j];
    differences[j] = x[j + 1] - x[radix - 1 - j];
    w[j] = roots[(j + 1) * step];
  }
  const Complex<T> first = x[0];
#pragma unroll
  for (int j = 0; j < kPairs; ++j) x[0] = x[0] + sums[j];
#pragma unroll
  for (int k = 1; k <= kPairs; ++k) {
    Complex<T> even = first, odd = {T(0), T(0)};
#pragma unroll
    for (int j = 1; j <= kPairs; ++j) {
      const int turn = j * k % radix;
      const bool behind = turn > kPairs;
      const Complex<T> root = w[(behind ? radix - turn : turn) - 1];
      const T sine = behind ? -root.im : root.im;
      even = even + Complex<T>{sums[j - 1].re * root.re, sums[j - 1].im * root.re};
      odd = odd + Complex<T>{-differences[j - 1].im * sine, differences[j - 1].re * sine};
    }
    x[k] = even + odd;
    x[radix - k] = even - odd;
  }
}

// One pass over all rows of a block, behind which `done * radix` neighbours are transformed.
template <class T, int radix>
__device__ inline void pass(const FftArguments& args, int count, int done, const Complex<T>* in,
                            Complex<T>* out) {
  const auto* roots = static_cast<const Complex<T>*>(args.roots);
  const int each = args.points / radix;  // butterflies of a row
  const int step = each / done;          // between the roots of this pass
  for (int i = static_cast<int>(threadIdx.x); i < count * each; i += kThreads) {
    const int row = i / each, at = i - row * each;
    const int group = at / done, place = at - group * done;
    Complex<T> x[radix];
    const Complex<T>* from = in + row * args.points + at;
#pragma unroll
    for (int q = 0; q < radix; ++q) x[q] = from[q * each];
    if (done > 1) {
#pragma unroll
      for (int q = 1; q < radix; ++q) x[q] = x[q] * roots[place * q * step];
    }
    transform(x, roots, each);
    Complex<T>* to = out + row * args.points + group * done * radix + place;
#pragma unroll
    for (int q = 0; q < radix; ++q) to[q * done] = x[q];
  }
}

template <class T>
__device__ inline void run_pass(const FftArguments& args, int radix, int count, int done,
                                const Complex<T>* in, Complex<T>* out) {
  switch (radix) {
    case 2: return pass<T, 2>(args, count, done, in, out);
    case 3: return pass<T, 3>(args, count, done, in, out);
    case 4: return pass<T, 4>(args, count, done, in, out);
    case 5: return pass<T, 5>(args, count, done, in, out);
    case 7: return pass<T, 7>(args, count, done, in, out);
    case 8: return pass<T, 8>(args, count, done, in, out);
    case 11: return pass<T, 11>(args, count, done, in, out);
    case 13: return pass<T, 13>(args, count, done, in, out);
  }
}

// A block's points in the order of memory: neighbouring threads have neighbouring points, or points
// of neighbouring rows where these lie closer.
struct PointOrder {
  bool by_rows;
  int rows, points;

  __device__ PointOrder(const FftArguments& args, const FftSide& side, int count)
      : rows(count), points(args.points) {
    const long long across = args.dims ? side.strides[args.dims - 1] : 0;
    by_rows = count > 1 && across != 0 &&
              (across < 0 ? -across : across) < (side.stride < 0 ? -side.stride : side.stride);
  }
  __device__ void find(int i, int& row, int& point) const {
    const int slow = i / (by_rows ? rows : points), fast = i - slow * (by_rows ? rows : points);
    row = by_rows ? fast : slow;
    point = by_rows ? slow : fast;
  }
};

template <class T>
__device__ inline void transform_rows(const FftArguments& args) {
  constexpr int kPoints = kFftBytes / static_cast<int>(sizeof(Complex<T>));
  __shared__ Complex<T> room[2][kPoints];
  __shared__ long long in_offset[kFftRows], out_offset[kFftRows], index[kFftRows];
  __shared__ long long last[kFftRows];  // the last coordinate of each row
  const long long first = static_cast<long long>(blockIdx.x) * args.rows_of_block;
  const int count = static_cast<int>(args.rows - first < args.rows_of_block ? args.rows - first
                                                                            : args.rows_of_block);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < count) {
    in_offset[thread] = row_offset(args, args.in.strides, first + thread);
    out_offset[thread] = row_offset(args, args.out.strides, first + thread);
    index[thread] = row_offset(args, args.index, first + thread);
    last[thread] = args.dims ? (first + thread) % args.sizes[args.dims - 1] : 0;
  }
  __syncthreads();
  const PointOrder reading(args, args.in, count);
  for (int i = thread; i < count * args.points; i += kThreads) {
    int row, p;
    reading.find(i, row, p);
    room[0][row * args.points + p] = read_point<T>(args.in, in_offset[row] + p * args.in.stride,
                                                   index[row] + p * args.step, args.size);
  }
  int done = 1;
  for (int n = 0; n < args.passes; ++n) {
    __syncthreads();
    run_pass<T>(args, args.radices[n], count, done, room[n % 2], room[(n + 1) % 2]);
    done *= args.radices[n];
  }
  __syncthreads();
  const Complex<T>* result = room[args.passes % 2];
  const T scale = static_cast<T>(args.scale);
  const auto* fine = static_cast<const Complex<T>*>(args.fine);
  const auto* coarse = static_cast<const Complex<T>*>(args.coarse);
  const PointOrder writing(args, args.out, count);
  for (int i = thread; i < count * args.points; i += kThreads) {
    int row, p;
    writing.find(i, row, p);
    Complex<T> z = result[row * args.points + p];
    if (coarse) {
      const long long turn = last[row] * p;
      z = z * (fine[turn & ((1ll << args.fine_bits) - 1)] * coarse[turn >> args.fine_bits]);
    }
    z = {z.re * scale, z.im * scale};
    write_point(args.out, out_offset[row] + p * args.out.stride, index[row] + p * args.step,
                args.size, z);
  }
}

// --- roots of unity, in double whatever they are stored as

// exp(-pi i k / half) for 0 <= k < 2 half, from an angle of at most an eighth of the circle, where
// sine and cosine have all their digits.
__device__ inline Complex<double> half_turn(unsigned long long k, unsigned long long half) {
  const auto quarter = static_cast<int>((4 * k + half) / (2 * half));  // the nearest one
  const auto apart = static_cast<double>(static_cast<long long>(2 * k - quarter * half));
  const double angle = apart / static_cast<double>(2 * half) * 3.14159265358979323846;
  const double c = math::cos(angle), s = math::sin(angle);
  switch (quarter % 4) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

template <class T>
__device__ inline void root_element(const RootArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.count) return;
  const auto k = static_cast<unsigned long long>(i),
             half = static_cast<unsigned long long>(args.half);
  const unsigned long long turn = (args.squares ? k * k : k * args.step) % (2 * half);
  static_cast<Complex<T>*>(args.out)[i] = Complex<T>(half_turn(turn, half));
}

// --- any length: x[k] c[k], convolved with the conjugate of c, times c

template <class T>
__device__ inline void chirp_in(const ChirpArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.points) return;
  const long long row = i / args.points, k = i - row * args.points;
  Complex<T> z = {T(0), T(0)};
  if (k < args.size) {
    const long long offset = row_offset(args, args.side.strides, row) + k * args.side.stride;
    z = read_point<T>(args.side, offset, k, args.size) *
        static_cast<const Complex<T>*>(args.chirp)[k];
  }
  static_cast<Complex<T>*>(args.padded)[i] = z;
}

template <class T>
__device__ inline void chirp_out(const ChirpArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.rows * args.size) return;
  const long long row = i / args.size, k = i - row * args.size;
  const auto* padded = static_cast<const Complex<T>*>(args.padded);
  Complex<T> z = conjugate_if(true, padded[row * args.points + k]) *
                 static_cast<const Complex<T>*>(args.chirp)[k];
  z = {z.re * static_cast<T>(args.scale), z.im * static_cast<T>(args.scale)};
  const long long offset = row_offset(args, args.side.strides, row) + k * args.side.stride;
  write_point(args.side, offset, k, args.size, z);
}

// The conjugate chirp, around the end of its row, over the number of points.
template <class T>
__device__ inline void chirp_row(const ChirpArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.points) return;
  const long long k = i < args.size ? i : args.points - i;
  Complex<T> z = {T(0), T(0)};
  if (k < args.size) {
    const Complex<T> c = static_cast<const Complex<T>*>(args.chirp)[k];
    z = {c.re * static_cast<T>(args.scale), -c.im * static_cast<T>(args.scale)};
  }
  static_cast<Complex<T>*>(args.padded)[i] = z;
}

// The conjugate of the product: a second forward transform then goes back.
template <class T>
__device__ inline void multiply_spectrum(const SpectrumArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.elements) return;
  Complex<T>& z = static_cast<Complex<T>*>(args.rows)[i];
  z = conjugate_if(true, z * static_cast<const Complex<T>*>(args.spectrum)[i % args.points]);
}

}  // namespace fb::device

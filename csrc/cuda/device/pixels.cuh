// Images of bytes: see Note [Sums of bytes] in kernel/pixels.h.
#pragma once

#include "cuda/device/image.cuh"
#include "cuda/device/pixels_args.h"

namespace fb::device {

inline constexpr int kLimbBits = 11;  // as kernel::ByteSums

// A weight of 16 bits.
__device__ inline int lower_weight(int pair) { return static_cast<int16_t>(pair & 0xffff); }
__device__ inline int upper_weight(int pair) { return pair >> 16; }

template <class T, int limbs>
__device__ inline void sum_bytes(const ByteSumsArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement at =
      image_element(number, args.planes, args.rows, args.out_size, args.inner);
  const long long first = args.first[at.w];
  const unsigned char* in = args.in + at.plane * args.image_step + at.d * args.plane_step +
                            at.h * args.row_step + first * args.step + at.inner;
  const int* weight = args.weight + at.w * args.pairs * limbs;
  const long long left = args.in_size - first;  // the last term may be beyond the input
  int total[limbs] = {};
  for (long long k = 0; k < args.pairs; ++k, in += 2 * args.step, weight += limbs) {
    const int a = in[0], b = 2 * k + 1 < left ? in[args.step] : 0;
    for (int limb = 0; limb < limbs; ++limb)
      total[limb] += a * lower_weight(weight[limb]) + b * upper_weight(weight[limb]);
  }
  int sum = total[0];
  if constexpr (limbs == 2) sum = (sum << kLimbBits) + total[1];
  sum = (sum + (1 << args.bits >> 1)) >> args.bits;
  args.out[number] = static_cast<T>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

template <class T>
__device__ inline void map_bytes(const ByteMapArguments& args) {
  const long long number = thread_number();
  if (number >= args.n) return;
  const ImageElement at = image_element(number, args.channels, args.height, args.width, 1);
  const unsigned char byte = args.in[at.plane * args.image_step + at.d * args.channel_step +
                                     at.h * args.row_step + at.w * args.step];
  static_cast<T*>(args.out)[number] =
      static_cast<const T*>(args.table)[at.d * args.table_step + byte];
}

}  // namespace fb::device

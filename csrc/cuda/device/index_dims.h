// Dimensions that a kernel walks by itself.
#pragma once

namespace fb::device {

inline constexpr int kIndexDims = 16;

struct IndexDims {
  int count;
  long long sizes[kIndexDims];
  long long strides[kIndexDims];  // in elements
};

#if defined(__CUDACC__) || defined(FB_EMULATED)
// A size to divide a number by, which is below 2^31 if I has 32 bits.
template <class I>
__device__ inline I size_in(long long size) {
  return sizeof(I) == 4 && size > 1ll << 31 ? static_cast<I>(1u << 31) : static_cast<I>(size);
}

// Where the element of that number, in row-major order, is. Divisions of 64 bits take several times
// as long as those of 32.
template <class I>
__device__ inline long long offset_by(const IndexDims& dims, I number) {
  long long offset = 0;
  for (int d = dims.count - 1; d > 0; --d) {
    const I size = size_in<I>(dims.sizes[d]), next = number / size;
    offset += static_cast<long long>(number - next * size) * dims.strides[d];
    number = next;
  }
  return dims.count ? offset + static_cast<long long>(number) * dims.strides[0] : 0;
}
__device__ inline long long index_offset(const IndexDims& dims, long long number) {
  return number < 1ll << 31 ? offset_by(dims, static_cast<unsigned>(number))
                            : offset_by(dims, number);
}
#endif

}  // namespace fb::device

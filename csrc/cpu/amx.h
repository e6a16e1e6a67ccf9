// Products of bfloat16 matrices by the tile registers of Intel processors (AMX).
#pragma once

#include "cpu/gemm.h"
#include "cpu/isa.h"

namespace fb::cpu {

enum class Amx { kNone, kTiles, kEmulated };

// Whether our own products use tiles; oneDNN decides for itself. Not with FLAMBEAU_AMX=off or a
// level of FLAMBEAU_ISA below avx512; FLAMBEAU_AMX=emulated takes plain code instead, for tests.
Amx amx();

// C is cut into squares of so many rows and columns, 2 x 2 tiles; A and B are packed into such
// squares, with zeros beyond their edges.
inline constexpr int64_t kAmxSide = 32;
// What is packed at a time: elements of A or of B, along the depth and across it.
inline constexpr int64_t kAmxDepth = 1024;
inline constexpr int64_t kAmxPacked = 512 * kAmxDepth;
inline constexpr int64_t kAmxLongest = 1024;

inline int64_t in_amx_sides(int64_t extent) {
  return (extent + kAmxSide - 1) / kAmxSide * kAmxSide;
}
// The most rows or columns of a product of this depth.
inline int64_t amx_most(int64_t depth) {
  const int64_t block = depth < kAmxDepth ? in_amx_sides(depth) : kAmxDepth;
  const int64_t most = kAmxPacked / block / kAmxSide * kAmxSide;
  return most < kAmxLongest ? most : kAmxLongest;
}

// One product of bfloat16 matrices of at most that size, with sizes above zero, and the memory
// it needs, aligned to 64 bytes. An element is summed in float32 along the whole depth, in an order
// that depends on the depth alone, and rounded once.
struct AmxProduct {
  GemmCall call;
  void* memory;
  bool emulates;
};
inline int64_t amx_bytes(int64_t m, int64_t n, int64_t k) {
  const int64_t block = k < kAmxDepth ? in_amx_sides(k) : kAmxDepth;
  const int64_t sums = k > kAmxDepth ? in_amx_sides(m) * in_amx_sides(n) : 0;
  return (in_amx_sides(m) + in_amx_sides(n)) * block * 2 + sums * 4;
}
FB_DECLARE_KERNEL(void, amx_product, const AmxProduct&)

}  // namespace fb::cpu

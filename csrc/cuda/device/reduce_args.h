// What the kernels of csrc/cuda/reduce.cpp are given.
#pragma once

namespace fb::device {

inline constexpr int kReduceDims = 8;

struct ReduceLoop {
  int dims;
  long long sizes[kReduceDims];  // slowest first
  long long in[kReduceDims];     // strides in elements
  long long out[kReduceDims];    // of kept dimensions
};

// Neighbours that a thread reads at once, of elements of so many bytes.
template <int bytes>
inline constexpr int kReducePack = bytes >= 16 ? 1 : 16 / bytes;

// A block has 256 threads: `lanes` for each of the results it computes. Long reductions are cut
// into segments, whose results a second kernel joins. How, follows from the shape alone.
struct ReduceArguments {
  const void* in;
  void* out;
  void* out2;
  void* partial;  // [results][segments]
  long long results, length, segments, segment_length;
  ReduceLoop kept, reduced;
  double param;
  int lanes;
  bool columns;  // neighbouring threads have neighbouring results, else neighbours of one
};

}  // namespace fb::device

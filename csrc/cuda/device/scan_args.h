// What the kernels of csrc/cuda/scan.cpp are given.
#pragma once

namespace fb::device {

// Rows of n elements that are `inner` apart: (outer, n, inner) with outer * inner rows.
struct ScanArguments {
  const void* in;
  const void* factor;      // of recurrences
  const long long* keys;   // of runs: sorted
  const long long* order;  // of runs: which element of `in` belongs to each key
  void* out;
  long long* indices;  // of extrema
  void* totals;        // of the segments of rows or columns, if there are several
  long long rows, n, inner;
  long long segment_length, segments;
  long long limit;  // of runs: keys from here on are left out
  int lanes;        // of a warp, that share a row
  bool reverse;
};

}  // namespace fb::device

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
  void* totals;        // of the segments of columns, if there are several
  long long rows, n, inner;
  long long segment_length, segments;
  long long limit;  // of runs: keys from here on are left out
  int lanes;        // threads that share a row; with inner > 1 each thread has its own
  bool reverse;
  // Of long rows:
  unsigned long long* states;  // what blocks have published: scan_states(tiles) totals for each row
  unsigned* ticket;            // how many blocks have begun
  int tiles;                   // of a row
};

// Elements that a thread of a long row's block takes: packs of 16 bytes.
inline constexpr int kScanPacks = 4;
inline constexpr int kScanTileBytes = 256 * 16 * kScanPacks;

// Totals of tiles, of 32 tiles and of 1024.
inline constexpr long long kScanGroup = 32;
#if defined(__CUDACC__)
__host__ __device__
#endif
    inline long long scan_states(long long tiles) {
  const long long groups = (tiles + kScanGroup - 1) / kScanGroup;
  return tiles + groups + (groups + kScanGroup - 1) / kScanGroup;
}

}  // namespace fb::device

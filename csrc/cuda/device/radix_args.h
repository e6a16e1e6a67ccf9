// What the kernels of csrc/cuda/radix.cpp are given.
#pragma once

namespace fb::device {

// Elements of a tile that each thread of a block takes, by their size.
template <int bytes>
inline constexpr int kRadixItems = bytes == 8 ? 10 : 20;

// A stable sort of rows by the bytes of keys, from the lowest to the highest.
struct RadixArguments {
  const void* keys;
  const long long* names;  // null, or what the last pass writes for each position of a row
  void* values;            // sorted; null: not wanted
  long long* indices;      // positions in the row, or names; null: not wanted
  unsigned* order;         // the same positions in 32 bits; null: not wanted
  void* room_keys[2];      // between passes
  unsigned* room_positions[2];
  unsigned* counts;            // [row][byte][digit]
  unsigned long long* varied;  // the bits in which keys of a row differ
  void* states;                // of this launch: [row][tile][digit], see radix_pass
  unsigned* ticket;            // of this launch: how many blocks have begun
  long long n;                 // of a row
  long long kept;              // how many of each row are written at last
  long long part_length;       // of the rows' parts that are counted
  int parts;                   // of a row
  int tiles;                   // of a row
  int passes;                  // how many bytes may differ
  int launch;                  // of the passes
  bool descending;
};

}  // namespace fb::device

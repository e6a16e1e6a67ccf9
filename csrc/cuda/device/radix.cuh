// A stable radix sort of rows, a byte at a time from the lowest.
//
// One kernel counts the digits of all passes. Then each pass reads and writes every element once:
// a block puts a tile in order, and learns how many elements of each digit are in the tiles before
// from what their blocks have published. Blocks take their tiles in the order in which they begin,
// so that a block waits for none that has not begun.
#pragma once

#define FB_LEAST_BLOCKS 3
#include "cuda/device/order.cuh"
#include "cuda/device/radix_args.h"

namespace fb::device {

template <class T>
__device__ inline unsigned radix_digit(Stored<T> element, bool descending, int shift) {
  return static_cast<unsigned>(key_of<T>(element, descending) >> shift) & 255u;
}

template <class T>
__device__ inline void radix_count(const RadixArguments& args) {
  constexpr int kBytes = static_cast<int>(sizeof(T)), kItems = 8;
  __shared__ unsigned counts[kBytes][kThreads];
  __shared__ unsigned long long all_varied;
  const int thread = static_cast<int>(threadIdx.x);
  const RowPart at(args.n, args.part_length, args.parts);
  const auto* keys = static_cast<const Stored<T>*>(args.keys);
  for (int b = 0; b < kBytes; ++b) counts[b][thread] = 0;
  if (thread == 0) all_varied = 0;
  __syncthreads();
  const Key<T> first = key_of<T>(keys[at.first], args.descending);
  Key<T> varied = 0;
  const auto count = [&](Stored<T> element) {
    const Key<T> key = key_of<T>(element, args.descending);
    varied |= static_cast<Key<T>>(key ^ first);
#pragma unroll
    for (int b = 0; b < kBytes; ++b)
      if (b < args.passes) atomicAdd(&counts[b][static_cast<unsigned>(key >> 8 * b) & 255u], 1u);
  };
  long long i = at.begin + thread;
  for (; i + (kItems - 1) * kThreads < at.end; i += kItems * kThreads) {
    Stored<T> elements[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) elements[k] = keys[i + k * kThreads];
#pragma unroll
    for (int k = 0; k < kItems; ++k) count(elements[k]);
  }
  for (; i < at.end; i += kThreads) count(keys[i]);
  if (varied != 0) atomicOr(&all_varied, static_cast<unsigned long long>(varied));
  __syncthreads();
  for (int b = 0; b < args.passes; ++b)
    if (counts[b][thread])
      atomicAdd(&args.counts[(at.row * args.passes + b) * kThreads + thread], counts[b][thread]);
  if (thread == 0 && all_varied != 0) atomicOr(args.varied, all_varied);
}

// Which byte a launch is for: bytes that are the same in all keys of a row are left out.
struct RadixPlan {
  int byte;  // -1: none is left
  bool last;
  __device__ explicit RadixPlan(const RadixArguments& args) : byte(-1), last(false) {
    const unsigned long long varied = *args.varied;
    int wanted = 0;
    for (int b = 0; b < args.passes; ++b)
      if ((varied >> 8 * b & 255u) != 0 && wanted++ == args.launch) byte = b;
    if (wanted == 0 && args.launch == 0) byte = 0, wanted = 1;
    last = args.launch == wanted - 1;
  }
};

// The lanes whose digit is this one's.
__device__ inline unsigned lanes_alike(unsigned digit) {
#if defined(FB_EMULATED)
  return __match_any_sync(~0u, digit);
#else  // by votes, bit by bit
  unsigned alike = ~0u;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const unsigned set = __ballot_sync(~0u, digit >> bit & 1u);
    alike &= (digit >> bit & 1u) ? set : ~set;
  }
  return alike;
#endif
}

// What a block publishes for each digit: first the count of its tile, then of the row up to its
// tile's end. The two highest bits say which of them it is, so that one access is enough.
template <class Word>
struct RadixState {
  static constexpr int kBits = 8 * static_cast<int>(sizeof(Word)) - 2;
  static constexpr Word kTile = Word(1) << kBits, kRow = Word(2) << kBits, kCount = kTile - 1;
};

// How many elements of this thread's digit are in the tiles before; `states` of the row.
template <class Word>
__device__ inline Word count_before(const Word* states, int tile) {
  using State = RadixState<Word>;
  constexpr int kAhead = 4;
  const volatile Word* at = states + threadIdx.x;
  Word before = 0;
  for (int t = tile - 1;;) {
    Word words[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) words[k] = at[(t - k < 0 ? 0 : t - k) * kThreads];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      if ((words[k] & ~State::kCount) == 0) break;
      before += words[k] & State::kCount;
      if (words[k] & State::kRow) return before;
      --t;
    }
  }
}

template <class T>
struct RadixRoom {
  static constexpr int kTile = kRadixItems<sizeof(T)> * kThreads;
  unsigned ranks[kWarps][kThreads];  // of each digit in each warp
  unsigned targets[kThreads];        // from a place in the tile to where it goes
  unsigned begun;
  alignas(16) unsigned char staged[kTile * (sizeof(T) < 4 ? 4 : sizeof(T))];
};

// `full`: all of the tile's elements are there.
template <class T, bool pairs, class Word, bool full>
__device__ inline void radix_tile(const RadixArguments& args, const RadixPlan& plan, long long row,
                                  int tile, RadixRoom<T>& room) {
  using Element = Stored<T>;
  using State = RadixState<Word>;
  constexpr int kItems = kRadixItems<sizeof(T)>, kTile = kItems * kThreads;
  auto& ranks = room.ranks;
  auto& targets = room.targets;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const long long first = row * args.n, begin = static_cast<long long>(tile) * kTile;
  const int count = full ? kTile : static_cast<int>(args.n - begin);
  const int shift = 8 * plan.byte, own = warp * (kItems * kWarp) + lane;
  const auto* keys = static_cast<const Element*>(
                         args.launch == 0 ? args.keys : args.room_keys[(args.launch - 1) % 2]) +
                     first + begin;

  Element elements[kItems];
  unsigned places[kItems];  // the digit above the rank in the warp, then the place in the tile
#pragma unroll
  for (int r = 0; r < kItems; ++r)
    elements[r] = full || own + r * kWarp < count ? keys[own + r * kWarp] : Element{};
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    unsigned digit = radix_digit<T>(elements[r], args.descending, shift);
    if (!full && own + r * kWarp >= count) digit = 255;  // behind all others
    const unsigned alike = lanes_alike(digit), before = __popc(alike & lanes_before());
    const unsigned earlier = ranks[warp][digit];
    __syncwarp();
    if (before == 0) ranks[warp][digit] = earlier + __popc(alike);
    __syncwarp();
    places[r] = digit << 16 | (earlier + before);
  }
  __syncthreads();

  unsigned total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    const unsigned of_warp = ranks[w][thread];
    ranks[w][thread] = total;
    total += of_warp;
  }
  if (!full && thread == 255) total -= static_cast<unsigned>(kTile - count);
  auto* const states = static_cast<Word*>(args.states) + row * args.tiles * kThreads;
  volatile Word* const state = states + tile * static_cast<long long>(kThreads) + thread;
  Word before = 0;
  if (tile == 0) {
    before = scan_block(args.counts[(row * args.passes + plan.byte) * kThreads + thread]).before;
    *state = State::kRow | (before + total);
  } else {
    *state = State::kTile | total;
  }
  const unsigned start = scan_block(total).before;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) ranks[w][thread] += start;
  __syncthreads();
  auto* const staged = reinterpret_cast<Element*>(room.staged);
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    places[r] = ranks[warp][places[r] >> 16] + (places[r] & 0xffffu);
    staged[places[r]] = elements[r];
  }
  if (tile != 0) {
    before = count_before<Word>(states, tile);
    *state = State::kRow | (before + total);
  }
  targets[thread] = static_cast<unsigned>(before) - start;
  __syncthreads();

  const long long kept = plan.last ? args.kept : args.n;
  const long long first_out = row * kept;
  auto* const keys_out =
      static_cast<Element*>(plan.last ? args.values : args.room_keys[args.launch % 2]);
  unsigned digits[(kItems + 3) / 4] = {};  // four in each
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    const int k = thread + r * kThreads;
    if (!full && k >= count) continue;
    const Element element = staged[k];
    const unsigned digit = radix_digit<T>(element, args.descending, shift);
    const unsigned to = targets[digit] + static_cast<unsigned>(k);
    if (pairs) digits[r / 4] |= digit << r % 4 * 8;
    if (keys_out && to < kept) keys_out[first_out + to] = element;
  }
  if constexpr (!pairs) return;
  const unsigned* const positions =
      args.launch == 0 ? nullptr : args.room_positions[(args.launch - 1) % 2] + first + begin;
  auto* const staged_positions = reinterpret_cast<unsigned*>(room.staged);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    const int k = own + r * kWarp;
    if (full || k < count)
      staged_positions[places[r]] = positions ? positions[k] : static_cast<unsigned>(begin) + k;
  }
  __syncthreads();
  unsigned* const positions_out = plan.last ? args.order : args.room_positions[args.launch % 2];
#pragma unroll
  for (int r = 0; r < kItems; ++r) {
    const int k = thread + r * kThreads;
    const unsigned to = targets[digits[r / 4] >> r % 4 * 8 & 255u] + static_cast<unsigned>(k);
    if ((!full && k >= count) || to >= kept) continue;
    const unsigned position = staged_positions[k];
    if (positions_out) positions_out[first_out + to] = position;
    if (plan.last && args.indices)
      args.indices[first_out + to] = args.names ? args.names[first + position] : position;
  }
}

template <class T, bool pairs, class Word>
__device__ inline void radix_pass(const RadixArguments& args) {
  __shared__ RadixRoom<T> room;
  const RadixPlan plan(args);
  if (plan.byte < 0) return;
  if (threadIdx.x == 0) room.begun = atomicAdd(args.ticket, 1u);
  for (int w = 0; w < kWarps; ++w) room.ranks[w][threadIdx.x] = 0;
  __syncthreads();
  const unsigned begun = room.begun;
  const long long row = args.tiles == 1 ? begun : begun / static_cast<unsigned>(args.tiles);
  const int tile = static_cast<int>(begun - row * args.tiles);
  if ((tile + 1ll) * RadixRoom<T>::kTile <= args.n)
    radix_tile<T, pairs, Word, true>(args, plan, row, tile, room);
  else
    radix_tile<T, pairs, Word, false>(args, plan, row, tile, room);
}

}  // namespace fb::device

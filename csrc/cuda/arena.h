// A range of a device's addresses that is cut into blocks, and the physical memory behind it.
//
// Note [Growable segments]: with virtual memory an arena has addresses for all that a device has,
// and physical memory behind as many of them as needed, page by page. A large block is then made of
// any free blocks that are neighbours and of fresh pages beside them: memory that is free is never
// in the wrong place for long. Without it an arena is one block of the driver's, which does not
// grow.
//
// Note [Small blocks are kept whole]: programs ask for the same few small sizes over and over. A
// small block that is given back waits in a list for the next request of its size, which takes and
// returns it without a look at any tree. Before memory is missing, all that wait are joined with
// their neighbours, so that an arena serves the same requests as without the lists.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cuda/driver.h"

namespace fb::cuda {

class Arena;

struct Block {
  // A hole has no memory behind it. A kept block is free for requests of its size.
  enum class State : uint8_t { kHole, kFree, kKept, kUsed };

  Arena* arena;
  Address address;
  size_t bytes;
  State state;
  size_t requested = 0;             // what was asked for
  const void* origin = nullptr;     // see record_history
  std::vector<Stream> other_users;  // see use_on_stream
  Block* next_kept = nullptr;
};

class Arena {
 public:
  // Addresses for `capacity` bytes, with memory that comes in pages.
  Arena(int device, Stream stream, bool small, size_t capacity, size_t page);
  // Memory that the driver has allocated.
  Arena(int device, Stream stream, bool small, Address address, size_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A kept block of this size, or the smallest free block that is large enough, cut to size; null
  // if there is none. `bytes` is a multiple of kSmallest.
  Block* take(size_t bytes);
  // Puts memory behind addresses so that `bytes` become free in one piece. Gives back what it got,
  // and returns false, if there is not enough.
  bool grow(size_t bytes, size_t allowed);
  void give_back(Block* block);
  // Unmaps pages that no block uses. Returns how many bytes they were.
  size_t trim();

  bool holds(Address address) const { return address - base_ < capacity_; }
  bool is_empty() const;  // nothing is used
  size_t mapped() const { return mapped_; }
  size_t free_blocks() const { return free_.size() + kept_blocks_; }
  bool grows() const { return page_ != 0; }
  bool small() const { return small_; }
  int device() const { return device_; }
  Stream stream() const { return stream_; }
  Address base() const { return base_; }
  const std::map<Address, Block>& blocks() const { return blocks_; }
  // Of the last grow or trim: pages that were made or released.
  int64_t device_calls = 0;
  size_t counted_free = 0;  // how many free blocks the statistics know of

 private:
  using Blocks = std::map<Address, Block>;

  Blocks::iterator add(Address address, size_t bytes, Block::State state);
  void set_state(Blocks::iterator block, Block::State state);
  // Cuts a block in two; returns the second part.
  Blocks::iterator split(Blocks::iterator block, size_t bytes);
  void join_neighbours(Blocks::iterator block);
  // Makes free what is kept; returns false if there was nothing.
  bool free_kept();
  bool map_page(size_t page);
  void unmap_page(size_t page);

  int device_;
  Stream stream_;
  bool small_;
  Address base_ = 0;
  size_t capacity_;
  size_t page_;  // 0: memory of the driver's
  size_t mapped_ = 0;
  Blocks blocks_;
  std::set<std::pair<size_t, Address>> free_;
  std::vector<Block*> kept_;  // of small arenas: by size, as lists
  size_t kept_blocks_ = 0;
  std::vector<MemoryHandle> pages_;  // by number; 0 where there is none
};

}  // namespace fb::cuda

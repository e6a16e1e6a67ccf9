// A range of a device's addresses that is cut into blocks, and the physical memory behind it.
#include "cuda/arena.h"

#include <algorithm>

#include "cuda/allocator.h"
#include "cuda/context.h"

namespace fb::cuda {
namespace {

// The lists of an arena, by size.
size_t kept_sizes(bool small) { return small ? kSmall / kSmallest + 1 : 0; }

MemoryProperties pinned_on(int device) {
  MemoryProperties properties;
  properties.place.device = device;
  return properties;
}

}  // namespace

Arena::Arena(int device, Stream stream, bool small, size_t capacity, size_t page)
    : device_(device), stream_(stream), small_(small), page_(page), kept_(kept_sizes(small)) {
  capacity_ = (capacity + page - 1) / page * page;
  FB_CUDA(reserve_addresses, &base_, capacity_, 0, 0, 0);
  pages_.resize(capacity_ / page);
  add(base_, capacity_, Block::State::kHole);
}

Arena::Arena(int device, Stream stream, bool small, Address address, size_t bytes)
    : device_(device),
      stream_(stream),
      small_(small),
      base_(address),
      capacity_(bytes),
      page_(0),
      mapped_(bytes),
      kept_(kept_sizes(small)) {
  add(address, bytes, Block::State::kFree);
}

Arena::~Arena() {
  if (!page_) driver().release(base_);
}

Arena::Blocks::iterator Arena::add(Address address, size_t bytes, Block::State state) {
  const auto made =
      blocks_.emplace(address, Block{this, address, bytes, state, 0, nullptr, {}, nullptr}).first;
  if (state == Block::State::kFree) free_.emplace(bytes, address);
  return made;
}

void Arena::set_state(Blocks::iterator at, Block::State state) {
  Block& block = at->second;
  if (block.state == Block::State::kFree) free_.erase({block.bytes, block.address});
  block.state = state;
  if (state == Block::State::kFree) free_.emplace(block.bytes, block.address);
}

Arena::Blocks::iterator Arena::split(Blocks::iterator at, size_t bytes) {
  Block& block = at->second;
  if (block.state == Block::State::kFree) free_.erase({block.bytes, block.address});
  const auto rest = add(block.address + bytes, block.bytes - bytes, block.state);
  block.bytes = bytes;
  if (block.state == Block::State::kFree) free_.emplace(bytes, block.address);
  return rest;
}

void Arena::join_neighbours(Blocks::iterator at) {
  const auto join_next = [&](Blocks::iterator first) {
    const auto next = std::next(first);
    if (next == blocks_.end() || next->second.state != first->second.state) return;
    const Block::State state = first->second.state;
    if (state == Block::State::kFree) {
      free_.erase({first->second.bytes, first->first});
      free_.erase({next->second.bytes, next->first});
    }
    first->second.bytes += next->second.bytes;
    blocks_.erase(next);
    if (state == Block::State::kFree) free_.emplace(first->second.bytes, first->first);
  };
  if (at->second.state == Block::State::kUsed) return;
  join_next(at);
  if (at != blocks_.begin()) join_next(std::prev(at));
}

Block* Arena::take(size_t bytes) {
  if (kept_blocks_) {
    Block*& kept = kept_[bytes / kSmallest];
    if (Block* const block = kept) {
      kept = block->next_kept;
      --kept_blocks_;
      block->state = Block::State::kUsed;
      return block;
    }
  }
  auto found = free_.lower_bound({bytes, 0});
  if (found == free_.end() && free_kept()) found = free_.lower_bound({bytes, 0});
  if (found == free_.end()) return nullptr;
  const auto at = blocks_.find(found->second);
  if (at->second.bytes > bytes) split(at, bytes);
  set_state(at, Block::State::kUsed);
  return &at->second;
}

void Arena::give_back(Block* block) {
  if (small_) {
    block->state = Block::State::kKept;
    block->next_kept = std::exchange(kept_[block->bytes / kSmallest], block);
    ++kept_blocks_;
    return;
  }
  const auto at = blocks_.find(block->address);
  set_state(at, Block::State::kFree);
  join_neighbours(at);
}

bool Arena::free_kept() {
  if (!kept_blocks_) return false;
  for (Block*& first : kept_) {
    while (Block* const block = first) {
      first = block->next_kept;
      const auto at = blocks_.find(block->address);
      set_state(at, Block::State::kFree);
      join_neighbours(at);
    }
  }
  kept_blocks_ = 0;
  return true;
}

bool Arena::is_empty() const {
  return std::none_of(blocks_.begin(), blocks_.end(),
                      [](const auto& each) { return each.second.state == Block::State::kUsed; });
}

bool Arena::map_page(size_t page) {
  const MemoryProperties properties = pinned_on(device_);
  MemoryHandle handle = 0;
  ++device_calls;
  const Status status = driver().create_memory(&handle, page_, &properties, 0);
  if (status == kOutOfMemory) return false;
  check(status, names::create_memory);
  const Address at = base_ + page * page_;
  FB_CUDA(map_memory, at, page_, 0, handle, 0);
  MemoryAccess access;
  access.place.device = device_;
  FB_CUDA(set_access, at, page_, &access, 1);
  pages_[page] = handle;
  mapped_ += page_;
  return true;
}

void Arena::unmap_page(size_t page) {
  ++device_calls;
  FB_CUDA(unmap_memory, base_ + page * page_, page_);
  FB_CUDA(release_memory, pages_[page]);
  pages_[page] = 0;
  mapped_ -= page_;
}

bool Arena::grow(size_t bytes, size_t allowed) {
  if (!page_) return false;
  free_kept();
  // Of the runs of neighbours that nobody uses, the one that lacks the fewest pages.
  const auto pages_of = [&](Address begin, auto&& act) {
    for (size_t page = (begin - base_) / page_; base_ + page * page_ < begin + bytes; ++page)
      if (!pages_[page] && !act(page)) return;
  };
  size_t fewest = SIZE_MAX;
  Address chosen = 0;
  for (auto at = blocks_.begin(); at != blocks_.end();) {
    if (at->second.state == Block::State::kUsed) {
      ++at;
      continue;
    }
    const Address begin = at->first;
    Address end = begin;
    for (; at != blocks_.end() && at->second.state != Block::State::kUsed; ++at)
      end += at->second.bytes;
    if (end - begin < bytes) continue;
    size_t lacking = 0;
    pages_of(begin, [&](size_t) { return ++lacking, true; });
    if (lacking < fewest) fewest = lacking, chosen = begin;
  }
  if (fewest == SIZE_MAX || fewest * page_ > allowed) return false;
  std::vector<size_t> fresh;
  bool enough = true;
  pages_of(chosen, [&](size_t page) {
    enough = map_page(page);
    if (enough) fresh.push_back(page);
    return enough;
  });
  if (!enough) {
    for (const size_t page : fresh) unmap_page(page);
    return false;
  }
  for (const size_t page : fresh) {
    const Address begin = base_ + page * page_;
    auto at = std::prev(blocks_.upper_bound(begin));  // a hole, which contains the whole page
    if (at->first < begin) at = split(at, begin - at->first);
    if (at->second.bytes > page_) split(at, page_);
    set_state(at, Block::State::kFree);
    join_neighbours(at);
  }
  return true;
}

size_t Arena::trim() {
  if (!page_) return 0;
  free_kept();
  size_t released = 0;
  for (size_t page = 0; page < pages_.size(); ++page) {
    if (!pages_[page]) continue;
    const Address begin = base_ + page * page_;
    auto at = std::prev(blocks_.upper_bound(begin));
    if (at->second.state != Block::State::kFree || at->first + at->second.bytes < begin + page_)
      continue;
    if (at->first < begin) at = split(at, begin - at->first);
    if (at->second.bytes > page_) split(at, page_);
    unmap_page(page);
    released += page_;
    set_state(at, Block::State::kHole);
    join_neighbours(at);
  }
  return released;
}

}  // namespace fb::cuda

// The memory behind one or more tensors, reference counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/device.h"

namespace fb {

struct StorageImpl;

namespace autograd {
// For storages that a node has saved: remember changes in place, and forget them.
void note_change(StorageImpl& storage, const char* by);
void forget_changes(const StorageImpl& storage);
}  // namespace autograd

// Memory from the CPU allocator has this header in front of its data, in one block. For memory of
// another owner (a NumPy array, a DLPack producer) there is only the header, with a function that
// releases the memory.
struct alignas(64) StorageImpl {
  using Release = void (*)(void* context);

  std::atomic<int32_t> refs{1};
  // Bumped by every in-place write through any tensor on this storage.
  uint32_t version = 0;
  void* data = nullptr;
  size_t bytes = 0;
  Device device = kHost;
  uint16_t size_class = 0;  // the free list that the block returns to
  bool resizable = true;
  bool watched = false;       // a node has saved a tensor on it: see autograd/saved.h
  bool promised = false;      // stands for elements on meta, which nobody computes
  Release release = nullptr;  // null: the block belongs to the allocator
  void* context = nullptr;
  size_t block_bytes = 0;           // of the allocator's block, header included
  StorageImpl* enlarged = nullptr;  // after resize: the storage that `data` really lies in

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 private:
  void destroy();
};

// A counted reference to a StorageImpl.
class Storage {
 public:
  Storage() = default;
  explicit Storage(StorageImpl* owned) : impl_(owned) {}
  Storage(const Storage& other) : impl_(other.impl_) {
    if (impl_) impl_->retain();
  }
  Storage(Storage&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Storage() {
    if (impl_) impl_->drop();
  }

  StorageImpl* operator->() const { return impl_; }
  StorageImpl* get() const { return impl_; }
  StorageImpl* leak() { return std::exchange(impl_, nullptr); }
  explicit operator bool() const { return impl_ != nullptr; }
  friend bool operator==(const Storage& a, const Storage& b) { return a.impl_ == b.impl_; }

  // Memory of another owner; `release(context)` is called once, from whichever thread drops it
  // last.
  static Storage adopt(void* data, size_t bytes, StorageImpl::Release release, void* context);
  // Makes room for `bytes`, keeping what there is; every tensor on this storage sees the new
  // memory.
  void resize(size_t bytes);
  // The same memory with its own version counter: what `.data` gives.
  static Storage alias(const Storage& original);

 private:
  StorageImpl* impl_ = nullptr;
};

}  // namespace fb

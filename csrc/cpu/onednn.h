// oneDNN as the kernels see it: one engine, a stream per thread, our thread count, and its errors
// as ours.
#pragma once

#if defined(FB_HAVE_ONEDNN)

#include <dnnl.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

namespace fb::cpu {

dnnl_engine_t onednn_engine();
dnnl_stream_t onednn_stream();

// While alive, oneDNN keeps to the calling thread. It asks OpenMP for the number, which is per
// thread.
class OneDnnSingleThreaded {
 public:
  OneDnnSingleThreaded();
  ~OneDnnSingleThreaded();
  OneDnnSingleThreaded(const OneDnnSingleThreaded&) = delete;
  OneDnnSingleThreaded& operator=(const OneDnnSingleThreaded&) = delete;

 private:
  int before_;
};

// Throws when a call failed.
void onednn_check(dnnl_status_t status, const char* call);

// A small map that forgets what was not used for longest. Not shared between threads.
template <class Key, class Value, class Hash>
class RecentCache {
 public:
  explicit RecentCache(size_t capacity) : capacity_(capacity) {}

  // The value made by `make` for this key, now or earlier.
  template <class Make>
  Value& get(const Key& key, Make&& make) {
    if (auto found = index_.find(key); found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
    entries_.emplace_front(key, make());
    index_[key] = entries_.begin();
    if (entries_.size() > capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t capacity_;
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, Hash> index_;
};

}  // namespace fb::cpu

#endif

// A cache of objects that are made for exact sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <unordered_map>
#include <utility>

namespace fb::cpu {

// Hash of a key of whole words without padding: reads every byte.
template <class Key>
struct HashOfWords {
  size_t operator()(const Key& key) const {
    uint64_t words[sizeof(Key) / 8];
    static_assert(sizeof(words) == sizeof(Key));
    std::memcpy(words, &key, sizeof(key));
    uint64_t hash = 0;
    for (const uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15u + (hash >> 29);
    return hash;
  }
};

// A small map that evicts the least recently used entry. Not shared between threads.
template <class Key, class Value>
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

  template <class Condition>
  void forget_if(Condition&& condition) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (!condition(entry->second)) {
        ++entry;
        continue;
      }
      index_.erase(entry->first);
      entry = entries_.erase(entry);
    }
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t capacity_;
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, HashOfWords<Key>> index_;
};

}  // namespace fb::cpu

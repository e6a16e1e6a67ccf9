// oneDNN as the kernels see it: one engine, a stream per thread, our thread count, and its errors
// as ours.
#pragma once

#if defined(FB_HAVE_ONEDNN)

#include <dnnl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <list>
#include <memory>
#include <unordered_map>

#include "core/dims.h"
#include "core/dtype.h"

namespace fb::cpu {

dnnl_engine_t onednn_engine();
dnnl_stream_t onednn_stream();

// While alive, oneDNN makes and runs primitives for so many threads. It asks OpenMP for the number,
// which is each thread's own.
class OneDnnThreads {
 public:
  explicit OneDnnThreads(int count);
  ~OneDnnThreads();
  OneDnnThreads(const OneDnnThreads&) = delete;
  OneDnnThreads& operator=(const OneDnnThreads&) = delete;

 private:
  int before_, count_;
};

// Throws when a call failed.
void onednn_check(dnnl_status_t status, const char* call);

// How elements lie in memory.
struct DestroyLayout {
  void operator()(dnnl_memory_desc* layout) const { dnnl_memory_desc_destroy(layout); }
};
using OneDnnLayout = std::unique_ptr<dnnl_memory_desc, DestroyLayout>;
// float32 and bfloat16.
OneDnnLayout onednn_strided(DType dtype, IntSpan sizes, IntSpan strides);
// One that a primitive may choose.
OneDnnLayout onednn_any(DType dtype, IntSpan sizes);

// A primitive with the memory objects of its arguments, whose addresses change from call to call.
class OneDnnPrimitive {
 public:
  struct Argument {
    int role;
    const_dnnl_memory_desc_t layout;
  };
  // Takes the description over.
  OneDnnPrimitive(dnnl_primitive_desc_t description, std::initializer_list<Argument> arguments);
  ~OneDnnPrimitive();
  OneDnnPrimitive(const OneDnnPrimitive&) = delete;
  OneDnnPrimitive& operator=(const OneDnnPrimitive&) = delete;

  // With addresses in the order of the arguments.
  void run(std::initializer_list<const void*> addresses) const;

 private:
  static constexpr int kMostArguments = 4;
  dnnl_primitive_t primitive_ = nullptr;
  dnnl_exec_arg_t arguments_[kMostArguments] = {};
  int count_ = 0;
};

// Of a key that is whole words without padding: reads every byte.
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

// A small map that forgets what was not used for longest. Not shared between threads.
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

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t capacity_;
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, HashOfWords<Key>> index_;
};

}  // namespace fb::cpu

#endif

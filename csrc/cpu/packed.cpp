// Weights in the order that a kernel wants them.
#include "cpu/packed.h"

#include "core/allocator.h"
#include "core/unseen.h"
#include "cpu/recent.h"

namespace fb::cpu {
namespace {

struct PackedKey {
  const StorageImpl* storage;
  int64_t offset;
  Packing packing;

  bool operator==(const PackedKey&) const = default;
};

struct Packed {
  uint64_t version = 0;
  uint64_t writers = 0;  // see unseen_writers
  Storage packed;        // none after the first call
  Storage source;        // held, so that no other weight can get the same address
};

bool is_kept_for_nobody(const Packed& entry) { return entry.source && entry.source->refs == 1; }

}  // namespace

Storage packed_weight(const Tensor& weight, const Packing& packing, size_t bytes,
                      const std::function<void(void* to)>& pack) {
  constexpr size_t kCachedWeights = 256;
  thread_local RecentCache<PackedKey, Packed> cache(kCachedWeights);
  const Storage& source = weight.storage();
  const uint64_t version = source->version, writers = unseen_writers();
  const bool may_keep = writers != 0 && weight->python_object && source->resizable;
  Packed* entry = nullptr;
  bool is_same = false;
  if (may_keep) {
    entry = &cache.get({source.get(), weight.offset(), packing}, [] { return Packed{}; });
    is_same = entry->version == version && entry->writers == writers;
    if (is_same && entry->packed) return entry->packed;
  }
  const Storage packed = allocate_cpu(bytes);
  pack(packed->data);
  if (is_same)
    *entry = {version, writers, packed, source};
  else if (entry)
    *entry = {version, writers, {}, {}};
  if (is_same) cache.forget_if(is_kept_for_nobody);
  return packed;
}

}  // namespace fb::cpu

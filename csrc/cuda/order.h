// Building blocks of what orders elements: sums, compaction, parts of rows.
#pragma once

#include "core/dtype.h"
#include "core/storage.h"
#include "cuda/device/order_args.h"
#include "cuda/driver.h"
#include "cuda/typed_kernel.h"

namespace fb::cuda {

Storage allocate_room(int device, size_t bytes);
void clear_bytes(int device, void* at, size_t bytes);

// Memory of the device for the current stream, as `count` elements of T.
template <class T>
class Room {
 public:
  Room(int device, int64_t count)
      : storage_(allocate_room(device, static_cast<size_t>(count) * sizeof(T))) {}
  T* data() const { return static_cast<T*>(storage_->data); }

 private:
  Storage storage_;
};

// n elements cut into parts, with room for the totals. One block works on each (see count_flagged
// and place_flagged of device/order.cuh).
class PartsOf {
 public:
  PartsOf(int device, int64_t n);
  const device::Parts& on_device() const { return parts_; }
  unsigned blocks() const { return static_cast<unsigned>(parts_.count); }
  // Waits for the kernel that writes the totals.
  int64_t total() const;

 private:
  device::Parts parts_{};
  Room<long long> totals_;
};

// out[i] = in[0] + … + in[i - 1] for i up to n: n + 1 numbers. `out` may be `in`.
void exclusive_sums(int device, const long long* in, int64_t n, long long* out);

// How rows are cut, so that there are enough blocks for any device.
struct RowParts {
  int64_t length;
  int parts;
  RowParts(int64_t rows, int64_t n);
};

}  // namespace fb::cuda

// Kernels of the device's table that the host computes: an explicit round trip.
//
// Note [Kernels on the host]: factorisations of LAPACK's are no kernels of ours on a GPU. Their
// slots copy the arrays to page-locked memory, wait, call the CPU's kernel of the same slot and
// queue the copies of the results. An operator with such a slot says so in the table
// (`host="cuda"`), and so do its reference page and op_info; tests/cuda compares both.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/storage.h"
#include "kernel/table.h"

namespace fb::cuda {

// The arrays of one call. Each method takes an array of the device and returns the host's, which is
// there as long as this object. Arrays without elements may be null.
class RoundTrip {
 public:
  // The kernel reads the array,
  template <class T>
  const T* in(const T* array, int64_t count) {
    return static_cast<const T*>(add(array, bytes_of<T>(count), true, false));
  }
  // writes all of it,
  template <class T>
  T* out(T* array, int64_t count) {
    return static_cast<T*>(add(array, bytes_of<T>(count), false, true));
  }
  // or both.
  template <class T>
  T* inout(T* array, int64_t count) {
    return static_cast<T*>(add(array, bytes_of<T>(count), true, true));
  }
  kernel::Matrices in(const kernel::Matrices& m) { return moved(m, true, false); }
  kernel::Matrices out(const kernel::Matrices& m) { return moved(m, false, true); }
  kernel::Matrices inout(const kernel::Matrices& m) { return moved(m, true, true); }
  // Arrays of `count` elements of a type that is not known here.
  const void* in(DType dtype, const void* array, int64_t count) {
    return add(array, static_cast<size_t>(count) * size_of(dtype), true, false);
  }
  void* out(DType dtype, void* array, int64_t count) {
    return add(array, static_cast<size_t>(count) * size_of(dtype), false, true);
  }

  // Calls `kernel` with the host's table when the arrays are there, and sends the results back.
  template <class Kernel>
  void run(Kernel&& kernel) {
    if (parts_.empty()) return;
    wait();
    std::forward<Kernel>(kernel)(kernel::of(kHost));
    send_back();
  }

 private:
  struct Part {
    void* device;
    Storage host;
    size_t bytes;
    bool changes;
  };

  template <class T>
  static size_t bytes_of(int64_t count) {
    return static_cast<size_t>(count) * sizeof(T);
  }
  kernel::Matrices moved(const kernel::Matrices& m, bool reads, bool writes) {
    kernel::Matrices result = m;
    const auto elements = static_cast<size_t>(m.batch * m.rows * m.columns);
    result.data = add(m.data, elements * size_of(m.dtype), reads, writes);
    return result;
  }
  void* add(const void* array, size_t bytes, bool reads, bool writes);
  void wait();
  void send_back();

  int device_ = -1;
  std::vector<Part> parts_;
};

// How many round trips there have been: what the tests compare with the table.
int64_t round_trips();

}  // namespace fb::cuda

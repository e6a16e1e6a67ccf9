// Small tables of plans in a device's memory.
#pragma once

#include <vector>

#include "core/storage.h"

namespace fb::cuda {

// Bytes of the host, put one table after the other.
class TableMaker {
 public:
  // Appends an array and returns where it begins.
  template <class T>
  size_t add(const std::vector<T>& array) {
    return add(array.data(), array.size() * sizeof(T));
  }
  size_t add(const void* data, size_t bytes);
  // A copy on the device, for work of the current stream. Those of a few kilobytes are kept: a
  // network asks for the same ones in each step.
  Storage on(int device) const;

 private:
  std::vector<char> bytes_;
};

}  // namespace fb::cuda

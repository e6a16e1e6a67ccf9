// Memory of the device `shadow`, which the tests have instead of a GPU: it lies in pages that the
// host may not touch, except while one of the device's kernels runs.
//
// A stray access is noted and then allowed to proceed: the entry point of the operator turns it
// into an error.
#pragma once

#include <string>
#include <vector>

namespace fb::shadow {

// The pages are open while one of these lives.
class Opened {
 public:
  Opened();
  ~Opened();
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

// Lets tensors live on the device.
void register_memory();

// Where the host touched the device's memory since the last call: the frames of the stack.
std::vector<std::string> take_faults();

}  // namespace fb::shadow

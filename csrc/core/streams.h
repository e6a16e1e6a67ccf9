// Streams of devices, for those who know no device: the engine runs a backward on the stream of its
// forward.
#pragma once

#include "core/tensor.h"

namespace fb {

struct StreamHooks {
  // The calling thread's stream of a device; null: the one that is used if nothing else is said.
  void* (*current)(Device device);
  void (*make_current)(Device device, void* stream);
  // What `later` is given from now on waits for what `earlier` was given so far.
  void (*order)(Device device, void* earlier, void* later);
  // The memory of a tensor is kept until what the stream was given so far is done.
  void (*keep_for)(const Tensor& tensor, void* stream);
};

// By the type of device; null where devices have no streams.
inline const StreamHooks* stream_hooks[kDeviceTypes] = {};

// Whether this thread has chosen a stream of some device.
inline constinit thread_local bool has_chosen_stream = false;

}  // namespace fb

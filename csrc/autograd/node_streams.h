// The streams that operators were recorded on, and the engine's way back to them.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "autograd/node.h"
#include "core/streams.h"

namespace fb::autograd {

// How many nodes were recorded on a stream that somebody had chosen: mostly none, so that nodes
// need no room for it.
inline std::atomic<int64_t> nodes_with_stream{0};

void note_stream(const Node& node, Device device);
// The node is deleted.
void forget_stream(const Node& node);

// The streams of one run of the engine. Each node runs on the stream of its forward, and nodes that
// accumulate run on the caller's. Whoever changes the stream lets the new one wait for the old one,
// so that the run is one sequence, and the caller's streams wait for its end.
class RunStreams {
 public:
  RunStreams() : is_active_(has_chosen_stream || nodes_with_stream.load() > 0) {}
  ~RunStreams();
  RunStreams(const RunStreams&) = delete;
  RunStreams& operator=(const RunStreams&) = delete;

  // The node comes next, with these gradients.
  void enter(const Node& node, std::span<const Tensor> grads) {
    if (is_active_) [[unlikely]]
      change_to(node, grads);
  }
  // What comes next reads this gradient, which a node on another stream may have made.
  void read(const Tensor& grad) const {
    if (is_active_) [[unlikely]]
      keep_for_current(grad);
  }
  // The caller gets these.
  void keep_for_caller(std::span<const Tensor> results) const;

 private:
  struct Visited {
    Device device;
    void* callers;
  };
  void* callers(Device device);
  void change_to(const Node& node, std::span<const Tensor> grads);
  void keep_for_current(const Tensor& grad) const;

  bool is_active_;
  std::vector<Visited> visited_;
};

}  // namespace fb::autograd

// The streams that operators were recorded on, and the engine's way back to them.
#include "autograd/node_streams.h"

#include <mutex>
#include <unordered_map>

#include "autograd/sparse.h"

namespace fb::autograd {
namespace {

std::mutex mutex;
// Never destroyed: nodes may outlive what the process tears down at its end.
auto& streams = *new std::unordered_map<const Node*, void*>;

const StreamHooks* hooks_of(Device device) { return stream_hooks[static_cast<int>(device.type)]; }

void* stream_of(const Node& node) {
  if (nodes_with_stream.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::lock_guard lock(mutex);
  const auto found = streams.find(&node);
  return found == streams.end() ? nullptr : found->second;
}

void keep(const StreamHooks& hooks, const Tensor& t, void* stream) {
  if (is_sparse(t)) {
    keep(hooks, sparse_parts(t).indices, stream);
    keep(hooks, sparse_parts(t).values, stream);
  } else if (t.storage()) {
    hooks.keep_for(t, stream);
  }
}

}  // namespace

void note_stream(const Node& node, Device device) {
  const StreamHooks* const hooks = hooks_of(device);
  void* const stream = hooks ? hooks->current(device) : nullptr;
  if (!stream) return;
  const std::lock_guard lock(mutex);
  if (streams.insert_or_assign(&node, stream).second) ++nodes_with_stream;
}

void forget_stream(const Node& node) {
  const std::lock_guard lock(mutex);
  nodes_with_stream -= static_cast<int64_t>(streams.erase(&node));
}

void* RunStreams::callers(Device device) {
  for (const Visited& each : visited_)
    if (each.device == device) return each.callers;
  return visited_.emplace_back(device, hooks_of(device)->current(device)).callers;
}

void RunStreams::change_to(const Node& node, std::span<const Tensor> grads) {
  if (node.outputs.empty()) return;
  const Device device = node.outputs[0].device;
  const StreamHooks* const hooks = hooks_of(device);
  if (!hooks) return;
  void* const own = callers(device);
  void* const wanted = node.is_accumulator ? own : stream_of(node);
  void* const now = hooks->current(device);
  if (wanted != now) {
    hooks->order(device, now, wanted);
    hooks->make_current(device, wanted);
  }
  for (const Tensor& grad : grads)
    if (grad && grad.device() == device) keep(*hooks, grad, wanted);
}

void RunStreams::keep_for_caller(std::span<const Tensor> results) const {
  for (const Visited& each : visited_)
    for (const Tensor& result : results)
      if (result && result.device() == each.device)
        keep(*hooks_of(each.device), result, each.callers);
}

void RunStreams::keep_for_current(const Tensor& grad) const {
  const Device device = grad.device();
  if (const StreamHooks* const hooks = hooks_of(device)) keep(*hooks, grad, hooks->current(device));
}

RunStreams::~RunStreams() {
  for (const Visited& each : visited_) {
    const StreamHooks* const hooks = hooks_of(each.device);
    void* const now = hooks->current(each.device);
    if (now == each.callers) continue;
    try {
      hooks->order(each.device, now, each.callers);
    } catch (const std::exception&) {
      // The device has failed, which whoever waits for it is told.
    }
    hooks->make_current(each.device, each.callers);
  }
}

}  // namespace fb::autograd

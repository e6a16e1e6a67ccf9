// The graph: one node for each recorded operator, pointing at the nodes its inputs came from.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/source_location.h"
#include "core/tensor.h"

namespace fb::autograd {

class Node;
class Run;

// A counted reference to a node.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* owned) : node_(owned) {}
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();

  static NodeRef retain(Node* node);
  Node* get() const { return node_; }
  Node* leak() { return std::exchange(node_, nullptr); }
  Node* operator->() const { return node_; }
  Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  Node* node_ = nullptr;
};

// Where a gradient goes: to result `output_nr` of a recorded operator, or to a leaf.
struct Edge {
  NodeRef node;
  uint32_t output_nr = 0;
};

using Gradients = SmallVec<Tensor, 2>;

// What a gradient of one result must look like.
struct OutputMeta {
  DType dtype = DType::kFloat32;
  Device device = kHost;
  Dims sizes;
};

// A user's function on gradients; returns an undefined tensor to leave the gradient as it is.
using TensorHook = std::function<Tensor(const Tensor&)>;
using NodePreHook = std::function<void(Gradients& grads)>;
using NodePostHook = std::function<void(Gradients& results, std::span<const Tensor> grads)>;

struct Hooks {
  struct OnOutput {
    uint32_t output_nr;
    TensorHook call;
  };
  struct Retained {
    uint32_t output_nr;
    TensorImpl* tensor;  // which unregisters itself when it dies
  };
  std::vector<OnOutput> tensor;
  std::vector<Retained> retained;
  std::vector<NodePreHook> before;
  std::vector<NodePostHook> after;
  // The binding's: Python objects that the functions on the node hold, and the user's dictionary.
  std::vector<std::shared_ptr<void>> objects;
  std::shared_ptr<void> metadata;
};

class Node {
 public:
  std::atomic<int32_t> refs{1};
  bool released = false;   // its saved values are gone, since the backward at `released_at`
  bool is_python = false;  // a PythonNode: see bind/function.cpp
  bool is_accumulator = false;
  bool in_place = false;  // t_() and other views in place, whose nodes have other names in PyTorch
  uint32_t wanted = 0;    // bit i: the gradient of input i is wanted, also where it has no edge
  uint64_t sequence = 0;  // later operators have higher numbers and run first
  SmallVec<Edge, 2> edges;
  SmallVec<OutputMeta, 1> outputs;
  SourceLocation location;
  const SourceLocation* released_at = nullptr;
  std::unique_ptr<Hooks> hooks;
  void* python_object = nullptr;  // borrowed: the object clears this when it is destroyed
  // Of the run that visits the node; see engine.cpp.
  Run* run = nullptr;
  uint32_t run_slot = 0;

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  // As users see it: MulBackward0.
  virtual const char* name() const = 0;
  // The operator as users call it, for messages: mul.
  virtual const char* operator_name() const { return name(); }
  // From the gradients of the results to those of the inputs; `out` has one entry per edge.
  virtual void apply(std::span<const Tensor> grads, Gradients& out) = 0;
  // Drops saved values; `apply` cannot be called again.
  virtual void release_saved() {}
  // Saved values by name, for inspecting the graph.
  virtual std::vector<std::pair<const char*, Tensor>> saved_tensors() { return {}; }

  bool needs(size_t input) const {
    return input < 32 ? wanted >> input & 1 : static_cast<bool>(edges[input].node);
  }
  bool needs_any(size_t first, size_t count) const {
    for (size_t i = first; i < first + count; ++i)
      if (needs(i)) return true;
    return false;
  }
  // Whether some input needs a gradient.
  bool is_connected() const {
    for (const Edge& edge : edges)
      if (edge.node) return true;
    return false;
  }
  Hooks& hooks_or_new() {
    if (!hooks) hooks = std::make_unique<Hooks>();
    return *hooks;
  }
  // "MulBackward0, recorded by mul at file.py:12"
  std::string described() const;

  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

  static void* operator new(size_t bytes);
  static void operator delete(void* address, size_t bytes);

 protected:
  // Nothing in the graph refers to it any more.
  virtual void dispose() { delete this; }

 private:
  // Note [Dropping long graphs]: deleting a node drops its inputs' nodes; a chain of a million must
  // not recurse, so nodes that die while another is being deleted wait in a list.
  void destroy();
};

uint64_t next_sequence();

inline NodeRef::NodeRef(const NodeRef& other) : node_(other.node_) {
  if (node_) node_->retain();
}
inline NodeRef::~NodeRef() {
  if (node_) node_->drop();
}
inline NodeRef NodeRef::retain(Node* node) {
  if (node) node->retain();
  return NodeRef(node);
}

// A second backward through a node that no longer has its saved values.
[[noreturn]] void fail_released(const Node& node);

}  // namespace fb::autograd

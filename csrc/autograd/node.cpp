// Life and death of nodes.
#include "autograd/node.h"

namespace fb::autograd {
namespace {

thread_local uint64_t sequence = 0;

// Nodes that died while another one was being deleted.
thread_local std::vector<Node*> waiting;
thread_local bool is_deleting = false;

// Nodes are small, of few sizes, and come and go with every step of training: freed ones are kept
// by size for the thread that frees them.
constexpr size_t kStep = 32;
constexpr size_t kSizes = 24;
constexpr int kKept = 64;
struct NodeCache {
  void* blocks[kSizes][kKept];
  int counts[kSizes] = {};
  bool closed = false;
  ~NodeCache() {
    closed = true;
    for (size_t s = 0; s < kSizes; ++s)
      while (counts[s] > 0) ::operator delete(blocks[s][--counts[s]]);
  }
};
thread_local NodeCache cache;

}  // namespace

uint64_t next_sequence() { return ++sequence; }

void* Node::operator new(size_t bytes) {
  const size_t size = (bytes + kStep - 1) / kStep;
  if (size < kSizes && cache.counts[size] > 0) return cache.blocks[size][--cache.counts[size]];
  return ::operator new(size * kStep);
}

void Node::operator delete(void* address, size_t bytes) {
  const size_t size = (bytes + kStep - 1) / kStep;
  if (size < kSizes && !cache.closed && cache.counts[size] < kKept)
    cache.blocks[size][cache.counts[size]++] = address;
  else
    ::operator delete(address);
}

void Node::destroy() {
  if (is_deleting) {
    waiting.push_back(this);
    return;
  }
  is_deleting = true;
  dispose();
  while (!waiting.empty()) {
    Node* next = waiting.back();
    waiting.pop_back();
    next->dispose();
  }
  is_deleting = false;
}

std::string Node::described() const {
  return std::string(name()) + ", recorded by " + operator_name() + place.text();
}

void fail_released(const Node& node) {
  fail(ErrorKind::kRuntime,
       "Trying to backward through the graph a second time (or directly access saved tensors after "
       "they have already been freed). The values saved by ",
       node.operator_name(), node.place.text(), " were freed by the backward",
       node.released_at ? node.released_at->text() : std::string(),
       ". Specify retain_graph=True there if you need to backward through the graph a second time "
       "or if you need to access saved tensors after calling backward.");
}

}  // namespace fb::autograd

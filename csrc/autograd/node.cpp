// Life and death of nodes.
#include "autograd/node.h"

#include "autograd/node_streams.h"

namespace fb::autograd {
namespace {

constinit thread_local uint64_t sequence = 0;

// Nodes that died while another one was being deleted.
constinit thread_local std::vector<Node*>* waiting = nullptr;

// Nodes are small, of few sizes, and come and go with every step of training: freed ones are kept
// by size for the thread that frees them.
constexpr size_t kStep = 32;
constexpr size_t kSizes = 24;
constexpr int kKept = 512;
struct NodeCache {
  void* blocks[kSizes][kKept];
  int counts[kSizes] = {};
};
// On the heap: thread-local storage must be small to be accessed fast.
constinit thread_local NodeCache* cache = nullptr;
constinit thread_local bool has_ended = false;

struct CacheOwner {
  ~CacheOwner() {
    has_ended = true;
    for (size_t s = 0; s < kSizes; ++s)
      while (cache->counts[s] > 0) ::operator delete(cache->blocks[s][--cache->counts[s]]);
    delete std::exchange(cache, nullptr);
  }
};

NodeCache* make_cache() {
  static thread_local CacheOwner owner;
  static_cast<void>(owner);
  return cache = new NodeCache;
}

}  // namespace

uint64_t next_sequence() { return ++sequence; }

void* Node::operator new(size_t bytes) {
  const size_t size = (bytes + kStep - 1) / kStep;
  if (cache && size < kSizes && cache->counts[size] > 0)
    return cache->blocks[size][--cache->counts[size]];
  return ::operator new(size * kStep);
}

void Node::operator delete(void* address, size_t bytes) {
  const size_t size = (bytes + kStep - 1) / kStep;
  NodeCache* here = cache || has_ended ? cache : make_cache();
  if (here && size < kSizes && here->counts[size] < kKept)
    here->blocks[size][here->counts[size]++] = address;
  else
    ::operator delete(address);
}

void Node::destroy() {
  if (nodes_with_stream.load(std::memory_order_relaxed) > 0) [[unlikely]]
    forget_stream(*this);
  if (waiting) {
    waiting->push_back(this);
    return;
  }
  std::vector<Node*> list;
  waiting = &list;
  dispose();
  while (!list.empty()) {
    Node* next = list.back();
    list.pop_back();
    next->dispose();
  }
  waiting = nullptr;
}

std::string Node::described() const {
  return std::string(name()) + ", recorded by " + operator_name() + location.text();
}

void fail_released(const Node& node) {
  fail(ErrorKind::kRuntime,
       "Trying to backward through the graph a second time (or directly access saved tensors after "
       "they have already been freed). The values saved by ",
       node.operator_name(), node.location.text(), " were freed by the backward",
       node.released_at ? node.released_at->text() : std::string(),
       ". Specify retain_graph=True there if you need to backward through the graph a second time "
       "or if you need to access saved tensors after calling backward.");
}

}  // namespace fb::autograd

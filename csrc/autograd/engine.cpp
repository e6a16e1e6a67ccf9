// Runs a graph backwards.
//
// Note [The run]: one thread, no recursion. A first pass counts for every node how many of the
// nodes after it have to run before it; the second takes ready nodes, the latest operator first.
// The state of a node lies in a table of the run. The node remembers its row there, unless another
// run (of another thread, or a backward within a backward) is visiting it too: then a map does.
#include "autograd/engine.h"

#include <limits>
#include <queue>
#include <unordered_map>

#include "autograd/batch.h"
#include "autograd/deferred.h"
#include "autograd/history.h"
#include "autograd/node_streams.h"
#include "autograd/ownership.h"
#include "core/observe.h"
#include "core/profile.h"
#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/copy.h"
#include "gen/ops/create.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/host.h"
#include "ops/output.h"

namespace fb::autograd {

Anomaly anomaly;

namespace {

bool has_nan(const Tensor& t) {
  if ((!is_floating(t.dtype()) && !is_complex(t.dtype())) || t->is_promised()) return false;
  if (is_sparse(t)) return has_nan(sparse_parts(t).values);
  const GradMode off(false);
  return ops::host_number(ops::any(ops::isnan(bottom_of(t)))).to<bool>();
}

// Rethrows the exception in flight with the forward operator added to its message.
[[noreturn]] void rethrow_with_location(const Node& node) {
  const std::string where = "in the backward of " + node.described();
  try {
    throw;
  } catch (const Error& error) {
    // Some messages name the operator already.
    for (const char* named : {", recorded by ", " saved by "})
      if (std::string_view(error.what()).find(named) != std::string_view::npos) throw;
    throw Error(error.kind(), std::string(error.what()) + " (" + where + ")");
  } catch (...) {
    if (add_note) add_note(where);
    throw;
  }
}

void run_leaf_hooks(AccumulateGrad& node, Tensor& grad) {
  // Hooks may remove themselves.
  for (const TensorHook& hook : std::vector<TensorHook>(meta_of(node.variable).hooks)) {
    Tensor other = hook(grad);
    if (other) grad = std::move(other);
  }
}

void run_tensor_hooks(Node& node, Gradients& grads) {
  if (node.is_accumulator) run_leaf_hooks(static_cast<AccumulateGrad&>(node), grads[0]);
  if (!node.hooks) return;
  for (const Hooks::OnOutput& hook : std::vector<Hooks::OnOutput>(node.hooks->tensor)) {
    Tensor& grad = grads[hook.output_nr];
    if (!grad) continue;
    Tensor other = hook.call(grad);
    if (other) grad = std::move(other);
  }
  for (const Hooks::Retained& retained : node.hooks->retained) {
    const Tensor& grad = grads[retained.output_nr];
    if (!grad) continue;
    const Tensor keeper = Tensor::retain(retained.tensor);
    Tensor& target = meta_of(keeper).grad;
    if (grad->is_promised()) [[unlikely]] {
      target = grad;
      continue;
    }
    target = target ? ops::add(target, grad)
                    : (mode.grad_enabled || grad->flags & (kSparse | kBatched) || observe::any()
                           ? ops::clone(grad)
                           : ops::copy_of(grad));
  }
}

}  // namespace

Tensor fit(Tensor grad, const OutputMeta& meta, const Node& from, size_t index) {
  if (!(grad.sizes() == IntSpan(meta.sizes))) {
    const IntSpan sizes = grad.sizes();
    const size_t extra = sizes.size() - meta.sizes.size();
    bool fits = sizes.size() >= meta.sizes.size();
    Dims summed;
    for (size_t i = 0; fits && i < sizes.size(); ++i) {
      if (i < extra)
        summed.push_back(static_cast<int64_t>(i));
      else if (sizes[i] != meta.sizes[i - extra]) {
        fits = meta.sizes[i - extra] == 1;
        summed.push_back(static_cast<int64_t>(i));
      }
    }
    FB_CHECK(fits, "Function ", from.name(), " returned an invalid gradient at index ", index,
             " - got ", sizes, " but expected shape compatible with ", meta.sizes, " (",
             from.described(), ")");
    const bool adds_up = grad.numel() != numel_of(meta.sizes);  // otherwise they have size 1
    if (adds_up) grad = ops::sum(grad, IntSpan(summed), true);
    if (extra > 0 || !adds_up) grad = ops::reshape(grad, meta.sizes);
  }
  if (grad.device() != meta.device) grad = ops::to_device(grad, meta.device, std::nullopt);
  if (grad.dtype() != meta.dtype) {
    if (is_complex(grad.dtype()) && !is_complex(meta.dtype)) grad = ops::real(grad);
    if (grad.dtype() != meta.dtype) grad = ops::to_dtype(grad, meta.dtype);
  }
  return grad;
}

namespace {
constinit thread_local const Node* executing = nullptr;  // the node whose `apply` runs

class Executing {
 public:
  explicit Executing(const Node& node) : outer_(std::exchange(executing, &node)) {}
  ~Executing() { executing = outer_; }

 private:
  const Node* outer_;
};

// What profilers see of a node: its evaluation as a whole, and its `apply` alone.
class NodeSpan : public profile::Span {
 public:
  NodeSpan(profile::Kind kind, const Node& node) {
    if (profile::is_on()) [[unlikely]]
      open_as(kind, node.name(), node.sequence, node.wanted);
  }
};
}  // namespace

Gradients call(Node& node, std::span<const Tensor> grads) {
  Gradients out(node.edges.size());
  const Executing here(node);
  const NodeSpan span(profile::Kind::kNode, node);
  try {
    node.apply(grads, out);
  } catch (...) {
    rethrow_with_location(node);
  }
  return out;
}

namespace {
constinit thread_local Run* innermost = nullptr;
std::atomic<uint64_t> runs = 0;
}  // namespace

class Run {
 public:
  Run(std::span<const Edge> inputs, const BackwardOptions& options)
      : inputs_(inputs),
        options_(options),
        captured_(inputs.size()),
        number_(++runs),
        outer_(std::exchange(innermost, this)) {}

  ~Run() {
    innermost = outer_;
    for (State& state : states_) forget(state);
  }

  uint64_t number() const { return number_; }
  bool has_inputs() const { return !inputs_.empty(); }
  // Of a node that has not run yet.
  bool will_run(Node& node) {
    const uint32_t slot = slot_of(node);
    return slot != kNone && states_[slot].is_needed;
  }

  // See Note [Deferred weight gradients]. Off if hooks or checks need single gradients.
  DeferredProducts::Rows defer(const Tensor& weight, int64_t count) {
    constexpr uint32_t kWorthIt = 3;  // remaining uses of the weight
    if (!defers_for_ || weight.dim() != 2 || weight->flags & ~(kRequiresGrad | kKeepsObject) ||
        weight->base)
      return {};
    const Edge edge = gradient_edge(weight);
    const uint32_t slot = edge.node ? slot_of(*edge.node) : kNone;
    if (slot == kNone || !states_[slot].is_needed) return {};
    State& state = states_[slot];
    if (!state.deferred) {
      if (state.grads.size() != 1 || state.waits_for < kWorthIt) return {};
      state.deferred = std::make_unique<DeferredProducts>();
    }
    return state.deferred->append(count, weight.size(0), weight.size(1), weight.dtype(),
                                  weight.device(), state.grads[edge.output_nr]);
  }

  // The same for an input of the node that is executing, if that is a leaf.
  DeferredProducts::Rows defer(const Node& node, size_t input, int64_t count) {
    const Node* const leaf = node.edges[input].node.get();
    if (&node != defers_for_ || !leaf || !leaf->is_accumulator) return {};
    return defer(static_cast<const AccumulateGrad*>(leaf)->variable, count);
  }

  std::vector<Tensor> operator()(std::span<const Edge> roots, std::span<const Tensor> grads) {
    count(roots);
    if (!inputs_.empty()) mark_needed(roots);
    for (size_t i = 0; i < roots.size(); ++i)
      if (roots[i].node)
        add(state_of(*roots[i].node), roots[i].output_nr,
            fit(grads[i], roots[i].node->outputs[roots[i].output_nr], *roots[i].node, i));
    for (const Edge& root : roots) {
      if (!root.node) continue;
      const uint32_t slot = slot_of(*root.node);
      if (states_[slot].waits_for == 0 && !states_[slot].is_queued) enqueue(slot);
    }
    for (uint64_t steps = 1; !ready_.empty(); ++steps) {
      const uint32_t slot = ready_.top().second;
      ready_.pop();
      step(slot);
      if (check_interrupt && steps % 64 == 0) check_interrupt();
    }
    streams_.keep_for_caller(captured_);
    return captured_;
  }

 private:
  struct State {
    NodeRef node;
    Gradients grads;
    std::unique_ptr<DeferredProducts> deferred;  // of its only result
    uint32_t waits_for = 0;                      // edges that still have to be followed to it
    bool is_queued = false;
    bool is_needed = true;
    bool is_input = false;
  };

  uint32_t slot_of(Node& node) {
    if (node.run == this) [[likely]]
      return node.run_slot;
    const auto found = elsewhere_.find(&node);
    return found != elsewhere_.end() ? found->second : kNone;
  }
  State& state_of(Node& node) { return states_[slot_of(node)]; }

  uint32_t visit(Node& node) {
    const auto slot = static_cast<uint32_t>(states_.size());
    State& state = states_.emplace_back();
    state.node = NodeRef::retain(&node);
    state.grads.resize(node.outputs.size());
    if (!node.run) {
      node.run = this;
      node.run_slot = slot;
    } else {
      elsewhere_[&node] = slot;
    }
    return slot;
  }

  void forget(State& state) {
    if (!state.node) return;
    if (state.node->run == this) state.node->run = nullptr;
    state.node = NodeRef();
  }

  // A node that was recorded before all of the inputs cannot lead to one.
  uint64_t earliest_input() const {
    if (inputs_.empty()) return 0;
    uint64_t earliest = std::numeric_limits<uint64_t>::max();
    for (const Edge& input : inputs_) {
      if (!input.node || input.node->is_accumulator) return 0;
      earliest = std::min(earliest, input.node->sequence);
    }
    return earliest;
  }

  // Finds all nodes, and how many edges lead to each.
  void count(std::span<const Edge> roots) {
    const uint64_t earliest = earliest_input();
    for (const Edge& root : roots)
      if (root.node && slot_of(*root.node) == kNone) visit(*root.node);
    for (size_t next = 0; next < states_.size(); ++next) {
      const NodeRef node = states_[next].node;  // states_ grows below
      for (const Edge& edge : node->edges) {
        if (!edge.node || edge.node->sequence < earliest) continue;
        uint32_t slot = slot_of(*edge.node);
        if (slot == kNone) slot = visit(*edge.node);
        ++states_[slot].waits_for;
      }
    }
  }

  // The nodes that lead to one of the inputs are needed.
  void mark_needed(std::span<const Edge> roots) {
    for (State& state : states_) state.is_needed = false;
    for (const Edge& input : inputs_)
      if (input.node)
        if (const uint32_t slot = slot_of(*input.node); slot != kNone)
          states_[slot].is_input = true;
    struct Frame {
      uint32_t slot;
      size_t edge;
    };
    std::vector<Frame> path;
    std::vector<bool> entered(states_.size());
    for (const Edge& root : roots) {
      if (!root.node || entered[slot_of(*root.node)]) continue;
      path.push_back({slot_of(*root.node), 0});
      entered[path.back().slot] = true;
      while (!path.empty()) {
        Frame& frame = path.back();
        const Node& node = *states_[frame.slot].node;
        if (frame.edge < node.edges.size()) {
          const Edge& edge = node.edges[frame.edge++];
          const uint32_t slot = edge.node ? slot_of(*edge.node) : kNone;
          if (slot == kNone || entered[slot]) continue;
          entered[slot] = true;
          path.push_back({slot, 0});
          continue;
        }
        State& state = states_[frame.slot];
        state.is_needed = state.is_input;
        state.is_needed |= leads_on(node);
        path.pop_back();
      }
    }
  }

  void enqueue(uint32_t slot) {
    states_[slot].is_queued = true;
    ready_.push({states_[slot].node->sequence, slot});
  }

  void add(State& state, uint32_t output_nr, Tensor grad) {
    Tensor& sum = state.grads[output_nr];
    if (!sum) {
      sum = std::move(grad);
      return;
    }
    if (sum->is_promised() || grad->is_promised()) [[unlikely]] {
      if (!sum->is_promised()) sum = std::move(grad);
      return;
    }
    streams_.read(sum);
    // A sum that was made here can be changed in place.
    const bool is_ours = !options_.create_graph && sum->refs == 1 && !sum->python_object &&
                         !sum->flags && sum->storage->refs == 1 &&
                         is_own_memory(*sum->storage.get()) && !grad->flags &&
                         is_dense(sum.sizes(), sum.strides());
    if (is_ours)
      ops::add_(sum, grad);
    else if (is_sparse(sum) && !is_sparse(grad))
      sum = ops::add(grad, sum);
    else
      sum = ops::add(sum, grad);
  }

  void step(uint32_t slot) {
    const NodeRef node = states_[slot].node;
    const NodeSpan span(profile::Kind::kEvaluation, *node);
    if (states_[slot].deferred) states_[slot].deferred->flush(states_[slot].grads[0]);
    Gradients grads = std::move(states_[slot].grads);
    bool any = false;
    for (const Tensor& grad : grads) any |= grad.defined();
    if (any) streams_.enter(*node, {grads.data(), grads.size()});
    Gradients results(node->edges.size());
    if (any) results = execute(slot, *node, grads);
    forget(states_[slot]);
    pass_on(*node, results);
  }

  Gradients execute(uint32_t slot, Node& node, Gradients& grads) {
    if (node.hooks || node.is_accumulator)
      with_location(node, [&] { run_tensor_hooks(node, grads); });
    const bool is_input = states_[slot].is_input;
    if (is_input) capture(node, grads);
    const bool runs = inputs_.empty() || leads_on(node) ||
                      (is_input && options_.accumulate && node.edges.empty());
    if (!runs) return Gradients(node.edges.size());
    if (node.hooks)
      with_location(node, [&] {
        for (const NodePreHook& hook : std::vector<NodePreHook>(node.hooks->before)) hook(grads);
      });
    const std::span<const Tensor> given(grads.data(), grads.size());
    const bool may_defer = !options_.create_graph && !node.hooks && !anomaly.enabled;
    defers_for_ = may_defer ? &node : nullptr;
    Gradients results = call(node, given);
    defers_for_ = nullptr;
    if (node.hooks)
      with_location(node, [&] {
        for (const NodePostHook& hook : std::vector<NodePostHook>(node.hooks->after))
          hook(results, given);
      });
    if (anomaly.enabled && anomaly.check_nan) refuse_nan(node, results);
    if (!options_.keep_graph && !node.released) {
      node.release_saved();
      node.released = node.edges.size() > 0;
      if (!here_) here_ = interned_location();
      node.released_at = here_;
    }
    return results;
  }

  template <class F>
  static void with_location(const Node& node, F&& f) {
    try {
      f();
    } catch (...) {
      rethrow_with_location(node);
    }
  }

  static void refuse_nan(const Node& node, const Gradients& results) {
    for (size_t i = 0; i < results.size(); ++i)
      FB_CHECK(!results[i] || !has_nan(results[i]), "Function '", node.name(),
               "' returned nan values in its ", i, "th output. The forward call was ",
               node.operator_name(), node.location.text(), " (", node.described(), ")");
  }

  bool leads_on(const Node& node) {
    for (const Edge& edge : node.edges) {
      const uint32_t slot = edge.node ? slot_of(*edge.node) : kNone;
      if (slot != kNone && states_[slot].is_needed) return true;
    }
    return false;
  }

  void capture(Node& node, const Gradients& grads) {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].node.get() == &node && grads[inputs_[i].output_nr])
        captured_[i] = grads[inputs_[i].output_nr];
  }

  void pass_on(Node& node, Gradients& results) {
    for (size_t i = 0; i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      const uint32_t slot = edge.node ? slot_of(*edge.node) : kNone;
      if (slot == kNone) continue;
      State& state = states_[slot];
      if (results[i] && state.is_needed) {
        Tensor grad = std::move(results[i]);
        const OutputMeta& meta = edge.node->outputs[edge.output_nr];
        if (grad.dtype() != meta.dtype || grad.device() != meta.device ||
            !(grad.sizes() == IntSpan(meta.sizes)))
          grad = fit(std::move(grad), meta, node, i);
        add(state, edge.output_nr, std::move(grad));
      }
      if (--state.waits_for == 0) enqueue(slot);
    }
  }

  static constexpr uint32_t kNone = ~0u;

  std::span<const Edge> inputs_;
  const BackwardOptions& options_;
  std::vector<Tensor> captured_;
  std::vector<State> states_;
  std::unordered_map<Node*, uint32_t> elsewhere_;
  std::priority_queue<std::pair<uint64_t, uint32_t>> ready_;
  const SourceLocation* here_ = nullptr;
  const Node* defers_for_ = nullptr;  // the node that may leave work to the run
  RunStreams streams_;
  uint64_t number_;
  Run* outer_;  // that this one is nested in
};

uint64_t current_run() { return innermost ? innermost->number() : 0; }
bool run_has_inputs() { return innermost && innermost->has_inputs(); }
bool will_run(Node& node) { return innermost && innermost->will_run(node); }

DeferredProducts::Rows defer_weight_gradient(const Tensor& weight, int64_t count) {
  if (!innermost || count == 0 || count > DeferredProducts::kMostRows) return {};
  return innermost->defer(weight, count);
}

DeferredProducts::Rows defer_input_gradient(size_t input, int64_t count) {
  if (!innermost || !executing || count == 0 || count > DeferredProducts::kMostRows) return {};
  return innermost->defer(*executing, input, count);
}

std::vector<Tensor> backward(std::span<const Edge> roots, std::span<const Tensor> grads,
                             std::span<const Edge> inputs, const BackwardOptions& options) {
  const GradMode recording(options.create_graph);
  // Gradients computed from tensors that require gradients have no history, for this reason.
  if (!options.create_graph) mode.cut = cut_here("backward without create_graph");
  return Run(inputs, options)(roots, grads);
}

}  // namespace fb::autograd

// What the generated operators call to record themselves.
//
// Note [The fast path]: an operator looks at the flags of its inputs. If there are none, it just
// computes. Otherwise a Recorder finds out whether gradients are wanted, whether a tangent or a
// batch has to be carried along, or whether there is nothing to do after all.
#pragma once

#include "autograd/saved.h"
#include "autograd/window.h"

namespace fb::autograd {

using ops::Operand;

// Next to the flags of a tensor: its elements are not in the host's memory.
constexpr unsigned kElsewhere = 256;

inline bool takes_fast_path(const TensorImpl* t) {
  return t->device.type == DeviceType::kCpu &&
         (!t->flags || (t->flags == kIsView && !t->base->flags));
}
inline bool takes_fast_path(const Tensor& t) { return !t || takes_fast_path(t.get()); }
inline bool takes_fast_path(const Operand& o) {
  return !o.is_tensor() || takes_fast_path(o.tensor().get());
}
inline bool takes_fast_path(TensorList list) {
  for (const Tensor& t : list)
    if (!takes_fast_path(t)) return false;
  return true;
}
inline bool takes_fast_path(const std::optional<TensorList>& list) {
  return !list || takes_fast_path(*list);
}

// Whether there is nothing to do but to compute, although some input has flags: recording is off,
// and there are neither tangents nor batches.
inline unsigned flags_of(const Tensor& t) {
  if (!t) return 0;
  const unsigned elsewhere = t->device.type == DeviceType::kCpu ? 0u : kElsewhere;
  return elsewhere | (t->base ? t->flags | (t->base->flags & kDual) : t->flags);
}
inline unsigned flags_of(const Operand& o) { return o.is_tensor() ? flags_of(o.tensor()) : 0u; }
inline unsigned flags_of(TensorList list) {
  unsigned flags = 0;
  for (const Tensor& t : list) flags |= flags_of(t);
  return flags;
}
inline unsigned flags_of(const std::optional<TensorList>& list) {
  return list ? flags_of(*list) : 0u;
}

inline bool is_idle(unsigned flags) { return !(flags & (kBatched | kDual)) && !is_recording(); }
// Notes where the history of what was computed then was cut off.
inline Tensor cut_off(Tensor result, unsigned flags) {
  if (flags & (kRequiresGrad | kCut) && !mode.quiet && !result->flags) {
    result->cut = mode.cut;
    result->flags |= kCut;
  }
  return result;
}
template <class T>
T cut_off(T results, unsigned) {
  return results;
}

inline bool wants_grad(const Tensor& t) { return t && requires_grad(t); }
inline bool wants_grad(const Operand& o) { return o.is_tensor() && wants_grad(o.tensor()); }
inline bool wants_grad(TensorList list) {
  for (const Tensor& t : list)
    if (wants_grad(t)) return true;
  return false;
}
inline bool wants_grad(const std::optional<TensorList>& list) { return list && wants_grad(*list); }

class Recorder {
 public:
  Recorder() : records_(is_recording()) {}

  // The tensor arguments of the operator, in their order.
  void input(const Tensor& t);
  void input(const Operand& o) {
    if (o.is_tensor())
      input(o.tensor());
    else
      input(Tensor());
  }
  void inputs(TensorList list) {
    for (const Tensor& t : list) input(t);
  }
  void inputs(const std::optional<TensorList>& list) {
    if (list) inputs(*list);
  }

  bool wants_node() const { return wants_node_; }
  bool needs(size_t input) const { return input < 32 && wanted_ >> input & 1; }
  bool needs_any(size_t first, size_t count) const {
    for (size_t i = first; i < first + count; ++i)
      if (i >= 32 ? wants_beyond_ : needs(i)) return true;
    return false;
  }

  template <class N>
  N* make() {
    N* node = new N;
    prepare(node);
    return node;
  }

  // Nothing was recorded: notes why, for later error messages.
  Tensor pass(Tensor result) const {
    note_cut(result);
    return result;
  }
  template <class... T>
  std::tuple<T...> pass(std::tuple<T...> results) const {
    std::apply([&](const auto&... r) { (note_cut(r), ...); }, results);
    return results;
  }
  template <class V>
    requires std::is_base_of_v<std::vector<Tensor>, V>
  V pass(V results) const {
    for (const Tensor& r : results) note_cut(r);
    return results;
  }

  // Makes the tensors results of the node; those whose bit is not set have no gradient.
  void attach(const NodeRef& node, TensorList results, uint32_t differentiable = ~0U) const;
  void attach(const NodeRef& node, const Tensor& result) const { attach(node, list_of(result)); }
  // The operator has changed `self`.
  void attach_inplace(const NodeRef& node, const Tensor& self) const;

  // The levels of tangents, the lowest first, and the results' tangents at one of them.
  std::vector<int64_t> levels() const { return duals_ ? duals_->levels() : std::vector<int64_t>(); }
  void carry(const NodeRef& node, TensorList results, int64_t level,
             uint32_t differentiable = ~0U) const {
    duals_->carry(*node, results, level, differentiable);
  }
  void carry(const NodeRef& node, const Tensor& result, int64_t level) const {
    carry(node, list_of(result), level);
  }
  void carry_inplace(const NodeRef& node, const Tensor& self, int64_t level) const {
    duals_->carry_inplace(*node, self, level);
  }

  // Both, where the node saves none of its results.
  void finish(const NodeRef& node, TensorList results, uint32_t differentiable = ~0U) const {
    attach(node, results, differentiable);
    if (duals_) [[unlikely]]
      for (const int64_t level : levels()) carry(node, results, level, differentiable);
  }
  void finish(const NodeRef& node, const Tensor& result) const { finish(node, list_of(result)); }
  void finish_inplace(const NodeRef& node, const Tensor& self) const {
    attach_inplace(node, self);
    if (duals_) [[unlikely]]
      for (const int64_t level : levels()) carry_inplace(node, self, level);
  }
  // The same for views of the first input; `again` makes the same view of another tensor.
  template <class R, class F>
  void finish_view(const NodeRef& node, const R& results, F&& again) const {
    attach(node, list_of(results));
    if (duals_) [[unlikely]]
      duals_->carry_views(list_of(results), [&](const Tensor& on) {
        const R windows = again(on);
        const TensorList list = list_of(windows);
        return std::vector<Tensor>(list.begin(), list.end());
      });
  }

 private:
  static TensorList list_of(const Tensor& t) { return {&t, 1}; }
  static TensorList list_of(const std::vector<Tensor>& list) { return list; }
  void note_dual(size_t index, const Tensor& t);
  void prepare(Node* node);
  void note_cut(const Tensor& result) const;

  bool records_;
  bool wants_node_ = false;
  bool connects_ = false;      // some input has an edge
  bool wants_beyond_ = false;  // one of the inputs that have no bit in `wanted_`
  uint32_t wanted_ = 0;
  uint32_t count_ = 0;
  const Cut* cut_ = nullptr;
  decltype(Node::edges) edges_;
  std::unique_ptr<DualInputs> duals_;
};

// A view of a view of another type is made again in the same way.
void follow_replay(const Tensor& input, const Tensor& view);

// The origin of a view, which is `recorded` if recording is on.
inline ViewOrigin origin_now(ViewOrigin recorded) {
  if (mode.inference) return ViewOrigin::kInference;
  return mode.grad_enabled ? recorded : ViewOrigin::kNoGrad;
}

// Registers a result as a view of `input`, unless the operator had to copy.
inline Tensor as_view_of(const Tensor& input, Tensor result) {
  link_view(result, input, origin_now(ViewOrigin::kRecorded));
  if (input->autograd) [[unlikely]]
    follow_replay(input, result);
  return result;
}
template <class V>
V as_views_of(const Tensor& input, V results) {
  for (const Tensor& r : results) link_view(r, input, origin_now(ViewOrigin::kOneOfMany));
  if (input->autograd) [[unlikely]]
    for (const Tensor& r : results) follow_replay(input, r);
  return results;
}

// The same for a view of another element type, which `again` makes from the tensor itself.
Tensor as_retyped_view_of(const Tensor& input, Tensor result,
                          std::function<Tensor(const Tensor&)> again);

// A view of an operator's own temporary is a tensor like any other.
inline Tensor owned(Tensor result) {
  if (result && result->base && result->refs.load(std::memory_order_relaxed) == 1) [[unlikely]]
    forget_base(result);
  return result;
}
template <class... T>
std::tuple<T...> owned(std::tuple<T...> results) {
  return std::apply([](auto&&... r) { return std::tuple<T...>(owned(std::move(r))...); },
                    std::move(results));
}
template <class T>
T owned(T result) {
  return result;
}

// Runs what an operator computes by itself.
template <class F>
auto quietly(F&& f) {
  const Quiet quiet;
  return f();
}

[[noreturn]] void refuse_derivative(const char* name);
[[noreturn]] void refuse_out(const char* name);
[[noreturn]] void refuse_batched_out(const char* name);
[[noreturn]] void refuse_batched_lists(const char* name);

// --- what nodes keep of arguments

inline Dims shape_of(const Tensor& t) { return t ? t.sizes().vec() : Dims(); }
inline Dims shape_of(const Operand& o) { return o.is_tensor() ? o.tensor().sizes().vec() : Dims(); }
inline std::vector<Dims> shape_of(TensorList list) {
  std::vector<Dims> shapes;
  for (const Tensor& t : list) shapes.push_back(shape_of(t));
  return shapes;
}
inline Window window_of(const Tensor& t) { return {shape_of(t), t.strides().vec(), t.offset()}; }
inline DType dtype_of(const Tensor& t) { return t.dtype(); }
inline DType dtype_of(const Operand& o) {
  return o.is_tensor() ? o.tensor().dtype() : o.scalar().dtype();
}
// Whether matrices are column-major.
inline bool is_by_columns(const Tensor& t) {
  return t.dim() >= 2 && !t.is_contiguous() && t.stride(-2) == 1;
}
inline size_t count_of(TensorList list) { return list.size(); }
inline size_t count_of(const std::optional<TensorList>& list) { return list ? list->size() : 0; }

template <class T, class U>
void keep(T& member, const U& value) {
  member = value;
}
inline void keep(Dims& member, IntSpan value) { member = value.vec(); }
inline void keep(std::optional<Dims>& member, const std::optional<IntSpan>& value) {
  if (value) member = value->vec();
}

// The gradients of a list of inputs.
inline void spread(const std::vector<Tensor>& gradients, Gradients& out, size_t first) {
  for (size_t i = 0; i < gradients.size(); ++i) out[first + i] = gradients[i];
}

// Of a result that got no gradient: zeros.
Tensor grad_or_zeros(const Tensor& grad, const OutputMeta& meta);

}  // namespace fb::autograd

// One layer of a recurrent network, backwards.
#include <algorithm>
#include <vector>

#include "core/tensor.h"
#include "cpu/rnn_parallel.h"

namespace fb::cpu {
namespace {

template <class T>
class Backward {
 public:
  explicit Backward(const RnnLayerBackward& call)
      : call_(call), s_(call.sizes), cut_(call.steps, call.sizes, sizeof(T)) {
    for (int64_t d = 0; d < s_.directions; ++d) directions_.push_back(direction(d));
  }

  void run() {
    const BlockingRegion unlocked(s_.rows * s_.weights() * s_.outputs > kRnnWorthThread);
    if (is_in_blocks()) return run_blocks();
    cut_.for_sequences(call_.steps, s_.directions, [&](int64_t d, int64_t first, int64_t last) {
      FB_KERNEL(rnn_backward<T>)(directions_[static_cast<size_t>(d)], first, last);
    });
  }

 private:
  T* room(int64_t elements) {
    room_.push_back(make_tensor({elements}, call_.dtype, kHost));
    return room_.back().template data_as<T>();
  }

  const T* packed(int64_t k, int64_t n, const T* from) {
    T* to = room(packed_elements(k, n));
    pack_on_threads<T>({k, n, from, n, false, is_wide()}, to);
    return to;
  }

  // The recurrent weights in the order of rows.
  const T* ordered(const T* w_hh) {
    if (s_.kind != RnnKind::kGru) return w_hh;
    const int64_t gate = s_.hidden * s_.outputs;
    T* moved = room(s_.weights() * s_.outputs);  // n goes first
    std::copy(w_hh + 2 * gate, w_hh + 3 * gate, moved);
    std::copy(w_hh, w_hh + 2 * gate, moved + gate);
    return moved;
  }

  bool is_wide() const { return needs_wide_panels(s_.batch); }
  bool is_in_blocks() const { return cut_.shares_steps() && !call_.parameters[0].w_hr; }

  void run_blocks() {
    RnnBlocks<T> blocks{};
    blocks.units = cut_.units();
    blocks.packed_block = packed_elements(s_.weights(), cut_.units());
    T* const packed = room(cut_.blocks(s_.hidden) * blocks.packed_block);
    blocks.packed = packed;
    for (int64_t d = 0; d < s_.directions; ++d) {
      const T* const w_hh = ordered(static_cast<const T*>(call_.parameters[d].w_hh));
      cut_.for_blocks(s_.hidden, [&](int64_t block) {
        const int64_t first = block * cut_.units();
        const int64_t units = std::min(cut_.units(), s_.hidden - first);
        FB_KERNEL(pack_matrix<T>)
        ({s_.weights(), units, w_hh + first, s_.outputs, false, is_wide()},
         packed + block * blocks.packed_block);
      });
      for (int64_t s = call_.steps.count - 1; s >= -1; --s)
        cut_.for_blocks(s_.hidden, [&](int64_t block) {
          FB_KERNEL(rnn_backward_block<T>)(directions_[static_cast<size_t>(d)], blocks, s, block);
        });
    }
  }

  RnnBackward<T> direction(int64_t d) {
    const RnnParameters& w = call_.parameters[d];
    const RnnRowGradients& gradients = call_.gradients[d];
    RnnBackward<T> b{};
    b.kind = s_.kind;
    b.steps = call_.steps;
    b.reverse = d == 1;
    b.hidden = s_.hidden;
    b.outputs = s_.outputs;
    b.row = call_.row;
    b.rows = static_cast<const T*>(call_.rows) + d * s_.rows * call_.row;
    b.wide = is_wide();
    if (!is_in_blocks())
      b.recurrent = packed(s_.weights(), s_.outputs, ordered(static_cast<const T*>(w.w_hh)));
    if (call_.d_out) {
      b.d_out_row = s_.directions * s_.outputs;
      b.d_out = static_cast<const T*>(call_.d_out) + d * s_.outputs;
    }
    b.d_h = static_cast<T*>(call_.d_h) + d * s_.batch * s_.outputs;
    if (call_.d_c) b.d_c = static_cast<T*>(call_.d_c) + d * s_.batch * s_.hidden;
    b.d_gates_row = call_.d_gates_row;
    b.d_gates = static_cast<T*>(gradients.d_gates);
    if (w.w_hr) {
      b.projection = packed(s_.outputs, s_.hidden, static_cast<const T*>(w.w_hr));
      b.d_projected = static_cast<T*>(gradients.d_projected);
      b.unprojected = static_cast<T*>(gradients.unprojected);
      b.d_unprojected = room(s_.batch * s_.hidden);
    }
    return b;
  }

  const RnnLayerBackward& call_;
  const RnnLayerSizes& s_;
  RnnCut cut_;
  std::vector<Tensor> room_;
  std::vector<RnnBackward<T>> directions_;
};

}  // namespace

void rnn_layer_backward(const RnnLayerBackward& call) {
  visit_floating(call.dtype, [&](auto tag) { Backward<typename decltype(tag)::type>{call}.run(); });
}

}  // namespace fb::cpu

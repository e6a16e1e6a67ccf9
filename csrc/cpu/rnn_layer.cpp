// One layer of a recurrent network, forwards.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/tensor.h"
#include "cpu/gemm.h"
#include "cpu/rnn_bias.h"
#include "cpu/rnn_parallel.h"

namespace fb::cpu {
namespace {

template <class T>
class Forward {
 public:
  explicit Forward(const RnnLayerForward& call)
      : call_(call), s_(call.sizes), cut_(call.steps, call.sizes, sizeof(T)) {
    for (int64_t d = 0; d < s_.directions; ++d) {
      const RnnParameters& w = call.parameters[d];
      input_share(w, rows_of(d));
      directions_.push_back(direction(d, w));
    }
  }

  void run() {
    const BlockingRegion unlocked(s_.rows * s_.weights() * s_.outputs > kRnnWorthThread);
    if (is_in_blocks()) return run_blocks();
    cut_.for_sequences(call_.steps, s_.directions, [&](int64_t d, int64_t first, int64_t last) {
      FB_KERNEL(rnn_forward<T>)(directions_[static_cast<size_t>(d)], first, last);
    });
  }

 private:
  T* rows_of(int64_t d) const { return static_cast<T*>(call_.rows) + d * s_.rows * call_.row; }

  void input_share(const RnnParameters& w, T* rows) const {
    const std::vector<T> bias = joint_bias<T>(s_, w);
    gemm({.dtype = call_.dtype,
          .batch = 1,
          .m = s_.rows,
          .n = s_.weights(),
          .k = s_.inputs,
          .a = {call_.input, s_.inputs},
          .b = {w.w_ih, s_.inputs, true},
          .c = {rows + s_.first_input(), call_.row},
          .bias = bias.empty() ? nullptr : bias.data()});
  }

  T* room(int64_t elements) {
    room_.push_back(make_tensor({elements}, call_.dtype, kHost));
    return room_.back().template data_as<T>();
  }

  const T* packed_recurrent(const T* w_hh) {
    T* packed = room(packed_elements(s_.outputs, s_.weights()));
    if (s_.kind == RnnKind::kGru) {  // n goes first
      T* ordered = room(s_.weights() * s_.outputs);
      const int64_t gate = s_.hidden * s_.outputs;
      std::memcpy(ordered, w_hh + 2 * gate, static_cast<size_t>(gate) * sizeof(T));
      std::memcpy(ordered + gate, w_hh, static_cast<size_t>(2 * gate) * sizeof(T));
      w_hh = ordered;
    }
    pack_on_threads<T>({s_.outputs, s_.weights(), w_hh, s_.outputs, true, is_wide()}, packed);
    return packed;
  }

  bool is_wide() const { return needs_wide_panels(s_.batch); }
  bool is_in_blocks() const { return cut_.shares_steps() && !call_.parameters[0].w_hr; }

  // The weights of a block's units, of all gates in the order of rows.
  void pack_block(const T* w_hh, int64_t block, T* packed) const {
    const int64_t first = block * cut_.units(), k = s_.outputs;
    const int64_t units = std::min(cut_.units(), s_.hidden - first);
    const int64_t gates = s_.weights() / s_.hidden;
    std::vector<T> own(static_cast<size_t>(gates * units * k));
    for (int64_t g = 0; g < gates; ++g) {
      const int64_t gate = s_.kind == RnnKind::kGru ? (g + 2) % 3 : g;  // n goes first
      std::copy_n(w_hh + (gate * s_.hidden + first) * k, units * k, own.data() + g * units * k);
    }
    FB_KERNEL(pack_matrix<T>)({k, gates * units, own.data(), k, true, is_wide()}, packed);
  }

  void run_blocks() {
    const int64_t count = cut_.blocks(s_.hidden), state = s_.batch * s_.hidden;
    RnnBlocks<T> blocks{};
    blocks.units = cut_.units();
    blocks.packed_block = packed_elements(s_.outputs, s_.weights() / s_.hidden * cut_.units());
    blocks.gates_block = s_.batch * s_.gates() / s_.hidden * cut_.units();
    blocks.gates = room(count * blocks.gates_block);
    T* const packed = room(count * blocks.packed_block);
    T* const other = room(state);
    blocks.packed = packed;
    for (int64_t d = 0; d < s_.directions; ++d) {
      const RnnForward<T>& f = directions_[static_cast<size_t>(d)];
      const T* const w_hh = static_cast<const T*>(call_.parameters[d].w_hh);
      cut_.for_blocks(s_.hidden, [&](int64_t block) {
        pack_block(w_hh, block, packed + block * blocks.packed_block);
      });
      // Sequences begin and end at different steps: both hold the first state.
      std::copy_n(f.h, state, other);
      blocks.h[0] = f.h;
      blocks.h[1] = other;
      for (int64_t s = 0; s < call_.steps.count; ++s)
        cut_.for_blocks(s_.hidden, [&](int64_t block) {
          FB_KERNEL(rnn_forward_block<T>)(f, blocks, s, block);
        });
      take_last_states(f, other);
    }
  }

  // Copies the last states that ended in the other array.
  void take_last_states(const RnnForward<T>& f, const T* other) const {
    int64_t length = call_.steps.count;
    for (int64_t b = 0; b < s_.batch; ++b) {
      while (length > 0 && call_.steps.active[length - 1] <= b) --length;
      const int64_t steps = f.reverse ? call_.steps.count : length;
      if (steps % 2 == 1) std::copy_n(other + b * s_.hidden, s_.hidden, f.h + b * s_.hidden);
    }
  }

  RnnForward<T> direction(int64_t d, const RnnParameters& w) {
    RnnForward<T> f{};
    f.kind = s_.kind;
    f.steps = call_.steps;
    f.reverse = d == 1;
    f.hidden = s_.hidden;
    f.outputs = s_.outputs;
    f.rows = rows_of(d);
    f.row = call_.row;
    f.keep = call_.keep;
    f.wide = is_wide();
    if (!is_in_blocks()) f.recurrent = packed_recurrent(static_cast<const T*>(w.w_hh));
    if (w.w_hr) {
      T* packed = room(packed_elements(s_.hidden, s_.outputs));
      pack_on_threads<T>(
          {s_.hidden, s_.outputs, static_cast<const T*>(w.w_hr), s_.hidden, true, is_wide()},
          packed);
      f.projection = packed;
      f.unprojected = room(s_.batch * s_.hidden);
    }
    if (s_.kind == RnnKind::kGru && w.b_hh)
      f.state_bias = static_cast<const T*>(w.b_hh) + 2 * s_.hidden;
    f.h = static_cast<T*>(call_.h) + d * s_.batch * s_.outputs;
    if (s_.has_cells()) f.c = static_cast<T*>(call_.c) + d * s_.batch * s_.hidden;
    f.out = static_cast<T*>(call_.out) + d * s_.outputs;
    f.out_row = s_.directions * s_.outputs;
    return f;
  }

  const RnnLayerForward& call_;
  const RnnLayerSizes& s_;
  RnnCut cut_;
  std::vector<Tensor> room_;
  std::vector<RnnForward<T>> directions_;
};

}  // namespace

void rnn_layer_forward(const RnnLayerForward& call) {
  visit_floating(call.dtype, [&](auto tag) { Forward<typename decltype(tag)::type>{call}.run(); });
}

}  // namespace fb::cpu

// One layer of a recurrent network, forwards.
#include <cstring>

#include "core/tensor.h"
#include "cpu/gemm.h"
#include "cpu/packed_gemm.h"
#include "cpu/rnn_bias.h"
#include "cpu/rnn_parallel.h"

namespace fb::cpu {
namespace {

template <class T>
class Forward {
 public:
  explicit Forward(const RnnLayerForward& call) : call_(call), s_(call.sizes) {
    for (int64_t d = 0; d < s_.directions; ++d) {
      const RnnParameters& w = call.parameters[d];
      input_share(w, rows_of(d));
      directions_.push_back(direction(d, w));
    }
  }

  void run() const {
    const int64_t work = s_.weights() * s_.outputs;
    for_sequences(call_.steps, s_.rows, s_.directions, work,
                  [&](int64_t d, int64_t first, int64_t last) {
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
    FB_KERNEL(pack_matrix<T>)({s_.outputs, s_.weights(), w_hh, s_.outputs, true}, packed);
    return packed;
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
    f.recurrent = packed_recurrent(static_cast<const T*>(w.w_hh));
    if (w.w_hr) {
      T* packed = room(packed_elements(s_.hidden, s_.outputs));
      FB_KERNEL(pack_matrix<T>)
      ({s_.hidden, s_.outputs, static_cast<const T*>(w.w_hr), s_.hidden, true}, packed);
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
  std::vector<Tensor> room_;
  std::vector<RnnForward<T>> directions_;
};

}  // namespace

void rnn_layer_forward(const RnnLayerForward& call) {
  visit_floating(call.dtype, [&](auto tag) { Forward<typename decltype(tag)::type>{call}.run(); });
}

}  // namespace fb::cpu

// One step of a recurrent cell, forwards and backwards.
#include "cpu/gemm.h"
#include "cpu/packed_gemm.h"
#include "cpu/rnn_bias.h"
#include "cpu/threads.h"

namespace fb::cpu {
namespace {

// Up to this many samples, reading the weights in place beats a library, which packs them first.
constexpr int64_t kFewSamples = 16;

// n columns of C from `a` (rows of k) and n rows of weights.
template <class T>
void add_share(int64_t m, int64_t n, int64_t k, const T* a, const T* w, const T* bias, T* c,
               int64_t c_row, bool accumulate) {
  if (m <= kFewSamples) {
    const int64_t grain = std::max<int64_t>(4 * kGrain / (m * k + 1), 64);
    parallel_for(n, grain, [&](int64_t begin, int64_t end) {
      FB_KERNEL(dot_products<T>)
      ({m, end - begin, k, a, k, w + begin * k, k, c + begin, c_row, bias ? bias + begin : nullptr,
        accumulate});
    });
    return;
  }
  gemm({.dtype = std::is_same_v<T, float> ? DType::kFloat32 : DType::kFloat64,
        .batch = 1,
        .m = m,
        .n = n,
        .k = k,
        .a = {a, k},
        .b = {w, k, true},
        .c = {c, c_row},
        .accumulate = accumulate,
        .bias = bias});
}

template <class T>
void forward(const RnnCellForward& call) {
  const RnnSizes& s = call.sizes;
  const RnnParameters& w = call.parameters;
  const std::vector<T> biases = joint_bias<T>(s, w);
  T* const rows = static_cast<T*>(call.gates);
  T* const h = static_cast<T*>(call.h);
  const int64_t row = s.gates(), hidden = s.hidden;
  const T* const recurrent = static_cast<const T*>(w.w_hh);
  add_share<T>(s.batch, s.weights(), s.inputs, static_cast<const T*>(call.input),
               static_cast<const T*>(w.w_ih), biases.empty() ? nullptr : biases.data(),
               rows + s.first_input(), row, false);
  if (s.kind == RnnKind::kGru) {
    add_share<T>(s.batch, 2 * hidden, hidden, h, recurrent, nullptr, rows + hidden, row, true);
    const T* const bias = w.b_hh ? static_cast<const T*>(w.b_hh) + 2 * hidden : nullptr;
    add_share<T>(s.batch, hidden, hidden, h, recurrent + 2 * hidden * hidden, bias, rows, row,
                 false);
  } else {
    add_share<T>(s.batch, s.weights(), hidden, h, recurrent, nullptr, rows, row, true);
  }
  FB_KERNEL(rnn_gates<T>)
  ({s.kind, s.batch, hidden, rows, row, hidden, h, static_cast<T*>(call.c), hidden, nullptr, 0});
}

template <class T>
void backward(const RnnCellBackward& call) {
  const RnnSizes& s = call.sizes;
  FB_KERNEL(rnn_gates_backward<T>)
  ({s.kind, s.batch, s.hidden, static_cast<const T*>(call.gates), s.gates(), s.hidden,
    static_cast<const T*>(call.c_before), static_cast<const T*>(call.h_before), s.hidden, s.hidden,
    static_cast<T*>(call.d_gates), s.gates(), static_cast<T*>(call.d_h), static_cast<T*>(call.d_c),
    s.hidden, nullptr, 0});
}

template <class T>
void order_gates(const RnnSizes& s, const T* d_gates, bool of_state, T* out) {
  const int64_t first = s.first_input(), shared = s.weights() - first;
  for (int64_t b = 0; b < s.batch; ++b) {
    const T* const from = d_gates + b * s.gates();
    T* const to = out + b * s.weights();
    std::copy(from + first, from + first + shared, to);
    const T* const rest = of_state ? from : from + first + shared;
    std::copy(rest, rest + first, to + shared);
  }
}

template <class T>
void sum_rows(const T* from, int64_t rows, int64_t row, int64_t columns, T* out) {
  std::fill_n(out, columns, T(0));
  for (int64_t b = 0; b < rows; ++b)
    for (int64_t j = 0; j < columns; ++j) out[j] += from[b * row + j];
}

}  // namespace

void rnn_cell_forward(const RnnCellForward& call) {
  visit_floating(call.dtype, [&](auto tag) { forward<typename decltype(tag)::type>(call); });
}

void rnn_cell_backward(const RnnCellBackward& call) {
  visit_floating(call.dtype, [&](auto tag) { backward<typename decltype(tag)::type>(call); });
}

void rnn_order_gates(DType dtype, const RnnSizes& sizes, const void* d_gates, bool of_state,
                     void* out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    order_gates(sizes, static_cast<const T*>(d_gates), of_state, static_cast<T*>(out));
  });
}

void rnn_sum_rows(DType dtype, const void* from, int64_t rows, int64_t row, int64_t columns,
                  void* out) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    sum_rows(static_cast<const T*>(from), rows, row, columns, static_cast<T*>(out));
  });
}

}  // namespace fb::cpu

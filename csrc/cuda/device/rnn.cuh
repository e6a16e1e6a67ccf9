// Recurrent layers and cells: a thread for each element of a step's hidden state.
#pragma once

#include "cuda/device/reduce.cuh"
#include "cuda/device/rnn_args.h"
#include "scalar/rnn.h"

namespace fb::device {

template <class T, RnnKind kind>
__device__ inline void rnn_step(const RnnStepArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long hidden = args.hidden, b = i / hidden, j = i - b * hidden;
  T* const gates = static_cast<T*>(args.gates) + b * args.row + j;
  T* const h = static_cast<T*>(args.h) + b * args.outputs + j;
  if (args.h_before && j < args.outputs) static_cast<T*>(args.h_before)[b * args.row + j] = *h;
  T fresh = T(0);
  if constexpr (kind == RnnKind::kLstm) {
    T& c = static_cast<T*>(args.c)[i];
    if (args.c_before) static_cast<T*>(args.c_before)[b * args.row + j] = c;
    scalar::rnn::lstm(gates[0], gates[hidden], gates[2 * hidden], gates[3 * hidden], c, fresh);
  } else if constexpr (kind == RnnKind::kGru) {
    fresh = *h;
    scalar::rnn::gru(gates[0], gates[hidden], gates[2 * hidden], gates[3 * hidden], fresh);
  } else {
    scalar::rnn::plain<kind == RnnKind::kRelu>(gates[0], fresh);
  }
  if (args.fresh)
    static_cast<T*>(args.fresh)[i] = fresh;
  else
    *h = fresh;
  if (args.out) static_cast<T*>(args.out)[b * args.out_row + j] = fresh;
}

template <class T, RnnKind kind>
__device__ inline void rnn_step_backward(const RnnStepBackwardArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long hidden = args.hidden, b = i / hidden, j = i - b * hidden;
  const T* const gates = static_cast<const T*>(args.gates) + b * args.row + j;
  T* const d_gates = static_cast<T*>(args.d_gates) + b * args.d_gates_row + j;
  T& d_h = static_cast<T*>(args.d_h)[i];
  T d = d_h;
  if (args.d_out) d += static_cast<const T*>(args.d_out)[b * args.d_out_row + j];
  if constexpr (kind == RnnKind::kLstm) {
    const T before = static_cast<const T*>(args.c_before)[b * args.before_row + j];
    const T in = gates[0], forget = gates[hidden];
    const T cell = gates[2 * hidden], out = gates[3 * hidden];
    scalar::rnn::lstm_backward(in, forget, cell, out, before, d, static_cast<T*>(args.d_c)[i],
                               d_gates[0], d_gates[hidden], d_gates[2 * hidden],
                               d_gates[3 * hidden]);
    if (args.projected)
      static_cast<T*>(args.projected)[b * args.projected_row + j] =
          scalar::rnn::lstm_output(in, forget, cell, out, before);
  } else if constexpr (kind == RnnKind::kGru) {
    const T before = static_cast<const T*>(args.h_before)[b * args.before_row + j];
    scalar::rnn::gru_backward(gates[0], gates[hidden], gates[2 * hidden], gates[3 * hidden], before,
                              d, d_gates[0], d_gates[hidden], d_gates[2 * hidden],
                              d_gates[3 * hidden]);
    d_h = d;
  } else {
    d_gates[0] = scalar::rnn::plain_backward<kind == RnnKind::kRelu>(gates[0], d);
  }
}

template <class T>
__device__ inline void rnn_add_rows(const RnnRowsArguments& args) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= args.n) return;
  const long long b = i / args.columns, j = i - b * args.columns;
  T value = args.from ? static_cast<const T*>(args.from)[b * args.from_row + j] : T(0);
  if (args.added && j < args.added_columns)
    value += static_cast<const T*>(args.added)[b * args.added_row + j];
  static_cast<T*>(args.to)[b * args.to_row + j] = value;
  if (args.also) static_cast<T*>(args.also)[b * args.also_row + j] = value;
}

// A block for 32 columns, whose rows its eight warps share.
template <class T>
__device__ inline void rnn_sum_rows(const RnnSumArguments& args) {
  constexpr int kParts = kThreads / 32;
  __shared__ T sums[kParts][32];
  const int lane = static_cast<int>(threadIdx.x) % 32, part = static_cast<int>(threadIdx.x) / 32;
  const long long column = static_cast<long long>(blockIdx.x) * 32 + lane;
  T sum = T(0);
  if (column < args.columns)
    for (long long r = part; r < args.rows; r += kParts)
      sum += static_cast<const T*>(args.from)[r * args.row + column];
  sums[part][lane] = sum;
  __syncthreads();
  if (part != 0 || column >= args.columns) return;
  for (int p = 1; p < kParts; ++p) sum += sums[p][lane];
  static_cast<T*>(args.out)[column] = sum;
}

}  // namespace fb::device

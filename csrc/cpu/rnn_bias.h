// The initial values of the gates of a recurrent layer or cell.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/rnn.h"

namespace fb::cpu {

// The initial values besides the input's share: the sum of both biases, for the GRU's n only the
// input's. Empty if there are none.
template <class T>
std::vector<T> joint_bias(const RnnSizes& sizes, const RnnParameters& w) {
  if (!w.b_ih && !w.b_hh) return {};
  const int64_t weights = sizes.weights();
  std::vector<T> sum(static_cast<size_t>(weights));
  if (w.b_ih) std::copy_n(static_cast<const T*>(w.b_ih), weights, sum.begin());
  if (!w.b_hh) return sum;
  const T* const of_state = static_cast<const T*>(w.b_hh);
  const int64_t joint = sizes.kind == RnnKind::kGru ? 2 * sizes.hidden : weights;
  for (int64_t j = 0; j < joint; ++j) sum[static_cast<size_t>(j)] += of_state[j];
  return sum;
}

}  // namespace fb::cpu

// Elements of batches at positions that may differ between samples.
#include "autograd/batch_rules.h"
#include "gen/ops/create.h"
#include "gen/ops/index.h"
#include "gen/ops/view.h"

namespace fb::autograd::batch_rule {
namespace {

struct Picks {
  size_t first = 0, last = 0;
  int64_t rank = 0;  // of the positions when broadcast
  bool are_batched = false;
  bool are_adjacent = true;
};

Picks look_at(const Batch& b, TensorList indices) {
  Picks picks{indices.size(), 0};
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    picks.are_adjacent &= picks.first > i || picks.last + 1 == i;
    picks.first = std::min(picks.first, i);
    picks.last = i;
    picks.rank = std::max(picks.rank, indices[i].dim());
    picks.are_batched |= b.is_batched(indices[i]);
  }
  return picks;
}

// The number of the sample, in front of positions of `rank` dimensions.
Tensor numbers(const Batch& b, int64_t rank, Device device) {
  Dims sizes(static_cast<size_t>(rank) + 1, 1);
  sizes[0] = b.size();
  return ops::view(ops::arange(b.size(), DType::kInt64, device), sizes);
}

}  // namespace

Tensor index_select(const Batch& b, const Tensor& input, int64_t dim, const Tensor& index) {
  if (!b.is_batched(index) && input.dim() > 0) {
    const int64_t moved = b.shifted(dim, static_cast<size_t>(input.dim()));
    return b.wrap(ops::index_select(b.all(input), moved, index));
  }
  return b.loop([&](int64_t i) { return ops::index_select(b.at(input, i), dim, b.at(index, i)); });
}

Tensor index(const Batch& b, const Tensor& input, TensorList indices) {
  const Picks picks = look_at(b, indices);
  std::vector<Tensor> all;
  if (!picks.are_batched && picks.are_adjacent) {
    all.assign(indices.begin(), indices.end());
    all.insert(all.begin(), Tensor());
    return b.wrap(ops::index(b.all(input), all));
  }
  if (picks.are_batched && picks.are_adjacent && picks.first == 0) {
    if (b.is_batched(input)) all.push_back(numbers(b, picks.rank, input.device()));
    for (const Tensor& each : indices.first(picks.last + 1))
      all.push_back(b.aligned(each, picks.rank));
    return b.wrap(ops::index(b.is_batched(input) ? b.all(input) : input, all));
  }
  return b.loop([&](int64_t i) { return ops::index(b.at(input, i), b.at(indices, i)); });
}

}  // namespace fb::autograd::batch_rule

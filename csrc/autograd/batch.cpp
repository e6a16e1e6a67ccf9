// Batched tensors.
#include "autograd/batch.h"

#include <algorithm>

#include "gen/ops/copy.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"

namespace fb::autograd {
namespace {

thread_local std::vector<BatchLevel> levels_here;

int64_t size_of_level(int64_t level) {
  const auto found = std::ranges::find(levels_here, level, &BatchLevel::level);
  FB_CHECK(found != levels_here.end(), "a batched tensor was used after the vmap that made it");
  return found->size;
}

// The highest level must be outermost: see Note [Levels of batches].
Tensor wrap_samples(const Tensor& all, int64_t level) {
  check_dense("vmap", all);
  const size_t rank = all.sizes().size() - 1;
  const Tensor one =
      inner_view(bottom_of(all), all.sizes().last(rank), all.strides().last(rank), all.offset());
  Meta& meta = meta_of(one);
  meta.batch = all;
  meta.batch_level = level;
  one->flags |= kBatched;
  return one;
}

Tensor expanded(const Tensor& t, int64_t level) {
  Dims sizes{size_of_level(level)};
  for (const int64_t size : t.sizes()) sizes.push_back(size);
  return ops::expand(t, sizes);
}

}  // namespace

std::atomic<int> maps_in_progress{0};

int64_t enter_batch_level(int64_t size, Randomness randomness, bool has_primals) {
  static std::atomic<int64_t> next{0};
  const int64_t level = next++;
  levels_here.push_back({level, size, randomness, has_primals});
  ++maps_in_progress;
  return level;
}

void exit_batch_level(int64_t level) {
  FB_CHECK(!levels_here.empty() && levels_here.back().level == level,
           "maps must be left in the order in which they were entered");
  levels_here.pop_back();
  --maps_in_progress;
}

std::span<const BatchLevel> batch_levels() { return levels_here; }

std::vector<int64_t> batch_levels_of(const Tensor& t) {
  std::vector<int64_t> levels;
  for (const TensorImpl* at = t.get(); at->flags & kBatched; at = at->autograd->batch.get())
    levels.push_back(at->autograd->batch_level);
  std::ranges::reverse(levels);
  return levels;
}

Tensor make_batched(const Tensor& all, int64_t level) {
  const int64_t outer = batch_level_of(all);
  if (outer < level) return wrap_samples(all, level);
  const Tensor inner = ops::transpose(all->autograd->batch, 0, 1);
  return wrap_samples(make_batched(inner, level), outer);
}

Tensor make_batched(const Tensor& all, std::span<const int64_t> levels) {
  Tensor result = all;
  for (const int64_t level : levels) result = make_batched(result, level);
  return result;
}

bool is_batched_at(const Tensor& t, int64_t level) {
  if (std::ranges::count(batch_levels_of(t), level)) return true;
  return std::ranges::any_of(
      tangents_of(t), [&](const Tangent& tangent) { return is_batched_at(tangent.value, level); });
}

Tensor samples_of(const Tensor& t, int64_t level) {
  if (batch_level_of(t) == level) return t->autograd->batch;
  if (batch_level_of(t) > level) {
    const int64_t outer = batch_level_of(t);
    return make_batched(ops::transpose(samples_of(t->autograd->batch, level), 0, 1), outer);
  }
  // A tangent may be batched where its tensor is not.
  const auto tangents = tangents_of(t);
  if (tangents.empty()) return expanded(t, level);
  return map_dual(t, [&](const Tensor& part) { return samples_of(part, level); });
}

Tensor samples_of(const Tensor& t, std::span<const int64_t> levels) {
  Tensor result = t;
  for (size_t i = levels.size(); i-- > 0;) result = samples_of(result, levels[i]);
  return result;
}

Tensor copy_of_batch(const Tensor& t, std::optional<DType> dtype) {
  const Tensor values = detached(t);
  return ops::to_dtype(values, dtype.value_or(t.dtype()), false, true);
}

int64_t samples_to_draw() {
  if (levels_here.empty() || levels_here.back().randomness == Randomness::kSame) return 0;
  FB_CHECK(levels_here.back().randomness == Randomness::kDifferent,
           "vmap: called random operation while in randomness error mode. Please either use the "
           "'same' or 'different' randomness flags on vmap or perform the randomness operation "
           "out of vmap");
  return levels_here.back().size;
}

void refuse_dynamic_shape(const char* name) {
  fail(ErrorKind::kRuntime,
       "vmap: We do not support batching operators that can output dynamic shape. Attempted to "
       "vmap over ",
       name, ".");
}

void refuse_branch() {
  fail(ErrorKind::kRuntime,
       "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. "
       "We don't support that yet; use where() to choose between values.");
}

void refuse_batched_data() {
  fail(ErrorKind::kRuntime,
       "vmap: a batched tensor has no elements of its own, and something that has no rule for "
       "batches asked for them; compute sample by sample, without vmap.");
}

void refuse_elements(const char* name) {
  fail(ErrorKind::kRuntime, "vmap: It looks like you're calling .", name,
       "() on a Tensor. We don't support vmap over calling .", name,
       "() on a Tensor, please try to rewrite what you're doing with other operations.");
}

}  // namespace fb::autograd

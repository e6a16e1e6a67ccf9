// Tensors that stand for one of many: what vmap is made of.
//
// Note [Batched tensors]: a batched tensor looks like one of its samples, but refuses to hand out
// elements. All samples lie in another tensor, Meta::batch, along its first dimension. An operator
// that meets a batched tensor calls itself on those, arranged so that all samples are computed at
// once, or one by one where nothing better is known; a kernel that is handed one raises. Recording
// happens below: the history of a batched tensor is that of all its samples, and gradients are
// computed for the whole batch.
//
// Note [Levels of batches]: maps nest, inner ones have higher levels. What is batched at several
// levels is a batch of batches, the highest level outermost; an operator takes the highest level
// apart, and the next one is dealt with by the operators that it calls.
#pragma once

#include <functional>

#include "autograd/history.h"
#include "ops/types.h"

namespace fb::autograd {

enum class Randomness : uint8_t { kError, kDifferent, kSame };

struct BatchLevel {
  int64_t level;
  int64_t size;
  Randomness randomness;
  bool has_primals;  // more than tangents: variables need a value for each sample
};
int64_t enter_batch_level(int64_t size, Randomness randomness, bool has_primals);
void exit_batch_level(int64_t level);
// From the outermost to the innermost.
std::span<const BatchLevel> batch_levels();
// Whether there is any level, in any thread: a quick look.
extern std::atomic<int> maps_in_progress;
inline bool in_map() { return maps_in_progress.load(std::memory_order_relaxed) > 0; }

// The highest level that it is batched at; -1 if it is not.
inline int64_t batch_level_of(const Tensor& t) {
  return t->flags & kBatched ? t->autograd->batch_level : -1;
}
// All levels, the highest last.
std::vector<int64_t> batch_levels_of(const Tensor& t);

// `all` with its first dimension hidden.
Tensor make_batched(const Tensor& all, int64_t level);
// All samples, in the first dimension; a tensor that is the same for all is expanded.
Tensor samples_of(const Tensor& t, int64_t level);
// The same for several levels, in their order.
Tensor samples_of(const Tensor& t, std::span<const int64_t> levels);
Tensor make_batched(const Tensor& all, std::span<const int64_t> levels);
// All samples of all levels of a batched tensor: the tensor that has elements.
inline const Tensor& bottom_of(const Tensor& t) {
  return t->flags & kBatched ? bottom_of(t->autograd->batch) : t;
}
// Whether it differs between samples: itself, or its tangent.
bool is_batched_at(const Tensor& t, int64_t level);

// The same values, perhaps of another type, in memory of their own and without history.
Tensor copy_of_batch(const Tensor& t, std::optional<DType> dtype);

// The randomness of the innermost map: refuses to draw, or gives the number of samples to draw for
// (0: the same for all).
int64_t samples_to_draw();
// A random result without inputs: `make` makes one of a given size.
Tensor draw_in_map(IntSpan size, const std::function<Tensor(IntSpan)>& make);
template <class F>
Tensor draw(IntSpan size, F&& make) {
  return in_map() ? draw_in_map(size, make) : make(size);
}

[[noreturn]] void refuse_dynamic_shape(const char* name);
[[noreturn]] void refuse_elements(const char* name);
[[noreturn]] void refuse_branch();
// For operators that hand out elements.
inline void check_has_elements(const Tensor& t, const char* name) {
  if (t->flags & kBatched) [[unlikely]]
    refuse_elements(name);
  check_dense(name, t);
}
// For masks, which decide how many elements there are.
inline void check_no_mask(const Tensor& mask) {
  FB_CHECK(!(mask->flags & kBatched),
           "vmap: We do not support batching operators that can support dynamic shape. Attempting "
           "to batch over indexing with a boolean mask.");
}
// For values that control flow depends on.
inline void check_no_branch(const Tensor& t) {
  if (t->flags & kBatched) [[unlikely]]
    refuse_branch();
}

}  // namespace fb::autograd

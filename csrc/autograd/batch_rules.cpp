// How an operator is applied to a whole batch.
#include "autograd/batch_rules.h"

#include "gen/ops/copy.h"
#include "gen/ops/shape.h"
#include "gen/ops/view.h"
#include "ops/promotion.h"

namespace fb::autograd {
namespace {

thread_local bool draws_together = false;

}  // namespace

void Batch::look(const Tensor& t) {
  if (!t) return;
  level_ = std::max(level_, batch_level_of(t));
  rank_ = std::max(rank_, t.dim());
  least_ = std::min(least_, t.dim());
  operands_.emplace_back(t);
}

void Batch::look(const Operand& o) {
  if (o.is_tensor())
    look(o.tensor());
  else
    operands_.push_back(o);
}

void Batch::settle() {
  if (draws_together && level_ < batch_levels().back().level) {
    level_ = batch_levels().back().level;
    draws_ = true;
  }
  for (const BatchLevel& each : batch_levels())
    if (each.level == level_) {
      size_ = each.size;
      return;
    }
  fail(ErrorKind::kRuntime, name_, ": a tensor of a vmap was used after the vmap had returned");
}

void Batch::check_any() const {
  FB_CHECK(size_ > 0, "vmap: ", name_, " cannot be mapped over a dimension of size 0");
}

Tensor Batch::at(const Tensor& t, int64_t i) const {
  return is_batched(t) ? ops::select(samples_of(t, level_), 0, i) : t;
}
OwnedOperand Batch::at(const Operand& o, int64_t i) const {
  return o.is_tensor() ? OwnedOperand(at(o.tensor(), i)) : OwnedOperand(o.scalar());
}
std::vector<Tensor> Batch::at(TensorList list, int64_t i) const {
  std::vector<Tensor> result;
  for (const Tensor& t : list) result.push_back(at(t, i));
  return result;
}
std::optional<std::vector<Tensor>> Batch::at(const std::optional<TensorList>& list,
                                             int64_t i) const {
  if (!list) return std::nullopt;
  return at(*list, i);
}

OwnedOperand Batch::all(const Operand& o) const {
  return o.is_tensor() ? OwnedOperand(all(o.tensor())) : OwnedOperand(o.scalar());
}
std::vector<Tensor> Batch::all(TensorList list) const {
  std::vector<Tensor> result;
  for (const Tensor& t : list) result.push_back(all(t));
  return result;
}

Tensor Batch::aligned(const Tensor& t, int64_t rank) const {
  if (!is_batched(t)) return t;
  const Tensor samples = samples_of(t, level_);
  if (t.dim() == rank) return samples;
  Dims sizes{size_};
  for (int64_t i = t.dim(); i < rank; ++i) sizes.push_back(1);
  for (const int64_t size : t.sizes()) sizes.push_back(size);
  return ops::reshape(samples, sizes);
}
Tensor Batch::aligned(const Tensor& t) const {
  Tensor samples = aligned(t, rank_);
  // A 0-d sample does not promote as a tensor with dimensions does; its batch must not either.
  if (t && t.dim() == 0 && t.dtype() != DType::kBool && is_batched(t)) {
    const DType type = ops::result_type(operands_);
    if (samples.dtype() != type) samples = ops::to_dtype(samples, type);
  }
  return samples;
}
OwnedOperand Batch::aligned(const Operand& o) const {
  return o.is_tensor() ? OwnedOperand(aligned(o.tensor())) : OwnedOperand(o.scalar());
}

Dims Batch::sized(IntSpan size) const {
  Dims sizes{size_};
  for (const int64_t each : size) sizes.push_back(each);
  return sizes;
}

int64_t Batch::shifted(int64_t dim, size_t rank) const {
  return wrap_dim(dim, static_cast<int64_t>(rank)) + 1;
}
int64_t Batch::shifted(int64_t dim) const { return wrap_dim(dim, rank_) + 1; }
Dims Batch::shifted(IntSpan dims) const {
  Dims result;
  for (const int64_t dim : dims) result.push_back(shifted(dim));
  return result;
}
Dims Batch::shifted(const std::optional<IntSpan>& dims) const {
  if (dims && !dims->empty()) return shifted(*dims);
  Dims result;
  for (int64_t i = 1; i <= rank_; ++i) result.push_back(i);
  return result;
}

void Batch::check_target(const Tensor& self) const {
  FB_CHECK(is_batched_at(self, level_), "vmap: ", name_,
           "(self, *extra_args) is not possible because there exists a Tensor `other` in "
           "extra_args that has more elements than `self`. This happened due to `other` being "
           "vmapped over but `self` not being vmapped over in a vmap. Please try to use "
           "out-of-place operators instead of ",
           name_, ".");
}

// An operator may leave a result undefined, for all samples alike.
Tensor Batch::joined(const std::vector<Tensor>& results) {
  return results[0] ? ops::stack(results, 0) : Tensor();
}

DrawsTogether::DrawsTogether() : before_(draws_together) { draws_together = true; }
DrawsTogether::~DrawsTogether() { draws_together = before_; }

Tensor draw_in_map(IntSpan size, const std::function<Tensor(IntSpan)>& make) {
  const int64_t count = samples_to_draw();
  if (count == 0) return make(size);
  const DrawsTogether drawing;
  Dims sizes{count};
  for (const int64_t each : size) sizes.push_back(each);
  return make_batched(make(sizes), batch_levels().back().level);
}

bool draws_alike() {
  return !batch_levels().empty() && batch_levels().back().randomness == Randomness::kSame;
}

SameDraws::SameDraws(Generator* generator) {
  save(generator ? generator : &default_generator());
  if (generator) return;
  for (int i = 0; i < kMaxGpuGenerators; ++i)
    if (Generator* const each = gpu_generator(i)) save(each);
}

void SameDraws::save(Generator* generator) {
  saved_.push_back({generator, std::vector<uint8_t>(generator->state_size())});
  generator->save_state(saved_.back().state.data());
}

bool draws_apart() { return !draws_together && samples_to_draw() > 0; }

}  // namespace fb::autograd

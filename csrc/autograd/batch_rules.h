// How an operator is applied to a whole batch: the functions that the generated rules call.
#pragma once

#include "autograd/batch.h"
#include "autograd/saved.h"
#include "core/generator.h"

namespace fb::autograd {

using ops::Operand;

// An operand that keeps its tensor.
class OwnedOperand {
 public:
  explicit OwnedOperand(Tensor tensor) : tensor_(std::move(tensor)) {}
  explicit OwnedOperand(const Scalar& scalar) : scalar_(scalar) {}
  operator Operand() const { return tensor_ ? Operand(tensor_) : Operand(scalar_); }

 private:
  Tensor tensor_;
  Scalar scalar_;
};

// The tensor arguments of one call, and the level at which they are taken apart.
class Batch {
 public:
  template <class... Args>
  explicit Batch(const char* name, const Args&... args) : name_(name) {
    (look(args), ...);
    settle();
  }

  int64_t size() const { return size_; }
  // The most dimensions that a sample of any argument has.
  int64_t rank() const { return rank_; }
  // Whether all arguments have that many, and at least one.
  bool has_one_rank() const { return rank_ > 0 && rank_ == least_; }
  bool is_batched(const Tensor& t) const { return t && (draws_ || is_batched_at(t, level_)); }

  // Sample `i` of an argument.
  Tensor at(const Tensor& t, int64_t i) const;
  OwnedOperand at(const Operand& o, int64_t i) const;
  std::vector<Tensor> at(TensorList list, int64_t i) const;
  std::optional<std::vector<Tensor>> at(const std::optional<TensorList>& list, int64_t i) const;

  // All samples, in the first dimension.
  Tensor all(const Tensor& t) const { return t ? samples_of(t, level_) : t; }
  OwnedOperand all(const Operand& o) const;
  std::vector<Tensor> all(TensorList list) const;

  // All samples, so that arguments broadcast: one that is the same for all stays as it is, the
  // others have `rank` dimensions after the first.
  Tensor aligned(const Tensor& t) const;
  Tensor aligned(const Tensor& t, int64_t rank) const;
  OwnedOperand aligned(const Operand& o) const;

  // A size of a sample as a size of the batch.
  Dims sized(IntSpan size) const;

  // A dimension of a sample as a dimension of the batch.
  int64_t shifted(int64_t dim) const;
  int64_t shifted(int64_t dim, size_t rank) const;
  std::optional<int64_t> shifted(std::optional<int64_t> dim) const { return shifted(*dim); }
  Dims shifted(IntSpan dims) const;
  // None means all dimensions.
  Dims shifted(const std::optional<IntSpan>& dims) const;

  // Results for all samples become batched ones.
  Tensor wrap(const Tensor& all) const { return all ? make_batched(all, level_) : all; }
  template <class... T>
  std::tuple<T...> wrap(const std::tuple<T...>& results) const {
    return std::apply([&](const auto&... r) { return std::tuple<T...>(wrap(r)...); }, results);
  }
  template <class V>
    requires std::is_base_of_v<std::vector<Tensor>, V>
  V wrap(V results) const {
    for (Tensor& each : results) each = wrap(each);
    return results;
  }

  // Computes sample by sample; `f` takes the number of one.
  template <class F>
  auto loop(F&& f) const {
    using R = decltype(f(int64_t{}));
    std::vector<R> results;
    check_any();
    for (int64_t i = 0; i < size_; ++i) results.push_back(f(i));
    return wrap(joined(results));
  }
  // The same for a change in place of samples.
  template <class F>
  void each(F&& f) const {
    for (int64_t i = 0; i < size_; ++i) f(i);
  }

  // Refuses to write what differs between samples into a tensor that is the same for all.
  void check_target(const Tensor& self) const;

 private:
  void look(const Tensor& t);
  void look(const Operand& o);
  void look(TensorList list) {
    for (const Tensor& t : list) look(t);
  }
  void look(const std::optional<TensorList>& list) {
    if (list) look(*list);
  }
  void settle();
  void check_any() const;

  static Tensor joined(const std::vector<Tensor>& results);
  template <class... T>
  static std::tuple<T...> joined(const std::vector<std::tuple<T...>>& results) {
    return joined(results, std::index_sequence_for<T...>());
  }
  template <class... T, size_t... I>
  static std::tuple<T...> joined(const std::vector<std::tuple<T...>>& results,
                                 std::index_sequence<I...>) {
    const auto field = [&]<size_t K>(std::integral_constant<size_t, K>) {
      std::vector<Tensor> parts;
      for (const auto& each : results) parts.push_back(std::get<K>(each));
      return joined(parts);
    };
    return {field(std::integral_constant<size_t, I>())...};
  }
  template <class V>
    requires std::is_base_of_v<std::vector<Tensor>, V>
  static V joined(const std::vector<V>& results) {
    V joint;
    for (size_t k = 0; k < results[0].size(); ++k) {
      std::vector<Tensor> parts;
      for (const V& each : results) parts.push_back(each[k]);
      joint.push_back(joined(parts));
    }
    return joint;
  }

  const char* name_;
  int64_t level_ = -1;
  int64_t size_ = 0;
  int64_t rank_ = 0;
  int64_t least_ = kMaxDims;
  bool draws_ = false;  // for every sample, even if no argument is batched
  std::vector<Operand> operands_;
};

// Draws for a whole batch at once, though operators within are called in a map.
class DrawsTogether {
 public:
  DrawsTogether();
  ~DrawsTogether();
  DrawsTogether(const DrawsTogether&) = delete;
  DrawsTogether& operator=(const DrawsTogether&) = delete;

 private:
  bool before_;
};
// Whether a random operator has to draw for every sample of the innermost map.
bool draws_apart();
// Whether it has to draw the same numbers for every sample.
bool draws_alike();

// Restores a generator's state for every sample; without one, those of all default generators, as
// tensors of any device may be drawn.
class SameDraws {
 public:
  explicit SameDraws(Generator* generator);
  void start() const {
    for (const Saved& each : saved_)
      each.generator->load_state(each.state.data(), each.state.size());
  }

 private:
  struct Saved {
    Generator* generator;
    std::vector<uint8_t> state;
  };
  void save(Generator* generator);

  std::vector<Saved> saved_;
};

// Rules written by hand: `own` in opgen/emit/batching.py.
namespace batch_rule {

Tensor expand(const Batch& b, const Tensor& input, IntSpan size, bool implicit);
Tensor repeat(const Batch& b, const Tensor& input, IntSpan repeats);
Tensor permute(const Batch& b, const Tensor& input, IntSpan dims);
Tensor squeeze(const Batch& b, const Tensor& input);
Tensor unsqueeze(const Batch& b, const Tensor& input, int64_t dim);
Tensor stack(const Batch& b, TensorList tensors, int64_t dim);
Tensor as_strided(const Batch& b, const Tensor& input, IntSpan size, IntSpan stride,
                  std::optional<int64_t> storage_offset);
Tensor clone(const Batch& b, const Tensor& input, std::optional<MemoryFormat> memory_format);
Tensor to_copy(const Batch& b, const Tensor& input, DType dtype, std::optional<Device> device,
               std::optional<MemoryFormat> memory_format);
Tensor t(const Batch& b, const Tensor& input);
Tensor diag_embed(const Batch& b, const Tensor& input, int64_t offset, int64_t dim1, int64_t dim2);
Tensor new_empty_strided(const Batch& b, const Tensor& input, IntSpan size, IntSpan stride,
                         std::optional<DType> dtype, std::optional<Device> device);

Tensor sum_all(const Batch& b, const Tensor& input, std::optional<DType> dtype);
Tensor mean_all(const Batch& b, const Tensor& input, std::optional<DType> dtype);

Tensor mm(const Batch& b, const Tensor& input, const Tensor& mat2);
Tensor bmm(const Batch& b, const Tensor& input, const Tensor& mat2);
Tensor mv(const Batch& b, const Tensor& input, const Tensor& vec);
Tensor dot(const Batch& b, const Tensor& input, const Tensor& tensor);

Tensor vdot(const Batch& b, const Tensor& input, const Tensor& other);
Tensor addmm(const Batch& b, const Tensor& input, const Tensor& mat1, const Tensor& mat2,
             const Scalar& beta, const Scalar& alpha);

Tensor _linear(const Batch& b, const Tensor& bias, const Tensor& input, const Tensor& weight);
Tensor _linear_product(const Batch& b, const Tensor& input, const Tensor& weight);
Tensor _linear_rows(const Batch& b, const Tensor& input, const Tensor& weight);
Tensor _linear_outer(const Batch& b, const Tensor& left, const Tensor& right);

Tensor index_select(const Batch& b, const Tensor& input, int64_t dim, const Tensor& index);
Tensor index(const Batch& b, const Tensor& input, TensorList indices);

void fill_(const Batch& b, const Tensor& input, const Operand& value);

}  // namespace batch_rule
}  // namespace fb::autograd

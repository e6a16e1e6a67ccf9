// Attention: checks of shapes, and the choice between fused kernel and composition.
#include "ops/attention.h"

#include <cmath>

#include "gen/ops/attention.h"
#include "gen/ops/matmul.h"
#include "gen/ops/view.h"
#include "kernel/table.h"
#include "ops/random_fill.h"

namespace fb::ops {
namespace {

IntSpan lead_of(const Tensor& t) { return t.sizes().first(static_cast<size_t>(t.dim() - 2)); }

void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  FB_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
           "query, key and value must have at least 2 dimensions, got the shapes ", query.sizes(),
           ", ", key.sizes(), " and ", value.sizes());
  FB_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(),
           "query, key and value must have the same dtype, got ", query.dtype(), ", ", key.dtype(),
           " and ", value.dtype());
  FB_CHECK(is_floating(query.dtype()), "expected floating point elements, got ", query.dtype());
  FB_CHECK(query.size(-1) == key.size(-1), "query ", query.sizes(), " and key ", key.sizes(),
           " must have the same number of features, got ", query.size(-1), " and ", key.size(-1));
  FB_CHECK(key.size(-2) == value.size(-2), "key ", key.sizes(), " and value ", value.sizes(),
           " must have the same length, got ", key.size(-2), " and ", value.size(-2));
  if (!mask) return;
  FB_CHECK(mask.dtype() == DType::kBool || mask.dtype() == DType::kFloat32 ||
               mask.dtype() == query.dtype(),
           "attn_mask must be of dtype bool, float32 or that of query, ", query.dtype(), ", got ",
           mask.dtype());
  FB_CHECK(mask.dim() >= 2, "attn_mask must have at least 2 dimensions, got the shape ",
           mask.sizes());
}

// Query heads that share keys and values get a dimension of their own, along which those broadcast.
struct Grouped {
  Tensor query, key, value, mask;
};

Grouped grouped(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  FB_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3,
           "enable_gqa needs tensors of at least 3 dimensions, got the shapes ", query.sizes(),
           ", ", key.sizes(), " and ", value.sizes());
  const int64_t heads = query.size(-3), shared = key.size(-3);
  FB_CHECK(shared > 0 && shared == value.size(-3) && heads % shared == 0,
           "the number of heads in query, ", heads, ", must be a multiple of that in key, ", shared,
           ", and value, ", value.size(-3));
  const auto split_heads = [&](const Tensor& t) {
    return ops::unflatten(t, -3, Dims{shared, heads / shared});
  };
  const bool has_heads = mask && mask.dim() >= 3;
  return {split_heads(query), ops::unsqueeze(key, -3), ops::unsqueeze(value, -3),
          !has_heads               ? mask
          : mask.size(-3) == heads ? split_heads(mask)
                                   : ops::unsqueeze(mask, -3)};
}

// Features must be adjacent in memory.
Tensor operand(const Tensor& t) {
  const DType wide = compute_type(t.dtype());
  const Tensor x = kernel::of(t).attention_supports(t.dtype()) ? t : cast(t, wide);
  return x.stride(-1) == 1 || x.size(-1) <= 1 ? x : contiguous(x);
}

// Unless rows broadcast, the elements of a row, one for each key, are adjacent in memory.
Tensor mask_operand(const Tensor& mask, DType dtype, int64_t keys) {
  const Tensor m = mask.dtype() == DType::kBool ? mask : cast(mask, dtype);
  if (m.size(-1) == 1 && keys != 1) {
    Dims sizes(m.sizes());
    sizes.back() = keys;
    return m.size(-2) == 1 ? ops::expand(m, sizes) : contiguous(ops::expand(m, sizes));
  }
  return m.stride(-1) == 1 || m.size(-2) == 1 ? m : contiguous(m);
}

// The strides of the heads of `t`, for a batch that its leading dimensions broadcast to.
kernel::HeadMatrices heads_of(const Tensor& t, IntSpan batch) {
  kernel::HeadMatrices result{t.data(), Dims(batch.size(), 0), t.stride(-2), t.stride(-1)};
  const auto lead = static_cast<size_t>(t.dim() - 2), ahead = batch.size() - lead;
  for (size_t d = 0; d < lead; ++d) result.lead[ahead + d] = t.sizes()[d] == 1 ? 0 : t.strides()[d];
  // Rows or columns that broadcast.
  if (t.size(-2) == 1) result.row = 0;
  return result;
}

// A new tensor with the dimensions of `like` in the same memory order, features innermost: heads
// cut out of a projection can then be joined again without a copy.
Tensor in_order_of(const Tensor& like, IntSpan sizes, DType dtype) {
  if (static_cast<size_t>(like.dim()) != sizes.size() || has_internal_overlap(like))
    return make_tensor(sizes, dtype, like.device());
  const Dims order = memory_order(like);
  if (order.back() != like.dim() - 1) return make_tensor(sizes, dtype, like.device());
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0; step *= std::max<int64_t>(sizes[order[i]], 1))
    strides[order[i]] = step;
  return make_strided(sizes, strides, dtype, like.device());
}

Dims with_matrix(const Dims& batch, int64_t rows, int64_t columns) {
  Dims sizes = batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  return sizes;
}

// The operands in the form that kernels take, kept alive.
struct Operands {
  Operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& attn_mask)
      : query(operand(q)), key(operand(k)), value(operand(v)), mask(attn_mask) {
    if (mask) mask = mask_operand(mask, compute_type(query.dtype()), key.size(-2));
    batch = broadcast_shapes(broadcast_shapes(lead_of(query), lead_of(key)), lead_of(value));
    if (mask) batch = broadcast_shapes(batch, lead_of(mask));
  }

  kernel::AttentionCall call(bool is_causal, double scale) const {
    const int64_t queries = query.size(-2), keys = key.size(-2);
    kernel::AttentionCall c{};
    c.dtype = query.dtype();
    c.batch = batch;
    c.heads = 1;
    for (const int64_t size : batch) c.heads *= size;
    c.queries = queries;
    c.keys = keys;
    c.features = query.size(-1);
    c.value_features = value.size(-1);
    c.query = heads_of(query, batch);
    c.key = heads_of(key, batch);
    c.value = heads_of(value, batch);
    c.is_causal = is_causal;
    c.scale = scale;
    if (!mask) return c;
    FB_CHECK((mask.size(-2) == 1 || mask.size(-2) == queries) &&
                 (mask.size(-1) == 1 || mask.size(-1) == keys),
             "attn_mask of shape ", mask.sizes(), " does not fit ", queries, " queries and ", keys,
             " keys");
    c.mask = heads_of(mask, batch);
    c.mask_is_bool = mask.dtype() == DType::kBool;
    return c;
  }

  Tensor query, key, value, mask;
  Dims batch;
};

}  // namespace

std::tuple<Tensor, Tensor> compute::attention(const Tensor& query, const Tensor& key,
                                              const Tensor& value, const Tensor& attn_mask,
                                              bool is_causal, double scale) {
  const Operands operands(query, key, value, attn_mask);
  kernel::AttentionCall call = operands.call(is_causal, scale);
  Tensor output = in_order_of(
      operands.query, with_matrix(operands.batch, call.queries, call.value_features), call.dtype);
  Dims rows = operands.batch;
  rows.push_back(call.queries);
  Tensor logsumexp = make_tensor(rows, compute_type(call.dtype), output.device());
  if (output.numel() == 0) return {cast(output, query.dtype()), logsumexp};
  call.output = heads_of(output, operands.batch);
  call.logsumexp = logsumexp.data();
  // A GPU's kernels are only queued here, and what that takes may need Python's lock.
  const BlockingRegion unlocked(output.device() == kHost);
  kernel::of(output).attention(call);
  return {cast(output, query.dtype()), logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> compute::attention_backward(
    const Tensor& gradient, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask, const Tensor& output, const Tensor& logsumexp, bool is_causal,
    double scale) {
  const Operands operands(query, key, value, attn_mask);
  kernel::AttentionCall call = operands.call(is_causal, scale);
  const auto gradient_of = [&](const Tensor& t) {
    return in_order_of(t, with_matrix(operands.batch, t.size(-2), t.size(-1)), call.dtype);
  };
  const Tensor coming = operand(gradient), result = operand(output), sums = contiguous(logsumexp);
  Tensor gq = gradient_of(operands.query), gk = gradient_of(operands.key),
         gv = gradient_of(operands.value);
  call.output = heads_of(result, operands.batch);
  call.logsumexp = sums.data();
  const kernel::AttentionGradients gradients{
      heads_of(coming, operands.batch), heads_of(gq, operands.batch), heads_of(gk, operands.batch),
      heads_of(gv, operands.batch)};
  {
    const BlockingRegion unlocked(gq.device() == kHost);
    kernel::of(gq).attention_backward(call, gradients);
  }
  const DType dtype = query.dtype();
  return {cast(gq, dtype), cast(gk, dtype), cast(gv, dtype)};
}

Tensor composed::nn_functional_scaled_dot_product_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
    double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
  check_inputs(query, key, value, attn_mask);
  FB_CHECK(dropout_p >= 0 && dropout_p <= 1,
           "dropout probability has to be between 0 and 1, but got ", dropout_p);
  FB_CHECK(!is_causal || !attn_mask, "attn_mask must be None with is_causal=True");
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  if (enable_gqa && query.size(-3) != key.size(-3)) {
    const Grouped g = grouped(query, key, value, attn_mask);
    return ops::flatten(composed::nn_functional_scaled_dot_product_attention(
                            g.query, g.key, g.value, g.mask, dropout_p, is_causal, factor, false),
                        -4, -3);
  }
  const bool learns_mask = attn_mask && attn_mask->flags & (kRequiresGrad | kDual);
  if (dropout_p == 0 && !learns_mask)
    return std::get<0>(ops::attention(query, key, value, attn_mask, is_causal, factor));
  const Tensor weights = attention_weights(query, key, attn_mask, is_causal, factor);
  return composed::matmul(attention_dropout(weights, dropout_p), value);
}

}  // namespace fb::ops

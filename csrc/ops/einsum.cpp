// Sums of products by Einstein's convention: reads the equation, then contracts operands two at a
// time.
#include <array>
#include <string_view>

#include "autograd/autocast.h"
#include "gen/ops/arith.h"
#include "gen/ops/copy.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view.h"
#include "ops/matrix.h"
#include "ops/output.h"

namespace fb::ops {
namespace {

constexpr int kLetters = 52;
constexpr int kEllipsis =
    kLetters;  // stands for the dimensions of the operand that no letter names

int letter_index(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  return -1;
}
char letter_at(int index) { return static_cast<char>(index < 26 ? 'A' + index : 'a' + index - 26); }

// The subscripts of one operand or of the output.
std::vector<int> parse_subscripts(std::string_view text) {
  std::vector<int> labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '.') {
      FB_CHECK(text.substr(i, 3) == "..." &&
                   std::find(labels.begin(), labels.end(), kEllipsis) == labels.end(),
               "found '.' in '", text, "' that is not part of one ellipsis (...)");
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    const int label = letter_index(text[i]);
    FB_CHECK(label >= 0, "expected subscripts to be letters, got '", text[i], "' in '", text, "'");
    labels.push_back(label);
  }
  return labels;
}

struct Equation {
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
};

// Without '->' the output has the ellipsis, then the letters that occur once, in their order.
std::vector<int> implied_output(const std::vector<std::vector<int>>& inputs) {
  std::array<int, kLetters + 1> count{};
  for (const auto& labels : inputs) {
    for (const int label : labels) ++count[label];
  }
  std::vector<int> output;
  if (count[kEllipsis] > 0) output.push_back(kEllipsis);
  for (int label = 0; label < kLetters; ++label) {
    if (count[label] == 1) output.push_back(label);
  }
  return output;
}

Equation parse(const std::string& text, size_t operand_count) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    equation.inputs.push_back(parse_subscripts(left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  FB_CHECK(equation.inputs.size() == operand_count, "the equation '", text, "' is for ",
           equation.inputs.size(), " operands, got ", operand_count);
  if (arrow == std::string::npos) {
    equation.output = implied_output(equation.inputs);
    return equation;
  }
  equation.output = parse_subscripts(std::string_view(text).substr(arrow + 2));
  for (const int label : equation.output) {
    FB_CHECK(std::count(equation.output.begin(), equation.output.end(), label) == 1,
             "the output subscript '", letter_at(label), "' occurs more than once");
    bool known = label == kEllipsis;
    for (const auto& labels : equation.inputs)
      known = known || std::find(labels.begin(), labels.end(), label) != labels.end();
    FB_CHECK(known, "the output subscript '", letter_at(label), "' is in no operand");
  }
  return equation;
}

// The axis of each label. All operands are permuted to the same axes: those of the output first,
// then the summed ones.
struct Axes {
  std::array<int64_t, kLetters> of_letter;
  int64_t ellipsis_start = 0;  // of ellipsis_size dimensions, right-aligned for shorter ones
  int64_t ellipsis_size = 0;
  int64_t output_count = 0;
  int64_t count = 0;
};

Axes assign_axes(const Equation& equation, TensorList operands) {
  Axes axes;
  axes.of_letter.fill(-1);
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<int>& labels = equation.inputs[i];
    const int64_t ndim = operands[i].dim();
    const bool has_ellipsis = std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
    const int64_t named = static_cast<int64_t>(labels.size()) - (has_ellipsis ? 1 : 0);
    FB_CHECK(has_ellipsis ? named <= ndim : named == ndim, "operand ", i, " of shape ",
             operands[i].sizes(), " does not have the ", named, " dimensions of its subscripts");
    if (has_ellipsis) axes.ellipsis_size = std::max(axes.ellipsis_size, ndim - named);
  }
  bool ellipsis_kept = false;
  for (const int label : equation.output) {
    if (label == kEllipsis) {
      axes.ellipsis_start = axes.count;
      axes.count += axes.ellipsis_size;
      ellipsis_kept = true;
    } else {
      axes.of_letter[label] = axes.count++;
    }
  }
  axes.output_count = axes.count;
  if (!ellipsis_kept) {
    axes.ellipsis_start = axes.count;
    axes.count += axes.ellipsis_size;
  }
  for (const auto& labels : equation.inputs) {
    for (const int label : labels) {
      if (label != kEllipsis && axes.of_letter[label] < 0) axes.of_letter[label] = axes.count++;
    }
  }
  return axes;
}

// The axis of each dimension of an operand. An ellipsis shorter than another operand's takes the
// last of its axes.
Dims axes_of(const Tensor& operand, const std::vector<int>& labels, const Axes& axes) {
  Dims result;
  const int64_t spare = operand.dim() - (static_cast<int64_t>(labels.size()) - 1);
  for (const int label : labels) {
    if (label != kEllipsis) {
      result.push_back(axes.of_letter[label]);
      continue;
    }
    for (int64_t i = 0; i < spare; ++i)
      result.push_back(axes.ellipsis_start + axes.ellipsis_size - spare + i);
  }
  return result;
}

// Takes diagonals until no two dimensions lie along the same axis.
Tensor without_repeats(const Tensor& operand, Dims& along, size_t index) {
  Tensor result = operand;
  for (size_t i = 0; i < along.size(); ++i) {
    const auto same = std::find(along.begin() + i + 1, along.end(), along[i]);
    if (same == along.end()) continue;
    const auto j = static_cast<size_t>(same - along.begin());
    FB_CHECK(result.sizes()[i] == result.sizes()[j], "a subscript is repeated for operand ", index,
             " of shape ", operand.sizes(), ", but the sizes ", result.sizes()[i], " and ",
             result.sizes()[j], " differ");
    result = ops::diagonal(result, 0, static_cast<int64_t>(i), static_cast<int64_t>(j));
    along.push_back(along[i]);
    along.erase(j);
    along.erase(i);
    --i;
  }
  return result;
}

// The operand as a view with all axes in order, of size 1 for axes that it does not have.
Tensor align(const Tensor& operand, const std::vector<int>& labels, const Axes& axes,
             size_t index) {
  Dims along = axes_of(operand, labels, axes);
  Tensor result = without_repeats(operand, along, index);
  Dims order, sizes;
  for (int64_t axis = 0; axis < axes.count; ++axis) {
    const auto position = std::find(along.begin(), along.end(), axis);
    sizes.push_back(position == along.end() ? 1 : result.sizes()[position - along.begin()]);
    if (position != along.end()) order.push_back(position - along.begin());
  }
  if (!std::is_sorted(order.begin(), order.end())) result = ops::permute(result, order);
  return result.sizes() == sizes ? result : ops::view(result, sizes);
}

// a times b, summed over `summed`. Both have the same number of dimensions. `mixed`: the caller's
// operands have different types.
Tensor multiply_sum(const Tensor& a, const Tensor& b, const Dims& summed, bool mixed) {
  Dims shared, left_only, right_only, contracted, early_a, early_b;
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    const bool in_a = a.sizes()[dim] != 1;
    const bool in_b = b.sizes()[dim] != 1;
    const bool is_summed = std::find(summed.begin(), summed.end(), dim) != summed.end();
    if (is_summed && in_a && in_b)
      contracted.push_back(dim);
    else if (is_summed && in_a)
      early_a.push_back(dim);
    else if (is_summed && in_b)
      early_b.push_back(dim);
    else if (in_a && in_b)
      shared.push_back(dim);
    else if (in_a)
      left_only.push_back(dim);
    else
      right_only.push_back(dim);
  }
  // Products of elements promote; matrix products do not.
  if (mixed && !contracted.empty()) check_same_dtype(a, b);
  // An axis of one operand alone is summed by the rules of sum: integers become int64.
  Tensor left = early_a.empty() ? a : ops::sum(a, early_a, true);
  Tensor right = early_b.empty() ? b : ops::sum(b, early_b, true);
  const DType type = promote(left.dtype(), right.dtype());
  left = ops::to_dtype(left, type);
  right = ops::to_dtype(right, type);
  if (contracted.empty()) return ops::mul(left, right);
  // The operand whose axes come first gives the rows, so that the product lies in their order.
  if (!left_only.empty() && !right_only.empty() && right_only.back() < left_only[0]) {
    std::swap(left, right);
    std::swap(left_only, right_only);
  }

  const auto volume = [](const Tensor& t, const Dims& dims) {
    int64_t n = 1;
    for (const int64_t dim : dims) n *= t.sizes()[dim];
    return n;
  };
  const auto order = [](const Dims& x, const Dims& y, const Dims& z, const Dims& rest) {
    Dims all = x;
    for (const Dims* part : {&y, &z, &rest})
      for (const int64_t dim : *part) all.push_back(dim);
    return all;
  };
  // Dimensions of size 1 in an operand go to its end, where they have no effect.
  Dims ones_left = right_only, ones_right = left_only;
  for (const Dims* early : {&early_a, &early_b}) {
    for (const int64_t dim : *early) {
      ones_left.push_back(dim);
      ones_right.push_back(dim);
    }
  }
  const int64_t batch = volume(left, shared);
  const int64_t depth = volume(left, contracted);
  const Tensor product =
      ops::bmm(ops::reshape(ops::permute(left, order(shared, left_only, contracted, ones_left)),
                            {batch, volume(left, left_only), depth}),
               ops::reshape(ops::permute(right, order(shared, contracted, right_only, ones_right)),
                            {batch, depth, volume(right, right_only)}));
  // Back from (shared, left, right, summed) to the order of the axes.
  Dims summed_ones = contracted;
  for (const Dims* early : {&early_a, &early_b})
    for (const int64_t dim : *early) summed_ones.push_back(dim);
  const Dims from = order(shared, left_only, right_only, summed_ones);
  Dims sizes(from.size(), 1);
  Dims back(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t dim = from[i];
    const bool is_one = i >= from.size() - summed_ones.size();
    sizes[i] = is_one ? 1 : std::max(left.sizes()[dim], right.sizes()[dim]);
    if (!is_one && (left.sizes()[dim] == 0 || right.sizes()[dim] == 0)) sizes[i] = 0;
    back[dim] = static_cast<int64_t>(i);
  }
  return ops::permute(ops::reshape(product, sizes), back);
}

void check_sizes(const std::vector<Tensor>& aligned) {
  Dims sizes(aligned[0].dim(), 1);
  for (size_t i = 0; i < aligned.size(); ++i) {
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      const int64_t size = aligned[i].sizes()[axis];
      FB_CHECK(sizes[axis] == 1 || size == 1 || size == sizes[axis], "operand ", i, " has size ",
               size, " for a subscript that has size ", sizes[axis], " in an earlier operand");
      if (size != 1) sizes[axis] = size;
    }
  }
}

}  // namespace

Tensor _einsum(const std::string& equation_text, TensorList operands) {
  FB_CHECK(!operands.empty(), "expected at least one operand");
  const Equation equation = parse(equation_text, operands.size());
  const Axes axes = assign_axes(equation, operands);
  std::vector<Tensor> aligned;
  for (size_t i = 0; i < operands.size(); ++i) {
    aligned.push_back(align(operands[i], equation.inputs[i], axes, i));
  }
  check_sizes(aligned);
  // An axis is summed together with the last operand that has it.
  std::vector<Dims> summed_at(operands.size());
  for (int64_t axis = axes.output_count; axis < axes.count; ++axis) {
    size_t last = 0;
    for (size_t i = 0; i < aligned.size(); ++i) {
      if (aligned[i].sizes()[axis] != 1) last = i;
    }
    summed_at[last].push_back(axis);
  }
  // Under autocast the products convert the types.
  const bool mixed = !autocast::is_on() && std::ranges::any_of(operands, [&](const Tensor& each) {
    return each.dtype() != operands[0].dtype();
  });
  Tensor result = aligned[0];
  if (!summed_at[0].empty()) result = ops::sum(result, summed_at[0], true);
  for (size_t i = 1; i < aligned.size(); ++i)
    result = multiply_sum(result, aligned[i], summed_at[i], mixed);
  return ops::view(result, result.sizes().first(axes.output_count));
}

}  // namespace fb::ops

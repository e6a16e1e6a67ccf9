// The variables of function transforms.
#include <algorithm>
#include <unordered_set>

#include "autograd/batch.h"
#include "gen/ops/view.h"

namespace fb::autograd {
namespace {

// The levels at which a function of `t` may give different results for each sample.
std::vector<int64_t> levels_of_results(const Tensor& t) {
  const std::vector<int64_t> own = batch_levels_of(t);
  std::vector<int64_t> levels;
  for (const BatchLevel& each : batch_levels())
    if (each.has_primals || std::ranges::count(own, each.level)) levels.push_back(each.level);
  return levels;
}

}  // namespace

Tensor variable_of(const Tensor& t) {
  const std::vector<int64_t> levels = levels_of_results(t);
  const Tensor all = samples_of(t, levels);
  if (requires_grad(all)) return make_batched(ops::view_as(all, all), levels);
  const Tensor leaf = without_history(all);
  set_requires_grad(leaf, true);
  return make_batched(leaf, levels);
}

Tensor without_history(const Tensor& t) {
  return map_dual(t, [](const Tensor& part) { return detached(part); });
}

bool leads_elsewhere(TensorList roots, TensorList variables) {
  std::unordered_set<const Node*> leaves;
  std::unordered_set<const Node*> through;
  for (const Tensor& each : variables) {
    const Edge edge = gradient_edge(bottom_of(each));
    (edge.node->is_accumulator ? leaves : through).insert(edge.node.get());
  }
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> open;
  const auto visit = [&](const Node* node) {
    if (node && seen.insert(node).second) open.push_back(node);
  };
  std::vector<Edge> starts;
  for (const Tensor& root : roots) visit(starts.emplace_back(gradient_edge(root)).node.get());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (through.contains(node) || (node->is_accumulator && !leaves.contains(node))) return true;
    for (const Edge& edge : node->edges) visit(edge.node.get());
  }
  return false;
}

}  // namespace fb::autograd

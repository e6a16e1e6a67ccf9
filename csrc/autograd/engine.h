// Runs a graph backwards.
#pragma once

#include "autograd/node.h"

namespace fb::autograd {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
  // Without inputs, gradients accumulate in the leaves. With inputs, they accumulate in those if
  // `accumulate`, else they are returned.
  bool accumulate = true;
};

// From gradients of the roots to those of the inputs (undefined where a root does not depend on
// one).
std::vector<Tensor> backward(std::span<const Edge> roots, std::span<const Tensor> grads,
                             std::span<const Edge> inputs, const BackwardOptions& options);

// The backward that this thread is in: its number, 0 if none; and whether it has run no node yet.
uint64_t current_run();
bool will_run(Node& node);
// Whether it computes gradients of given inputs alone.
bool run_has_inputs();

// Calls one node with its hooks, and checks what it gives back. Errors name the operator.
Gradients call(Node& node, std::span<const Tensor> grads);

// Makes a gradient look like the result it belongs to: sums over dimensions that were broadcast,
// takes the real part for real results, converts the type. Refuses other shapes.
Tensor fit(Tensor grad, const OutputMeta& meta, const Node& from, size_t index);

// Set by the binding: throws if the user has interrupted the program.
inline void (*check_interrupt)() = nullptr;
// Set by the binding: adds a line to the Python exception in flight, if that is what was thrown.
inline void (*add_note)(const std::string& text) = nullptr;

struct Anomaly {
  bool enabled = false;
  bool check_nan = true;
};
extern Anomaly anomaly;

}  // namespace fb::autograd

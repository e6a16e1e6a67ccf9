// Telling observers of a call.
#include "ops/observe.h"

namespace fb::observe {
namespace {

profile::Shape shape_of(const Tensor& t) {
  if (!t) return {{}, DType::kBool};
  const IntSpan sizes = t.sizes();
  return {std::vector<int64_t>(sizes.begin(), sizes.end()), t.dtype()};
}

// What profiles show of a value; nothing for kinds that they do not use.
profile::Argument described(const ops::Value& value) {
  using Kind = ops::Value::Kind;
  switch (value.kind()) {
    case Kind::kTensor: return shape_of(value.tensor());
    case Kind::kNumber: return value.number();
    case Kind::kText: return value.text();
    case Kind::kInts: return std::vector<int64_t>(value.ints().begin(), value.ints().end());
    case Kind::kTensors: {
      std::vector<profile::Shape> shapes;
      for (const Tensor& t : value.tensors()) shapes.push_back(shape_of(t));
      return shapes;
    }
    default: return {};
  }
}

bool is_recorded_thread() { return watches(kRecord) && record_hooks.wants(); }

}  // namespace

bool wants_values() {
  return (watches(kProfile) && profile::wants(profile::kArguments)) || is_recorded_thread();
}

void Call::begin(const ops::Value* values, size_t count) {
  if (watches(kProfile) && *op_.profiled) {
    std::unique_ptr<profile::Details> details = profile::details_now();
    if (details && profile::wants(profile::kArguments)) {
      details->arguments.reserve(count);
      for (size_t i = 0; i < count; ++i) details->arguments.push_back(described(values[i]));
    }
    span_.open(profile::Kind::kOperator, op_.profiled, 0, 0, std::move(details));
  }
  if (watches(kCount)) record_hooks.count(op_);
  // There are values unless the recorder was switched on after wants_values() was asked.
  if (is_recorded_thread() && (values || op_.count == 0)) {
    number_ = record_hooks.begin(op_, values, count);
    is_recorded_ = true;
  }
}

}  // namespace fb::observe

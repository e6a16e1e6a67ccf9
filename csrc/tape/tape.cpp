// The recorder. See Note [Tapes].
#include "tape/tape.h"

#include "ops/observe.h"
#include "tape/count.h"

namespace fb::tape {
namespace {

using ops::Operator;
using ops::Value;

// What this thread records. `is_inside`: a call that is recorded already.
constinit thread_local Tape* active = nullptr;
constinit thread_local bool is_inside = false;
// Of all threads.
constinit std::atomic<int> running_tapes{0};

enum Seen : uint64_t { kTransparent, kRecorded };

}  // namespace

// What operators tell of.
struct Recording {
  static bool wants() { return active && !is_inside; }

  static uint64_t begin(const Operator& op, const Value* arguments, size_t count) {
    if (active->in_parts_ && op.is(ops::kComposite)) return kTransparent;
    Record& record = active->pending_;
    record = Record();
    record.op = &op;
    for (size_t i = 0; i < count; ++i) record.arguments.push_back(active->item_of(arguments[i]));
    record.location = autograd::SourceLocation::here();
    is_inside = true;
    return kRecorded;
  }

  static void end(uint64_t call, const Operator& op, const ops::Results* results) {
    if (call == kTransparent) return;
    is_inside = false;
    if (!active || !results) return;
    Record record = std::move(active->pending_);
    const auto maker = static_cast<int32_t>(active->records_.size());
    if (op.is(ops::kWritesMany)) {
      for (size_t i = 0; i < record.arguments.size(); ++i)
        if (op.parameters[i].written) record.results.push_back(record.arguments[i]);
    } else if (op.is(ops::kWrites)) {
      record.results.push_back(record.arguments.front());
    } else if (op.is(ops::kStores)) {
      record.results.push_back(record.arguments.back());
    } else {
      for (const Value& result : *results) {
        const auto note = [&](const Tensor& t) {
          if (t) active->meet(t, maker);
        };
        if (result.is(Value::Kind::kTensor)) note(result.tensor());
        if (result.is(Value::Kind::kTensors))
          for (const Tensor& t : result.tensors()) note(t);
        record.results.push_back(active->item_of(result));
      }
    }
    active->records_.push_back(std::move(record));
  }
};

void install_recording() {
  observe::record_hooks = {Recording::wants, Recording::begin, Recording::end, count_call};
}

void Tape::start() {
  if (is_running_) return;
  outer_ = active;
  active = this;
  is_running_ = true;
  is_inside = false;
  ++running_tapes;
  observe::set(observe::kRecord, true);
}

void Tape::stop() {
  if (!is_running_) return;
  is_running_ = false;
  if (active == this) active = outer_;
  for (Tape* each = active; each; each = each->outer_)
    if (each->outer_ == this) each->outer_ = outer_;
  is_inside = false;
  if (--running_tapes == 0) observe::set(observe::kRecord, false);
}

int32_t Tape::meet(const Tensor& tensor, int32_t maker) {
  const auto number = static_cast<int32_t>(met_.size());
  const auto [place, is_new] = numbers_.try_emplace(tensor.operator->(), number);
  if (!is_new) return place->second;
  // Sparse tensors share an empty memory.
  const void* memory = tensor->flags & kSparse ? nullptr : tensor.storage().get();
  const int32_t shares = memory ? memory_.try_emplace(memory, number).first->second : number;
  met_.push_back({tensor, maker, shares});
  return number;
}

int32_t Tape::number_of(const Tensor& tensor) { return meet(tensor, -1); }

Item Tape::item_of(const Value& value) {
  Item item;
  if (value.is(Value::Kind::kTensor)) {
    item.kind = Item::Kind::kTensor;
    item.numbers.push_back(number_of(value.tensor()));
  } else if (value.is(Value::Kind::kTensors)) {
    item.kind = Item::Kind::kTensors;
    for (const Tensor& t : value.tensors()) item.numbers.push_back(t ? number_of(t) : -1);
  } else {
    item.value = value;
  }
  return item;
}

}  // namespace fb::tape

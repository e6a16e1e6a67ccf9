// Recorded programs that run again.
#include "tape/replay.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "autograd/autocast.h"
#include "autograd/mode.h"
#include "tape/invoke.h"
#include "tape/tape.h"

namespace fb::tape {
namespace {

using ops::Value;
using Kind = Value::Kind;
using Slots = std::vector<Value>;

// --- the modes of a step

class Mode {
 public:
  explicit Mode(const Step& step)
      : is_set_(step.has_mode),
        disables_grad_(step.has_mode && step.no_grad),
        state_(autocast::state) {
    if (!is_set_) return;
    if (disables_grad_) was_enabled_ = autograd::set_grad_enabled(false);
    for (autocast::Switch* each : {&autocast::state.cpu, &autocast::state.cuda})
      *each = {step.autocast.has_value(), step.autocast.value_or(each->lower)};
    // The casts of parameters that are kept are forgotten where the outermost region ends.
    if (state_.nesting == 0) autocast::state.caches = false;
  }
  ~Mode() {
    if (!is_set_) return;
    if (disables_grad_) autograd::set_grad_enabled(was_enabled_);
    autocast::state = state_;
  }
  Mode(const Mode&) = delete;
  Mode& operator=(const Mode&) = delete;

 private:
  bool is_set_;
  bool disables_grad_;
  bool was_enabled_ = false;
  autocast::State state_;
};

// --- sizes

int64_t integer_of(const Value& value) {
  FB_CHECK(value.is(Kind::kNumber) && value.number().kind() == Scalar::Kind::kInt,
           "a recording computes sizes of whole numbers, not of ", describe(value));
  return value.number().to<int64_t>();
}

[[noreturn]] void too_large(const std::string& note) {
  fail(ErrorKind::kRuntime, "a size that the program computes by ", note,
       " does not fit in 64 bits");
}

int64_t power(int64_t base, int64_t exponent, const std::string& note) {
  FB_CHECK(exponent >= 0, "a size to the power of ", exponent, " is no size");
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) too_large(note);
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) too_large(note);
  }
  return result;
}

int64_t computed(const std::string& note, int64_t a, int64_t b) {
  int64_t result = 0;
  if (note == "add") {
    if (__builtin_add_overflow(a, b, &result)) too_large(note);
  } else if (note == "sub") {
    if (__builtin_sub_overflow(a, b, &result)) too_large(note);
  } else if (note == "mul") {
    if (__builtin_mul_overflow(a, b, &result)) too_large(note);
  } else if (note == "pow") {
    result = power(a, b, note);
  } else {  // by Python's rules: rounded down, the remainder has the sign of the divisor
    FB_CHECK(b != 0, "the program divides a size by zero");
    if (b == -1) return note == "mod" ? 0 : computed("sub", 0, a);
    const bool is_below = a % b != 0 && (a < 0) != (b < 0);
    result = note == "mod" ? a % b + (is_below ? b : 0) : a / b - is_below;
  }
  return result;
}

bool is_float(const Value& value) {
  return value.is(Kind::kNumber) && value.number().kind() == Scalar::Kind::kFloat;
}

template <class T>
bool compared(std::string_view name, T a, T b) {
  if (name == "eq") return a == b;
  if (name == "ne") return a != b;
  if (name == "lt") return a < b;
  if (name == "le") return a <= b;
  if (name == "gt") return a > b;
  return a >= b;
}

bool compared(std::string_view name, const Value& a, const Value& b) {
  if (is_float(a) || is_float(b))
    return compared(name, a.number().to<double>(), b.number().to<double>());
  return compared(name, a.number().to<int64_t>(), b.number().to<int64_t>());
}

std::string text_of(const Value& value) {
  const Scalar& number = value.number();
  if (number.kind() == Scalar::Kind::kBool) return number.to<bool>() ? "True" : "False";
  if (number.kind() == Scalar::Kind::kInt) return std::to_string(number.to<int64_t>());
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), number.to<double>()).ptr;
  return std::string(text, end);
}

Value noted(const Step& step, std::span<const Value> given, bool checks) {
  if (step.note == "check") {
    if (checks) check_decision(given);
    return {};
  }
  if (step.note == "size" || step.note == "rank") {
    FB_CHECK(!given.empty() && given[0].is(Kind::kTensor), "the ", step.note,
             " of something that is no tensor");
    const Tensor& tensor = given[0].tensor();
    if (step.note == "rank") return Value(static_cast<int64_t>(tensor.dim()));
    FB_CHECK(given.size() == 2, "a size is that of one dimension");
    return Value(tensor.size(integer_of(given[1])));
  }
  if (step.note == "neg") {
    FB_CHECK(given.size() == 1, "neg has one operand, not ", given.size());
    return Value(computed("sub", 0, integer_of(given[0])));
  }
  FB_CHECK(given.size() == 2, step.note, " has two operands, not ", given.size());
  return Value(computed(step.note, integer_of(given[0]), integer_of(given[1])));
}

// --- a recording of the replay

// What a tape is told where a replay is a part of what it records. The sizes that the steps ask for
// and compute are sizes of that recording, too.
class Traced {
 public:
  explicit Traced(size_t slot_count) : tape_(tracing()) {
    if (tape_) numbers_.assign(slot_count, -1);
  }

  // Calls the operator of a step.
  Results call(const Step& step, std::span<const Value> given) {
    give(step);
    Results results = invoke_recorded(*step.op, given);
    forget(step);
    return results;
  }

  void note(const Step& step, std::span<const Value> given, const Value& value) {
    if (!tape_) return;
    const int32_t size = size_of(step, given, value);
    if (!step.results.empty()) number_in(step.results[0]) = size;
  }

  // Python has a size of the result as a plain number.
  void leave(int32_t slot, const Value& value) {
    if (!tape_ || number_in(slot) < 0) return;
    tape_->add_check("is", value, {tape_->size_item(number_in(slot))});
  }

 private:
  void give(const Step& step) const {
    if (!tape_) return;
    tape_->settle();  // what a call that has failed left
    for (size_t i = 0; i < step.arguments.size(); ++i) {
      const Source& source = step.arguments[i];
      const bool is_list = source.kind == Source::Kind::kSizes;
      for (size_t k = 0; k < source.slots.size(); ++k)
        if (const int32_t size = number_in(source.slots[k]); size >= 0)
          tape_->give(step.op->parameters[i].name, is_list ? static_cast<int32_t>(k) : -1, size,
                      static_cast<int32_t>(i));
    }
  }
  // What was in the slots of the results before.
  void forget(const Step& step) {
    if (!tape_) return;
    tape_->settle();
    for (const int32_t slot : step.results)
      if (slot >= 0) number_in(slot) = -1;
  }

  // Lists have -1 for what is no slot.
  int32_t number_in(int32_t slot) const {
    return slot < 0 ? -1 : numbers_[static_cast<size_t>(slot)];
  }
  int32_t& number_in(int32_t slot) { return numbers_[static_cast<size_t>(slot)]; }

  // The number of what a note made; -1 where it does not depend on the inputs of the tape.
  int32_t size_of(const Step& step, std::span<const Value> given, const Value& value) {
    if (step.note == "size" || step.note == "rank") {
      const Tensor& tensor = given[0].tensor();
      if (!tape_->is_sized(tensor)) return -1;
      if (step.note == "size")
        return tape_->add_size(tensor, wrap_dim(integer_of(given[1]), tensor.dim()));
      return tape_->traces_ranks() ? tape_->add_rank(tensor) : -1;
    }
    std::vector<Item> items;
    bool is_traced = false;
    for (size_t i = 0; i < given.size(); ++i) {
      const Source& source = step.arguments[i];
      const int32_t size = source.kind == Source::Kind::kSlot ? number_in(source.slots[0]) : -1;
      is_traced |= size >= 0;
      items.push_back(size >= 0 ? tape_->size_item(size) : Item());
      if (size < 0) items.back().value = given[i];
    }
    if (!is_traced) return -1;
    if (step.note != "check")
      return tape_->add_arithmetic(arithmetic_named(step.note), std::move(items),
                                   integer_of(value));
    FB_CHECK(given.size() >= 3 && given[0].is(Kind::kText), "a decision has a name and operands");
    items.erase(items.begin(), items.begin() + 2);
    tape_->add_check(given[0].text().c_str(), given[1], std::move(items));
    return -1;
  }

  Tape* tape_;
  std::vector<int32_t> numbers_;  // of sizes, by slots
};

// --- arguments and results

Value value_of(const Source& source, const Slots& slots) {
  const auto at = [&](int32_t slot) -> const Value& { return slots[static_cast<size_t>(slot)]; };
  switch (source.kind) {
    case Source::Kind::kValue: return source.value;
    case Source::Kind::kSlot: return at(source.slots[0]);
    case Source::Kind::kTensors: {
      std::vector<Tensor> tensors;
      for (const int32_t slot : source.slots) {
        FB_CHECK_TYPE(slot < 0 || at(slot).is(Kind::kTensor), "a list of tensors holds a ",
                      describe(at(slot)));
        tensors.push_back(slot < 0 ? Tensor() : at(slot).tensor());
      }
      return Value(std::move(tensors));
    }
    case Source::Kind::kSizes: {
      Dims numbers = source.value.ints();
      for (size_t i = 0; i < source.slots.size(); ++i)
        if (source.slots[i] >= 0) numbers[i] = integer_of(at(source.slots[i]));
      return Value(numbers);
    }
  }
  return {};
}

void keep(const Step& step, const Results& results, Slots& slots) {
  size_t count = 0;
  const auto put = [&](Value value) {
    if (count < step.results.size() && step.results[count] >= 0)
      slots[static_cast<size_t>(step.results[count])] = std::move(value);
    ++count;
  };
  for (const Value& result : results) {
    if (result.is(Kind::kTensors))
      for (const Tensor& each : result.tensors()) put(Value(each));
    else
      put(result);
  }
  FB_CHECK(count == step.results.size(), "the call returned ", count,
           " values, and the program was recorded where it returned ", step.results.size());
}

}  // namespace

void check_decision(std::span<const Value> given) {
  FB_CHECK(given.size() >= 3 && given[0].is(Kind::kText), "a decision has a name and operands");
  const std::string& name = given[0].text();
  const bool is_unary = name == "is" || name == "is true";
  static constexpr std::string_view kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  bool is_known = is_unary && given.size() == 3;
  for (const std::string_view each : kComparisons) is_known |= name == each && given.size() == 4;
  for (size_t i = 1; i < given.size(); ++i) is_known = is_known && given[i].is(Kind::kNumber);
  FB_CHECK(is_known, "a recording decides about sizes, not by '", name, "' of ", given.size() - 2,
           " operands");
  const Value& outcome = given[1];
  bool is_same = false;
  if (name == "is")
    is_same = compared("eq", given[2], outcome);
  else if (name == "is true")
    is_same = (given[2].number().to<double>() != 0) == outcome.number().to<bool>();
  else
    is_same = compared(name, given[2], given[3]) == outcome.number().to<bool>();
  if (is_same) return;
  std::string about = name;
  for (size_t i = 2; i < given.size(); ++i) about += " " + text_of(given[i]);
  fail(
      ErrorKind::kRuntime, "this program was recorded where '", about, "' was ", text_of(outcome),
      ": what Python does with sizes (if x.shape[0] > n, float(x.shape[0])) is recorded as it came "
      "out, and for these inputs it would come out otherwise; record it with such inputs, or use "
      "operators on whole tensors");
}

Replay::Replay(size_t slot_count, std::vector<Step> steps, std::vector<int32_t> outputs)
    : slot_count_(slot_count), steps_(std::move(steps)), outputs_(std::move(outputs)) {
  // -1 where it may stand for none.
  const auto check_slots = [&](const std::vector<int32_t>& slots, bool may_be_none) {
    for (const int32_t slot : slots)
      FB_CHECK_VALUE(slot >= (may_be_none ? -1 : 0) && slot < static_cast<int64_t>(slot_count_),
                     "a program names the value ", slot, ", and has ", slot_count_);
  };
  for (const Step& step : steps_) {
    for (const Source& source : step.arguments)
      check_slots(source.slots, source.kind != Source::Kind::kSlot);
    check_slots(step.results, step.op != nullptr);
    check_slots(step.dead, false);
  }
  check_slots(outputs_, false);
}

std::vector<Value> Replay::run(std::span<const Input> inputs, bool checks,
                               const char*& running) const {
  Slots slots(slot_count_);
  for (const Input& input : inputs) {
    FB_CHECK_VALUE(input.slot >= 0 && static_cast<size_t>(input.slot) < slot_count_,
                   "a program has no value ", input.slot);
    slots[static_cast<size_t>(input.slot)] = input.value;
  }
  Traced traced(slot_count_);
  for (const Step& step : steps_) {
    running = step.op ? step.op->shown : nullptr;
    SmallVec<Value, 8> given;
    for (const Source& source : step.arguments) given.push_back(value_of(source, slots));
    const std::span<const Value> arguments(given.data(), given.size());
    if (step.op) {
      const Mode mode(step);
      const Results results = traced.call(step, arguments);
      keep(step, results, slots);
    } else {
      Value value = noted(step, arguments, checks);
      traced.note(step, arguments, value);
      if (!step.results.empty()) slots[static_cast<size_t>(step.results[0])] = std::move(value);
    }
    for (const int32_t slot : step.dead) slots[static_cast<size_t>(slot)] = Value();
  }
  std::vector<Value> results;
  for (const int32_t slot : outputs_) {
    results.push_back(slots[static_cast<size_t>(slot)]);
    traced.leave(slot, results.back());
  }
  return results;
}

}  // namespace fb::tape

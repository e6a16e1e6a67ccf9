// Recorded programs that run again, for other inputs.
//
// A program is a list of steps over numbered slots: operators by their rows, and what was noted of
// sizes. Every step goes through `invoke`, which checks its arguments, so that a program may come
// from a file. Slots are emptied after the last step that reads them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/operator.h"

namespace fb::tape {

// Where a step has an argument from: a value as it is, a slot, or a list with slots in it. In lists
// of integers -1 stands for the number in `value`, in lists of tensors for none.
struct Source {
  enum class Kind : uint8_t { kValue, kSlot, kTensors, kSizes };
  Kind kind = Kind::kValue;
  ops::Value value;
  std::vector<int32_t> slots;
};

struct Step {
  const ops::Operator* op = nullptr;  // null: of sizes, by the name of the note
  std::string note;
  std::vector<Source> arguments;
  std::vector<int32_t> results;  // slots, -1 for results that are not kept
  bool no_grad = false;
  std::optional<DType> autocast;
  bool has_mode = false;
  std::vector<int32_t> dead;  // slots that nothing reads after this
};

// Raises if a decision about sizes is another one than was recorded: its name, how it came out, and
// what it was about.
void check_decision(std::span<const ops::Value> given);

class Replay {
 public:
  Replay(size_t slot_count, std::vector<Step> steps, std::vector<int32_t> outputs);

  struct Input {
    int32_t slot;
    ops::Value value;
  };
  // The values of the outputs. Without `checks`, decisions about sizes that would come out
  // otherwise are let pass. `running` is the operator that is called, for messages.
  std::vector<ops::Value> run(std::span<const Input> inputs, bool checks,
                              const char*& running) const;

 private:
  size_t slot_count_;
  std::vector<Step> steps_;
  std::vector<int32_t> outputs_;
};

}  // namespace fb::tape

// The recorder: what a thread does with tensors, as a flat list of calls.
//
// Note [Tapes]: a tape gives every tensor that it meets a number, by its identity: a tensor that is
// changed in place keeps its number, a view has one of its own and the number of the first tensor
// that was met on the same memory. A call names its operator, and its arguments are numbers of
// tensors or values as they are. Calls inside of a recorded call are not recorded. A composition is
// a call like others, unless the tape asks for its parts. The tape holds all tensors that it has
// met, or another one might have the identity of one that is gone.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "autograd/source_location.h"
#include "ops/operator.h"

namespace fb::tape {

// A tensor's number, the numbers of a list of tensors, or any other value as it is. -1: no tensor.
struct Item {
  enum class Kind : uint8_t { kValue, kTensor, kTensors };
  Kind kind = Kind::kValue;
  ops::Value value;
  std::vector<int32_t> numbers;
};

struct Record {
  const ops::Operator* op = nullptr;
  std::vector<Item> arguments;
  std::vector<Item> results;
  autograd::SourceLocation location;
};

// A tensor that the tape has met.
struct Met {
  Tensor tensor;
  int32_t maker;   // the record whose result it is; -1: it comes from outside
  int32_t shares;  // the number of the first one on the same memory: its own, if it is that
};

class Tape {
 public:
  // `in_parts`: of compositions the parts are recorded.
  explicit Tape(bool in_parts) : in_parts_(in_parts) {}
  ~Tape() { stop(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Records what this thread does from now on; the tape that was running waits meanwhile.
  void start();
  void stop();
  bool is_running() const { return is_running_; }

  // The number of a tensor, which is met now if it was not before.
  int32_t number_of(const Tensor& tensor);
  const std::vector<Record>& records() const { return records_; }
  const std::vector<Met>& met() const { return met_; }

 private:
  friend struct Recording;
  Item item_of(const ops::Value& value);
  int32_t meet(const Tensor& tensor, int32_t maker);

  bool in_parts_;
  bool is_running_ = false;
  Tape* outer_ = nullptr;
  Record pending_;
  std::vector<Record> records_;
  std::vector<Met> met_;
  std::unordered_map<const void*, int32_t> numbers_;  // by TensorImpl
  std::unordered_map<const void*, int32_t> memory_;   // by storage
};

// Lets operators tell tapes and counters of their calls; once, when the program begins.
void install_recording();

}  // namespace fb::tape

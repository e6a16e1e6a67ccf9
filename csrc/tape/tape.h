// The recorder: what a thread does with tensors, as a flat list of calls.
//
// Note [Tapes]: a tape gives every tensor that it meets a number, by its identity: a tensor that is
// changed in place keeps its number, a view has one of its own and the number of the first tensor
// that was met on the same memory. A call names its operator, and its arguments are numbers of
// tensors or values as they are. Calls inside of a recorded call are not recorded. A composition is
// a call like others, unless the tape asks for its parts. The tape holds all tensors that it has
// met, or another one might have the identity of one that is gone.
//
// Note [Sizes on tapes]: a tape that traces sizes numbers them, too. Asking a tensor that depends
// on the inputs for its shape is a record, as is arithmetic with sizes and what Python decides by
// them; such records have a name and no operator. Where the binding reads a size as an argument it
// says so before it calls the operator (`give`), and the record of that call then holds the number
// of the size in its place. A size that finds no place in the next call becomes a check that it is
// what it was, so that none is lost in silence. So does one that Python has as a plain number
// (`range(n)`), unless whoever records would rather hear of it. Elements that Python reads are
// records, too.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/source_location.h"
#include "ops/operator.h"

namespace fb::tape {

// A tensor's number, the numbers of a list of tensors, or any other value as it is. -1: no tensor.
// A size has its number beside the value that it had; in a list of integers, those that are no
// sizes have -1.
struct Item {
  enum class Kind : uint8_t { kValue, kTensor, kTensors, kSize, kSizes };
  Kind kind = Kind::kValue;
  ops::Value value;
  std::vector<int32_t> numbers;
};

struct Record {
  const ops::Operator* op = nullptr;  // null: a note
  // Of a note: "size" and "rank" of a tensor, the arithmetic that made a size ("mul"), "check", or
  // "read", of elements.
  const char* note = "";
  std::vector<Item> arguments;
  std::vector<Item> results;
  SourceLocation location;
  // What the thread was in when it called.
  bool no_grad = false;
  std::optional<DType> autocast;
};

constexpr int32_t kFromOutside = -1;
constexpr int32_t kMadeOfData = -2;

// A tensor that the tape has met.
struct Met {
  Tensor tensor;
  int32_t maker;    // the record whose result it is; kFromOutside, or kMadeOfData while it ran
  int32_t shares;   // the number of the first one on the same memory: its own, if it is that
  bool is_sized;    // its sizes depend on those of the inputs
  Tensor original;  // of one that is made of data, what it was: the program may change it
};

// What of sizes a tape records: nothing, sizes alone, or also how many dimensions there are.
enum class Tracing : uint8_t { kNothing, kSizes, kRanks };

class Tape {
 public:
  // `in_parts`: of compositions the parts are recorded.
  explicit Tape(bool in_parts, Tracing tracing = Tracing::kNothing)
      : in_parts_(in_parts), tracing_(tracing) {}
  ~Tape() { stop(); }
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Records what this thread does from now on; the tape that was running, or a block that is not
  // recorded, waits meanwhile.
  void start();
  void stop();
  bool is_running() const { return is_running_; }

  // The number of a tensor, which is met now if it was not before.
  int32_t number_of(const Tensor& tensor);
  // -1 for one that was not met.
  int32_t known_number_of(const Tensor& tensor) const;
  // Of an input, whose sizes may be others the next time.
  void mark_sized(const Tensor& tensor) { met_[size_t(number_of(tensor))].is_sized = true; }
  bool is_sized(const Tensor& tensor) const;
  bool traces_ranks() const { return tracing_ == Tracing::kRanks; }
  // A tensor that Python made of its own data while the tape ran.
  void note_made(const Tensor& tensor);
  const std::vector<Record>& records() const { return records_; }
  const std::vector<Met>& met() const { return met_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }

  // --- notes; those that make a size return its number
  int32_t add_size(const Tensor& tensor, int64_t dim);
  int32_t add_rank(const Tensor& tensor);
  int32_t add_arithmetic(const char* name, std::vector<Item> operands, int64_t value);
  // That a comparison, or "is true" or "is", of operands came out like this.
  void add_check(const char* name, const ops::Value& outcome, std::vector<Item> operands);
  // None where more than one element was read.
  void add_read(const Tensor& tensor, const char* how, const ops::Value& value);
  Item size_item(int32_t number) const;
  // Python has a size as a plain number, which is not recorded.
  void leave(int32_t size);

  // The next call is given a size: as the argument of a name, or within it as an element of a list,
  // or as some argument (no name). Where the operator calls it otherwise, `place` tells which it
  // is.
  void give(const char* parameter, int32_t element, int32_t size, int32_t place = -1);
  // Sizes that the calls since have had no place for become checks.
  void settle();

  // Called where Python reads elements or a length: by which method, and of what.
  std::function<void(const char* how, const Tensor& tensor)> on_read;
  // Called where a size leaves, instead of a check of it; numbers of dimensions are always checked.
  std::function<void(int64_t value, const std::string& location)> on_leave;

  // Who started it, for the binding: an object that the functions above keep.
  void* owner = nullptr;
  // The tape that waits for this one to stop.
  Tape* outer() const { return outer_; }

 private:
  friend struct Recording;
  friend Tape* tracing();
  struct Given {
    const char* parameter;
    int32_t element;
    int32_t size;
    int32_t place;
  };

  Item item_of(const ops::Value& value);
  int32_t meet(const Tensor& tensor, int32_t maker);
  int32_t new_size(Record record, int64_t value);
  bool is_of_ranks(const Record& record) const;
  // Whether a size has its place in an argument, and is there now.
  bool put(Item& item, int32_t element, int32_t size) const;
  bool put_by_name(Record& record, const Given& given) const;
  bool put_by_value(Record& record, int32_t size) const;
  void place_sizes(Record& record);
  bool depends_on_sizes(const Record& record) const;

  bool in_parts_;
  Tracing tracing_;
  bool is_running_ = false;
  bool was_inside_ = false;  // when it was started
  Tape* outer_ = nullptr;
  Record pending_;
  std::vector<Record> records_;
  std::vector<Met> met_;
  std::vector<int64_t> sizes_;                        // what they were
  std::vector<bool> is_rank_;                         // or made of ranks alone, by size
  std::vector<Given> given_;                          // to the next call
  std::unordered_map<const void*, int32_t> numbers_;  // by TensorImpl
  std::unordered_map<const void*, int32_t> memory_;   // by address
};

// The name of arithmetic with sizes as records hold it, which lives as long as the process.
const char* arithmetic_named(std::string_view name);

// The tape of this thread, where the program itself runs and not an operator; null if there is
// none.
Tape* current();
// The same if it traces sizes.
Tape* tracing();
// The tape of this thread, also where it does not record.
Tape* innermost();

// What this thread does is not recorded meanwhile; returns whether it was so before. For checks of
// the package's own, which are no part of a program.
bool set_paused(bool is_paused);

// Lets operators tell tapes and counters of their calls; once, when the program begins.
void install_recording();

}  // namespace fb::tape

// The recorder. See Note [Tapes] and Note [Sizes on tapes].
#include "tape/tape.h"

#include "autograd/autocast.h"
#include "autograd/mode.h"
#include "ops/observe.h"
#include "ops/output.h"
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

void note_modes(Record& record) {
  record.location = SourceLocation::here();
  record.no_grad = !autograd::mode.grad_enabled || autograd::mode.inference;
  const autocast::State& switches = autocast::state;
  if (autocast::is_on())
    record.autocast = switches.cpu.is_on ? switches.cpu.lower : switches.cuda.lower;
}

Record note_of(const char* name) {
  Record record;
  record.note = name;
  note_modes(record);
  return record;
}

bool is_number(const Item& item, int64_t value) {
  if (item.kind != Item::Kind::kValue || !item.value.is(Value::Kind::kNumber)) return false;
  const Scalar& number = item.value.number();
  if (number.kind() == Scalar::Kind::kInt) return number.to<int64_t>() == value;
  return number.kind() == Scalar::Kind::kFloat && number.to<double>() == static_cast<double>(value);
}

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
    note_modes(record);
    if (!active->given_.empty()) active->place_sizes(record);
    is_inside = true;
    return kRecorded;
  }

  static void end(uint64_t call, const Operator& op, const ops::Results* results) {
    if (call == kTransparent) return;
    is_inside = false;
    if (!active || !results) return;
    Record record = std::move(active->pending_);
    const auto maker = static_cast<int32_t>(active->records_.size());
    const bool is_sized = active->tracing_ != Tracing::kNothing && active->depends_on_sizes(record);
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
          if (!t) return;
          const int32_t number = active->meet(t, maker);
          if (is_sized) active->met_[static_cast<size_t>(number)].is_sized = true;
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

const char* arithmetic_named(std::string_view name) {
  static constexpr const char* kNames[] = {"add", "sub", "mul", "floordiv", "mod", "pow", "neg"};
  for (const char* each : kNames)
    if (name == each) return each;
  fail(ErrorKind::kValue, "a tape has no arithmetic called '", name, "'");
}

Tape* current() { return is_inside ? nullptr : active; }

Tape* innermost() { return active; }

bool set_paused(bool is_paused) { return std::exchange(is_inside, is_paused); }

Tape* tracing() {
  Tape* tape = current();
  return tape && tape->tracing_ != Tracing::kNothing ? tape : nullptr;
}

void install_recording() {
  observe::record_hooks = {Recording::wants, Recording::begin, Recording::end, count_call};
}

void Tape::start() {
  if (is_running_) return;
  outer_ = active;
  active = this;
  is_running_ = true;
  was_inside_ = std::exchange(is_inside, false);
  ++running_tapes;
  observe::set(observe::kRecord, true);
}

void Tape::stop() {
  if (!is_running_) return;
  is_running_ = false;
  if (active == this) {
    active = outer_;
    is_inside = was_inside_;
  }
  for (Tape* each = active; each; each = each->outer_)
    if (each->outer_ == this) each->outer_ = outer_;
  if (--running_tapes == 0) observe::set(observe::kRecord, false);
}

int32_t Tape::meet(const Tensor& tensor, int32_t maker) {
  const auto number = static_cast<int32_t>(met_.size());
  const auto [place, is_new] = numbers_.try_emplace(tensor.operator->(), number);
  if (!is_new) return place->second;
  // By address: a tensor on the elements of another may have a storage of its own. Sparse tensors
  // share an empty memory.
  const bool has_memory = !(tensor->flags & kSparse) && tensor.storage()->bytes > 0;
  const void* memory = has_memory ? tensor.storage()->data : nullptr;
  const int32_t shares = memory ? memory_.try_emplace(memory, number).first->second : number;
  met_.push_back({tensor, maker, shares, false, Tensor()});
  return number;
}

int32_t Tape::number_of(const Tensor& tensor) { return meet(tensor, kFromOutside); }

int32_t Tape::known_number_of(const Tensor& tensor) const {
  const auto found = numbers_.find(tensor.operator->());
  return found == numbers_.end() ? -1 : found->second;
}

void Tape::note_made(const Tensor& tensor) {
  Met& met = met_[static_cast<size_t>(meet(tensor, kMadeOfData))];
  if (met.maker == kMadeOfData && !(tensor->flags & kSparse)) met.original = ops::copy_of(tensor);
}

bool Tape::is_sized(const Tensor& tensor) const {
  const int32_t number = known_number_of(tensor);
  return number >= 0 && met_[static_cast<size_t>(number)].is_sized;
}

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

// --- sizes and elements

Item Tape::size_item(int32_t number) const {
  Item item;
  item.kind = Item::Kind::kSize;
  item.value = Value(sizes_[static_cast<size_t>(number)]);
  item.numbers.push_back(number);
  return item;
}

bool Tape::is_of_ranks(const Record& record) const {
  const std::string_view note = record.note;
  if (note == "rank" || note == "size") return note == "rank";
  for (const Item& item : record.arguments)
    if (item.kind == Item::Kind::kSize && !is_rank_[static_cast<size_t>(item.numbers[0])])
      return false;
  return true;
}

int32_t Tape::new_size(Record record, int64_t value) {
  const auto number = static_cast<int32_t>(sizes_.size());
  sizes_.push_back(value);
  is_rank_.push_back(is_of_ranks(record));
  record.results.push_back(size_item(number));
  records_.push_back(std::move(record));
  return number;
}

int32_t Tape::add_size(const Tensor& tensor, int64_t dim) {
  Record record = note_of("size");
  record.arguments.push_back(item_of(tensor));
  record.arguments.push_back(item_of(Value(dim)));
  return new_size(std::move(record), tensor.sizes()[static_cast<size_t>(dim)]);
}

int32_t Tape::add_rank(const Tensor& tensor) {
  Record record = note_of("rank");
  record.arguments.push_back(item_of(tensor));
  return new_size(std::move(record), tensor.dim());
}

int32_t Tape::add_arithmetic(const char* name, std::vector<Item> operands, int64_t value) {
  Record record = note_of(name);
  record.arguments = std::move(operands);
  return new_size(std::move(record), value);
}

void Tape::add_check(const char* name, const Value& outcome, std::vector<Item> operands) {
  Record record = note_of("check");
  record.arguments.push_back(item_of(Value(std::string(name))));
  record.arguments.push_back(item_of(outcome));
  for (Item& operand : operands) record.arguments.push_back(std::move(operand));
  records_.push_back(std::move(record));
}

void Tape::leave(int32_t size) {
  const auto place = static_cast<size_t>(size);
  if (on_leave && !is_rank_[place]) {
    const std::string location = SourceLocation::here().text();
    on_leave(sizes_[place], location.empty() ? location : location.substr(4));  // " at "
  } else {
    add_check("is", Value(sizes_[place]), {size_item(size)});
  }
}

void Tape::add_read(const Tensor& tensor, const char* how, const Value& value) {
  Record record = note_of("read");
  record.arguments.push_back(item_of(tensor));
  record.arguments.push_back(item_of(Value(std::string(how))));
  record.results.push_back(item_of(value));
  records_.push_back(std::move(record));
}

void Tape::give(const char* parameter, int32_t element, int32_t size, int32_t place) {
  given_.push_back({parameter, element, size, place});
}

void Tape::settle() {
  const std::vector<Given> left = std::move(given_);
  given_.clear();
  std::vector<bool> is_checked(sizes_.size(), false);
  for (const Given& each : left) {
    const auto size = static_cast<size_t>(each.size);
    if (is_checked[size]) continue;
    is_checked[size] = true;
    add_check("is", Value(sizes_[size]), {size_item(each.size)});
  }
}

bool Tape::put(Item& item, int32_t element, int32_t size) const {
  const int64_t value = sizes_[static_cast<size_t>(size)];
  if (is_number(item, value) && element <= 0) {
    item.kind = Item::Kind::kSize;
    item.numbers.assign(1, size);
    return true;
  }
  if (!item.value.is(Value::Kind::kInts) || item.kind == Item::Kind::kTensors) return false;
  const Dims& values = item.value.ints();
  // One number may stand for a list of one.
  const auto place = static_cast<size_t>(std::max(element, 0));
  if (place >= values.size() || values[place] != value) return false;
  if (element < 0 && values.size() != 1) return false;
  item.kind = Item::Kind::kSizes;
  item.numbers.resize(values.size(), -1);
  item.numbers[place] = size;
  return true;
}

bool Tape::put_by_name(Record& record, const Given& given) const {
  for (size_t i = 0; i < record.arguments.size(); ++i)
    if (std::string_view(record.op->parameters[i].name) == given.parameter)
      return put(record.arguments[i], given.element, given.size);
  const auto place = static_cast<size_t>(given.place);
  return place < record.arguments.size() && put(record.arguments[place], given.element, given.size);
}

// Where a number could have come from more than one argument, the size has no place.
bool Tape::put_by_value(Record& record, int32_t size) const {
  for (const Item& item : record.arguments)
    if (item.kind == Item::Kind::kSize || item.kind == Item::Kind::kSizes)
      for (const int32_t number : item.numbers)
        if (number == size) return true;
  Item* found = nullptr;
  for (size_t i = 0; i < record.arguments.size(); ++i) {
    if (record.op->parameters[i].type != ops::ArgType::kOperand) continue;
    if (!is_number(record.arguments[i], sizes_[static_cast<size_t>(size)])) continue;
    if (found) return false;
    found = &record.arguments[i];
  }
  return found && put(*found, -1, size);
}

void Tape::place_sizes(Record& record) {
  std::vector<Given> left;
  for (const Given& each : given_)
    if (*each.parameter && !put_by_name(record, each)) left.push_back(each);
  for (const Given& each : given_)
    if (!*each.parameter && !put_by_value(record, each.size)) left.push_back(each);
  given_ = std::move(left);
  settle();
}

bool Tape::depends_on_sizes(const Record& record) const {
  for (const Item& item : record.arguments) {
    if (item.kind == Item::Kind::kSize || item.kind == Item::Kind::kSizes) return true;
    if (item.kind == Item::Kind::kValue) continue;
    for (const int32_t number : item.numbers)
      if (number >= 0 && met_[static_cast<size_t>(number)].is_sized) return true;
  }
  return false;
}

}  // namespace fb::tape

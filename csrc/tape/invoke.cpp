// Calls of operators by values. See Note [Calls as values].
#include "tape/invoke.h"

#include <cstdlib>
#include <string>
#include <unordered_map>

#include "autograd/autocast.h"
#include "autograd/batch.h"
#include "autograd/inplace.h"
#include "autograd/sparse.h"
#include "ops/observe.h"
#include "tape/registry.h"
#include "tape/store.h"
#include "tape/tape.h"

namespace fb::ops {

std::string name_of(const Operator& op) {
  return *op.overload ? std::string(op.name) + "." + op.overload : op.name;
}

}  // namespace fb::ops

namespace fb::tape {
namespace {

using ops::ArgType;
using ops::Parameter;
using Kind = Value::Kind;

// --- defaults, which rows hold as Python writes them

Value parse_number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  if (text.find_first_of(".e") == std::string_view::npos)
    return Value(static_cast<int64_t>(std::strtoll(copy.c_str(), &end, 10)));
  double number = std::strtod(copy.c_str(), &end);
  if (const size_t slash = text.find('/'); slash != std::string_view::npos)
    number /= std::strtod(copy.c_str() + slash + 1, nullptr);
  return Value(number);
}

Value parse_default(std::string_view text) {
  if (text == "None") return {};
  if (text == "True" || text == "False") return Value(text == "True");
  if (text == "inf") return Value(ops::kInfinity);
  if (text == "-inf") return Value(-ops::kInfinity);
  if (text[0] == '\'' || text[0] == '"') return Value(std::string(text.substr(1, text.size() - 2)));
  if (text[0] != '(' && text[0] != '[') return parse_number(text);
  Dims numbers;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (text.find_first_not_of(' ') < end)
      numbers.push_back(parse_number(text.substr(0, end)).number().to<int64_t>());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Value(numbers);
}

// --- checks

bool is_integer(const Value& value) {
  return value.is(Kind::kNumber) && value.number().kind() == Scalar::Kind::kInt;
}
bool is_real(const Value& value) {
  return value.is(Kind::kNumber) && value.number().kind() != Scalar::Kind::kComplex;
}
bool is_truth(const Value& value) {
  return value.is(Kind::kNumber) && value.number().kind() == Scalar::Kind::kBool;
}

// One number where several may stand.
bool as_ints(Value& value) {
  if (is_integer(value)) value = Dims{value.number().to<int64_t>()};
  return value.is(Kind::kInts);
}
bool as_floats(Value& value) {
  if (is_real(value)) value = std::vector<double>{value.number().to<double>()};
  if (value.is(Kind::kInts)) value = std::vector<double>(value.ints().begin(), value.ints().end());
  return value.is(Kind::kFloats);
}
// A list of nothing has no type of its own.
bool as_tensors(Value& value) {
  if (value.is(Kind::kInts) && value.ints().empty()) value = std::vector<Tensor>();
  return value.is(Kind::kTensors);
}

// Whether a value is what a parameter takes, and makes it so where that is a matter of form.
bool fits(ArgType type, Value& value) {
  const bool is_none = value.is_none();
  switch (type) {
    case ArgType::kTensor: return value.is(Kind::kTensor);
    case ArgType::kOptTensor: return is_none || value.is(Kind::kTensor);
    case ArgType::kOperand: return value.is(Kind::kTensor) || value.is(Kind::kNumber);
    case ArgType::kTensorList:
    case ArgType::kTensorsOrNone: return as_tensors(value);
    case ArgType::kOptTensorList: return is_none || as_tensors(value);
    case ArgType::kNumber: return value.is(Kind::kNumber);
    case ArgType::kOptNumber: return is_none || value.is(Kind::kNumber);
    case ArgType::kInt: return is_integer(value);
    case ArgType::kOptInt: return is_none || is_integer(value);
    case ArgType::kFloat: return is_real(value);
    case ArgType::kOptFloat: return is_none || is_real(value);
    case ArgType::kOptFloats: return is_none || (!value.is(Kind::kNumber) && as_floats(value));
    case ArgType::kOptFactors: return is_none || as_floats(value);
    case ArgType::kBool: return is_truth(value);
    case ArgType::kOptBool: return is_none || is_truth(value);
    case ArgType::kInts: return value.is(Kind::kInts);
    case ArgType::kOptInts: return is_none || value.is(Kind::kInts);
    case ArgType::kSize:
    case ArgType::kDims: return as_ints(value);
    case ArgType::kOptDims: return is_none || as_ints(value);
    case ArgType::kSizes:
      if (is_none) value = Dims{std::numeric_limits<int64_t>::min()};
      return as_ints(value);
    case ArgType::kStr: return value.is(Kind::kText);
    case ArgType::kOptStr: return is_none || value.is(Kind::kText);
    case ArgType::kDType: return value.is(Kind::kDType);
    case ArgType::kOptDType: return is_none || value.is(Kind::kDType);
    case ArgType::kOptDevice: return is_none || value.is(Kind::kDevice);
    case ArgType::kOptLayout: return is_none || value.is(Kind::kLayout);
    case ArgType::kOptMemoryFormat: return is_none || value.is(Kind::kMemoryFormat);
    case ArgType::kOptGenerator: return is_none || value.is(Kind::kGenerator);
    case ArgType::kAny: return false;
  }
  return false;
}

bool is_complete(const Parameter& parameter, const Value& value) {
  if (!value.is(Kind::kTensors) || parameter.type == ArgType::kTensorsOrNone) return true;
  for (const Tensor& each : value.tensors())
    if (!each) return false;
  return true;
}

using Arguments = SmallVec<Value, 8>;

// Who calls names the operator in messages.
Arguments checked(const Operator& op, std::span<const Value> given) {
  FB_CHECK_TYPE(given.size() <= op.count, "expected at most ", static_cast<int>(op.count),
                " arguments, got ", given.size());
  Arguments arguments;
  for (size_t i = 0; i < op.count; ++i) {
    const Parameter& parameter = op.parameters[i];
    Value value = i < given.size() ? given[i] : Value();
    const bool is_left_out = value.is_none();
    bool is_right = fits(parameter.type, value);
    if (is_left_out && parameter.fallback) {
      value = parse_default(parameter.fallback);
      is_right = fits(parameter.type, value);
    }
    FB_CHECK_TYPE(is_right, "argument '", parameter.name, "' must be ", describe(parameter.type),
                  ", not ", describe(value));
    FB_CHECK_TYPE(is_complete(parameter, value), "argument '", parameter.name,
                  "' must be a list of tensors, and a tensor of it is missing");
    arguments.push_back(std::move(value));
  }
  return arguments;
}

template <class F>
void each_tensor(const Value& value, F&& f) {
  if (value.is(Kind::kTensor)) f(value.tensor());
  if (value.is(Kind::kTensors))
    for (const Tensor& t : value.tensors())
      if (t) f(t);
}

size_t place_of(const Operator& op, std::string_view name) {
  size_t i = 0;
  while (i < op.count && name != op.parameters[i].name) ++i;
  return i;
}

Results called(const Operator& op, const Value* arguments) {
  Results results;
  op.function.call(op.function.body, arguments, results);
  return results;
}

// A new tensor that depends on chance: in a map, one for each sample.
Results drawn(const Operator& op, Arguments& arguments) {
  const size_t size = place_of(op, "size");
  const Dims wanted = arguments[size].ints();
  return {Value(autograd::draw_in_map(wanted, [&](IntSpan sizes) {
    arguments[size] = Value(sizes);
    return Tensor(called(op, arguments.data())[0].tensor());
  }))};
}

Results computed(const Operator& op, Arguments& arguments) {
  if (op.is(ops::kDrawsSize) && autograd::in_map()) return drawn(op, arguments);
  return called(op, arguments.data());
}

// The type of a result that goes into `out`, which no other may be asked for.
void take_type_of_out(const Operator& op, Arguments& arguments, const Value& out) {
  const size_t place = place_of(op, "dtype");
  if (place == op.count || !out.is(Kind::kTensor)) return;
  Value& dtype = arguments[place];
  const DType made = out.tensor().dtype();
  FB_CHECK(dtype.is_none() || dtype.dtype() == made, "dtype ", dtype.dtype(),
           " does not match the type ", made, " of out");
  if (op.is(ops::kTypeOfOut)) dtype = made;
}

// The last argument is where the results go.
Results stored(const Operator& op, Arguments& arguments) {
  const Value out = arguments.back();
  if (op.is(ops::kTakesOut)) {  // in front
    std::rotate(arguments.begin(), arguments.end() - 1, arguments.end());
    called(op, arguments.data());
    return {out};
  }
  take_type_of_out(op, arguments, out);
  arguments.pop_back();
  if (op.out_rule & (ops::kOutWhole | ops::kOutApart | ops::kOutChanged)) {
    bool is_first = true;
    for (const Value& argument : arguments) {
      if (argument.is(Kind::kTensor))
        ops::check_output_memory(out.tensor(), argument.tensor(), is_first, op.out_rule);
      is_first = false;
    }
  }
  std::optional<autocast::Off> off;
  if (op.is(ops::kCasts)) off.emplace();
  const Results results = computed(op, arguments);
  if (out.is(Kind::kTensor)) {
    store_result(op.shown, out.tensor(), results[0].tensor(), op.out_rule);
    return {out};
  }
  FB_CHECK_TYPE(out.tensors().size() == results.size(), "out must be a tuple of ", results.size(),
                " tensors, got ", out.tensors().size());
  Results outs;
  for (size_t i = 0; i < results.size(); ++i) {
    store_result(op.shown, out.tensors()[i], results[i].tensor(), op.out_rule);
    outs.push_back(Value(out.tensors()[i]));
  }
  return outs;
}

}  // namespace

const Operator& operator_of(OpId id) { return *kOperators[static_cast<size_t>(id)]; }

const Operator* find_op(std::string_view name) {
  static const auto* names = [] {
    auto* made = new std::unordered_map<std::string, const Operator*>;
    for (size_t i = 0; i < kAliasCount; ++i) made->emplace(kAliases[i].name, kAliases[i].op);
    for (size_t i = 0; i < kOperatorCount; ++i)
      made->insert_or_assign(ops::name_of(*kOperators[i]), kOperators[i]);
    return made;
  }();
  const auto found = names->find(std::string(name));
  return found == names->end() ? nullptr : found->second;
}

Results invoke(const Operator& op, std::span<const Value> given) {
  Arguments arguments = checked(op, given);
  if (op.is(ops::kDenseOnly))
    for (const Value& argument : arguments)
      each_tensor(argument, [&](const Tensor& t) { check_dense(op.shown, t); });
  if (op.is(ops::kStores)) return stored(op, arguments);
  Results results = computed(op, arguments);
  if (!op.is(ops::kWrites)) return results;
  if (op.is(ops::kUncounted)) arguments[0].tensor().bump_version(op.shown);
  return {arguments[0]};
}

Results invoke_recorded(const Operator& op, std::span<const Value> given) {
  if (!current()) return invoke(op, given);
  Arguments values;  // all that there are: where results are stored is the last one
  for (const Value& value : given) values.push_back(value);
  while (values.size() < op.count) values.push_back(Value());
  observe::Call call(observe::Call::Outside{}, op, values.data(), values.size());
  Results results = invoke(op, given);
  call.end(results);
  return results;
}

}  // namespace fb::tape

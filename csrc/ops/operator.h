// What the program knows of an operator while it runs: one row of the table for each form.
//
// Rows are plain data in the generated files of their family (opgen/emit/boxed.py). A row holds the
// address of the operator and of a function that converts values into its arguments; operators with
// the same signature share that function.
#pragma once

#include "ops/arg_type.h"
#include "ops/output.h"
#include "ops/value.h"

namespace fb::ops {

struct Parameter {
  const char* name;
  ArgType type;
  bool keyword_only;
  const char* fallback;  // the default as Python writes it; null where there is none
  bool written = false;  // with kWritesMany
};

enum OperatorFlag : uint16_t {
  kWrites = 1,          // to its first argument, which is its result
  kStores = 2,          // into its last argument, `out`, which is its result
  kViews = 4,           // its results are views of its first argument
  kRandom = 8,          // draws from a generator
  kInner = 16,          // trusts its arguments: other operators call it, and programs must not
  kComposite = 32,      // consists of other operators
  kDenseOnly = 64,      // has no sparse form, and does not refuse sparse tensors itself
  kUncounted = 128,     // writes without raising the version of the memory
  kDrawsSize = 256,     // makes a tensor of a random size
  kCasts = 512,         // has a rule for autocast
  kTypeOfOut = 1024,    // computes in the type of `out`
  kListResult = 2048,   // returns a list rather than a tuple
  kManyResults = 8192,  // returns any number of tensors
  kTakesOut = 4096,     // its function stores into `out` itself, and takes it first
  kWritesMany = 16384,  // to the arguments whose parameters say so
};

using Body = void (*)();
using Results = SmallVec<Value, 2>;

struct Function {
  Body body;
  void (*call)(Body body, const Value* arguments, Results& results);
};

struct Operator {
  const char* name;      // "linalg_norm", "add_"
  const char* overload;  // "", "dim", "out"
  const char* shown;     // as messages show it: "linalg.norm"
  const char* profiled;  // as profiles show it: "aten::linalg_norm"; empty where they do not
  const char* fields;  // names of several results, with spaces between; empty where they have none
  const Parameter* parameters;
  uint8_t count;
  uint16_t flags;
  OutRule out_rule;
  Function function;

  bool is(OperatorFlag flag) const { return flags & flag; }
};

// "sum.dim": the name that programs and files use.
std::string name_of(const Operator& op);

}  // namespace fb::ops

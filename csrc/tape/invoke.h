// One call for every operator: its name and its arguments are values.
//
// Note [Calls as values]: what the binding does for a call from Python beside reading arguments is
// done here too: defaults, the check of every argument, sparse tensors refused, `out` stored. What
// differs is that the overload is named and not looked for.
#pragma once

#include <span>
#include <string_view>

#include "gen/op_id.h"
#include "ops/operator.h"

namespace fb::tape {

using ops::Operator;
using ops::OpId;
using ops::Results;
using ops::Value;

const Operator& operator_of(OpId id);
// By "sum.dim", or another name of the same operator; null if there is none.
const Operator* find_op(std::string_view name);

// Arguments that are left out at the end, and those that are none though they may not be, have
// their default. An operator that writes returns what it wrote to.
Results invoke(const Operator& op, std::span<const Value> arguments);
// The same, and a tape has one record of it, also where the operator does not tell observers itself
// or consists of others.
Results invoke_recorded(const Operator& op, std::span<const Value> arguments);
inline Results invoke(OpId id, std::span<const Value> arguments) {
  return invoke(operator_of(id), arguments);
}

}  // namespace fb::tape

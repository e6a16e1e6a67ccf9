// All rows of the table, which the generator lists.
#pragma once

#include "ops/operator.h"

namespace fb::tape {

// By OpId.
extern const ops::Operator* const kOperators[];
extern const size_t kOperatorCount;

// Another name of a row.
struct Alias {
  const char* name;
  const ops::Operator* op;
};
extern const Alias kAliases[];
extern const size_t kAliasCount;

}  // namespace fb::tape

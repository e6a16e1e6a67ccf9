// Which element type a result has.
#include "ops/promotion.h"

#include "gen/ops/promotion.h"

namespace fb::ops {
namespace {

// An element type, or nothing yet.
using MaybeType = std::optional<DType>;

MaybeType join(MaybeType a, MaybeType b) {
  if (!a) return b;
  if (!b) return a;
  return promote(*a, *b);
}

// The heavier category decides, except that a lighter one may lift it to a higher kind of number.
MaybeType outweigh(MaybeType heavier, MaybeType lighter) {
  if (!heavier || !lighter) return join(heavier, lighter);
  if (is_complex(*heavier)) return heavier;
  if (is_floating(*heavier)) return is_complex(*lighter) ? complex_type(*heavier) : *heavier;
  if (*heavier == DType::kBool || !is_integral(*lighter)) return join(heavier, lighter);
  return heavier;
}

}  // namespace

DType scalar_type(const Scalar& scalar) {
  switch (scalar.kind()) {
    case Scalar::Kind::kBool: return DType::kBool;
    case Scalar::Kind::kInt: return DType::kInt64;
    case Scalar::Kind::kFloat: return default_dtype();
    default: return complex_type(default_dtype());
  }
}

namespace {

// Whether the tensors have one type and no number is of a higher kind: most calls are like that.
bool are_of_type(std::span<const Operand> operands, DType type) {
  const bool outweighs_numbers = is_floating(type) || is_complex(type);
  for (const Operand& operand : operands) {
    if (operand.is_tensor()
            ? operand.tensor().dtype() != type
            : !outweighs_numbers ||
                  (operand.scalar().kind() == Scalar::Kind::kComplex && !is_complex(type)))
      return false;
  }
  return true;
}

}  // namespace

DType result_type(std::span<const Operand> operands) {
  if (operands[0].is_tensor()) {
    const DType type = operands[0].tensor().dtype();
    if (are_of_type(operands, type)) return type;
  }
  MaybeType dimensioned, zero_dim, number;
  for (const Operand& operand : operands) {
    if (!operand.is_tensor())
      number = join(number, scalar_type(operand.scalar()));
    else if (operand.tensor().dim() == 0)
      zero_dim = join(zero_dim, operand.tensor().dtype());
    else
      dimensioned = join(dimensioned, operand.tensor().dtype());
  }
  return *outweigh(dimensioned, outweigh(zero_dim, number));
}

DType result_type(const Operand& tensor, const Operand& other) {
  const Operand operands[] = {tensor, other};
  return ops::result_type(operands);
}

DType promote_types(DType type1, DType type2) { return promote(type1, type2); }

bool can_cast(DType from, DType to) { return fb::can_cast(from, to); }

}  // namespace fb::ops

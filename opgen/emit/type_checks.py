"""Where a type that an entry does not list is refused: see csrc/ops/type_check.h."""

from __future__ import annotations

from opgen.emit.text import cpp_name, dtype_mask
from opgen.model import Op, all_types


def check(op: Op) -> list[str]:
    """The type that counts is the requested one, or that of the first tensor.

    Pointwise operators look at the common type of their operands (ops/pointwise.cpp), and so do
    operators whose first operand may be a number.
    """
    if op.type_check == "own" or set(op.dtypes) == set(all_types):
        return []
    mask = f"{dtype_mask(op.dtypes):#x}"
    wanted = next((a for a in op.core_args if a.type.annotation == "DType | None"), None)
    if op.is_factory:
        return [f"  if ({wanted.name}) check_type({mask}, *{wanted.name});"] if wanted else []
    if op.kind == "pointwise" or op.tensor_args[0].type.annotation != "Tensor":
        return []
    decides = f"{cpp_name(op.tensor_args[0].name)}.dtype()"
    if wanted:
        return [f"  check_type({mask}, {wanted.name}.value_or({decides}), !{wanted.name});"]
    return [f"  check_type({mask}, {decides});"]

"""gen/loops/<family>.cpp: the CPU loops of pointwise operators, compiled once per instruction-set level."""

from __future__ import annotations

from opgen.emit.text import CPP_TYPES, DTYPE_ORDER, HEADER, camel
from opgen.model import Op, Table


def emit(table: Table) -> dict[str, str]:
    files = {}
    for family, ops in table.families().items():
        pointwise = [op for op in ops if op.kind == "pointwise" and not op.alias_of]
        if pointwise:
            files[f"gen/loops/{family}.cpp"] = loops(family, pointwise)
    return files


def loops(family: str, ops: list[Op]) -> str:
    lines = [
        HEADER.format(family=family) + '#include "cpu/kernels/pointwise_loop.h"',
        f'#include "scalar/{family}.h"',
        "",
        "namespace fb::cpu::FB_ISA {",
    ]
    for op in ops:
        lines += ["namespace {", functor(op), "}", kernel_array(op)]
    return "\n".join([*lines, "}  // namespace fb::cpu::FB_ISA", ""])


def functor(op: Op) -> str:
    """The element function as a type, so that the loop is instantiated for it and inlines it."""
    names = [f"x{i}" for i in range(len(op.tensor_inputs))]
    declared = [
        f"{'bool' if arg.name in op.bool_inputs else 'T'} {name}"
        for arg, name in zip(op.tensor_inputs, names, strict=True)
    ]
    given = [*names, *(f"p[{i}]" for i in range(len(op.params)))]
    pointer = "const T* p" if op.params else "const T*"

    def method(
        result: str, name: str, parameters: list[str], function: str, arguments: list[str]
    ) -> str:
        body = f"return scalar::{function}({', '.join(arguments)});"
        return f"  static FB_FN {result} {name}({', '.join(parameters)}) {{ {body} }}"

    lines = [
        f"template <class T> struct {camel(op.function)} {{",
        "  using Param = T;",
        f"  static constexpr int kParams = {len(op.params)};",
        f"  static constexpr bool kRanged = {'kIsFloat<T>' if op.ranged else 'false'};",
        method("auto", "call", [*declared, pointer], op.function, given),
    ]
    if op.ranged:
        lines += [
            method("bool", "has_range", declared, f"{op.function}_has_range", names),
            method("T", "in_range", declared, f"{op.function}_in_range", names),
        ]
    return "\n".join([*lines, "};"])


def kernel_array(op: Op) -> str:
    def entry(dtype: str) -> str:
        if dtype not in op.kernel_types:
            return "nullptr"
        cpp = CPP_TYPES[dtype]
        inputs = ", ".join("bool" if a.name in op.bool_inputs else cpp for a in op.tensor_inputs)
        return f"pointwise_loop<{camel(op.function)}<{cpp}>, {inputs}>"

    entries = ",\n    ".join(entry(t) for t in DTYPE_ORDER)
    return f"extern const PointwiseKernel {op.function}_kernels[kDTypeCount] = {{\n    {entries}}};"

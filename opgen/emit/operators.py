"""gen/ops/<family>.h and .cpp: declarations of all operators, bodies of the pointwise ones."""

from __future__ import annotations

from opgen.emit.text import (
    HEADER,
    camel,
    cpp_name,
    default_value,
    dtype_mask,
    out_rule,
    quote,
)
from opgen.model import Arg, Op, Table


def emit(table: Table) -> dict[str, str]:
    files = {}
    for family, ops in table.families().items():
        native = [op for op in ops if op.kind not in ("python", "bound") and not op.alias_of]
        files[f"gen/ops/{family}.h"] = header(family, native)
        pointwise = [op for op in native if op.kind == "pointwise"]
        if pointwise:
            files[f"gen/ops/{family}.cpp"] = bodies(family, pointwise)
    return files


def parameter(arg: Arg, with_default: bool = True) -> str:
    text = f"{arg.type.cpp} {cpp_name(arg.name)}"
    if with_default and arg.default is not None:
        text += f" = {default_value(arg.default, arg.type.cpp)}"
    return text


def parameters(op: Op, with_defaults: bool) -> str:
    # A factory has no tensor to take the device from: the caller names it.
    named = 0
    if not any("Tensor" in a.type.annotation for a in op.core_args):
        devices = (i for i, a in enumerate(op.core_args) if a.type.annotation == "Device | None")
        named = next(devices, -1) + 1
    return ", ".join(parameter(a, with_defaults and i >= named) for i, a in enumerate(op.core_args))


def declarations(op: Op) -> list[str]:
    result = "void" if op.mutates else op.result.cpp
    lines = [f"// {op.doc}", f"{result} {op.function}({parameters(op, True)});"]
    if op.kind == "pointwise":
        lines.append(f"void {op.function}_out(const Tensor& out, {parameters(op, True)});")
    if op.has_inplace_operator:
        lines.append(f"void {op.function}_({inplace_parameters(op, True)});")
    return lines


def body_declarations(op: Op) -> list[str]:
    """What a generated operator calls: its body, without graph or autocast."""
    if not op.body_namespace:
        return []
    result = "void" if op.mutates else op.result.cpp
    lines = [f"{result} {op.function}({parameters(op, True)});"]
    if op.kind == "pointwise":
        lines.append(f"void {op.function}_out(const Tensor& out, {parameters(op, True)});")
        if op.has_inplace_operator:
            lines.append(f"void {op.function}_({inplace_parameters(op, True)});")
    return lines


def sparse_declarations(op: Op) -> list[str]:
    """What it computes of sparse tensors."""
    if op.sparse != "own":
        return []
    result = "void" if op.mutates else op.result.cpp
    lines = [f"{result} {op.function}({parameters(op, True)});"]
    if op.has_inplace_operator:
        lines.append(f"void {op.function}_({inplace_parameters(op, True)});")
    return lines


def inplace_parameters(op: Op, with_defaults: bool) -> str:
    first, *rest = op.core_args
    return ", ".join(
        [f"const Tensor& {cpp_name(first.name)}", *(parameter(a, with_defaults) for a in rest)]
    )


def header(family: str, ops: list[Op]) -> str:
    lines = [
        HEADER.format(family=family) + "#pragma once",
        "",
        '#include "ops/types.h"',
        "",
        "namespace fb::ops {",
        "",
    ]
    declared = set()
    bodies: dict[str, list[str]] = {"compute": [], "composed": []}
    sparse = []
    for op in ops:
        # Entries may share a function: `concat` is `cat` by another name.
        face = (op.function, *(arg.type.cpp for arg in op.core_args))
        if face not in declared:
            lines += declarations(op)
            bodies.get(op.body_namespace, []).extend(body_declarations(op))
            sparse += sparse_declarations(op)
        declared.add(face)
    for namespace, lines_of in {**bodies, "sparse": sparse}.items():
        if lines_of or namespace == "compute":
            head, foot = f"namespace {namespace} {{", f"}}  // namespace {namespace}"
            lines += ["", head, "", *lines_of, "", foot]
    return "\n".join([*lines, "", "}  // namespace fb::ops", ""])


def bodies(family: str, ops: list[Op]) -> str:
    lines = [
        HEADER.format(family=family) + f'#include "gen/ops/{family}.h"',
        "",
        '#include "ops/pointwise.h"',
        "",
    ]
    lines += ["namespace fb::ops {"]
    lines += [
        f"void check_{name}(std::span<const Operand>, std::span<const Scalar>, DType);"
        for name in sorted({op.check for op in ops if op.check})
    ]
    lines += ["namespace {", ""]
    lines += [descriptor(op) for op in ops]
    lines += ["", "}  // namespace", "namespace compute {", ""]
    for op in ops:
        lines += definitions(op)
    return "\n".join([*lines, "}  // namespace compute", "}  // namespace fb::ops", ""])


def descriptor(op: Op) -> str:
    bool_mask = sum(1 << i for i, a in enumerate(op.tensor_inputs) if a.name in op.bool_inputs)
    # The element types that the operator takes; 16-bit floats use the float32 kernel.
    return (
        f"constexpr PointwiseOp k{camel(op.function)}{{{quote(op.name)}, {quote(op.name + '_')}, {len(op.tensor_inputs)}, "
        f"Promotion::k{op.promote.capitalize()}, PointwiseOutput::k{op.output.capitalize()}, {bool_mask}, "
        f"{dtype_mask(op.dtypes):#x}, kernel::PointwiseId::k{camel(op.function)}, "
        f"{f'check_{op.check}' if op.check else 'nullptr'}, {out_rule(op)}}};"
    )


def definitions(op: Op) -> list[str]:
    inputs = ", ".join(f"Operand({cpp_name(a.name)})" for a in op.tensor_inputs)
    params = ", ".join(f"Scalar({cpp_name(a.name)})" for a in op.params)
    pack = f"const Operand inputs[] = {{{inputs}}};"
    if params:
        pack += f" const Scalar params[] = {{{params}}};"
    given = f"k{camel(op.function)}, inputs, {'params' if params else '{}'}"
    lines = [
        f"Tensor {op.function}({parameters(op, False)}) {{",
        f"  {pack}",
        f"  return pointwise({given});",
        "}",
        f"void {op.function}_out(const Tensor& out, {parameters(op, False)}) {{",
        f"  {pack}",
        f"  pointwise_out({given}, out);",
        "}",
    ]
    if "inplace" in op.forms:
        lines += [
            f"void {op.function}_({inplace_parameters(op, False)}) {{",
            f"  {pack}",
            f"  pointwise_inplace({given}, {cpp_name(op.core_args[0].name)});",
            "}",
        ]
    return lines

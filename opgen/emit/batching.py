"""What an operator does when it meets batched tensors: see csrc/autograd/batch.h.

`batch=` in the table names the rule where the signature does not imply it:

aligned  element by element: arguments broadcast, with the batch in front
dims     the batch is in front, dimensions in the arguments move by one; tensors of one rank
same     the batch is in front, and the operator looks at the last dimensions, or at none
sized    the batch is in front of a size among the arguments too
own      written by hand in csrc/autograd/batch_*.cpp
loop     sample by sample
refuse   the shape of the result depends on the elements
"""

from __future__ import annotations

from opgen.emit.inputs import tensor_args
from opgen.emit.operators import inplace_parameters, parameters
from opgen.emit.text import cpp_name, quote
from opgen.model import Arg, Op

DIMENSIONS = ("int", "int | None", "Dims", "Dims | None", "Ints", "Size")


def rule_of(op: Op) -> str:
    if op.batch:
        return op.batch
    if op.kind == "pointwise":
        return "aligned"
    if len(tensor_args(op)) > 1:
        return "loop"
    if any(is_size(a) for a in op.core_args):
        return "sized"
    if any(is_dimension(a) for a in op.core_args):
        return "dims"
    fills = op.random or op.name.endswith("_like")
    return "same" if fills or op.family == "linalg" else "loop"


def is_size(arg: Arg) -> bool:
    return arg.name == "size" and arg.type.annotation in ("Size", "Ints")


def is_dimension(arg: Arg) -> bool:
    named = arg.name.startswith(("dim", "axis")) or arg.name in ("start_dim", "end_dim")
    return named and arg.type.annotation in DIMENSIONS


def call(op: Op, function: str, way: str, sample: str = "") -> str:
    """The operator on arguments that `way`, a function of Batch, has prepared."""
    moved = way == "all"
    rule = rule_of(op)
    given = []
    for arg in op.core_args:
        name = cpp_name(arg.name)
        if "Tensor" in arg.type.annotation:
            given.append(f"batch_.{way}({name}{sample})")
        elif moved and rule == "sized" and is_size(arg):
            given.append(f"batch_.sized({name})")
        elif moved and rule == "sized" and is_dimension(arg):
            given.append(f"batch_.shifted({name}, size.size())")
        elif moved and rule == "dims" and is_dimension(arg):
            given.append(f"batch_.shifted({name})")
        else:
            given.append(name)
    return f"ops::{function}({', '.join(given)})"


def condition(op: Op) -> str:
    """When dimensions in the arguments can be moved by one."""
    needed = [
        cpp_name(a.name)
        for a in op.core_args
        if is_dimension(a)
        and (
            a.type.annotation == "int | None" or (op.name == "roll" and "None" in a.type.annotation)
        )
    ]
    # Dimension 0 of a 0-dimensional sample is not a dimension of the batch.
    has_dimensions = "!size.empty()" if rule_of(op) == "sized" else "batch_.has_one_rank()"
    return " && ".join([has_dimensions, *needed])


def computing(op: Op, name: str) -> list[str]:
    """The function that computes the operator for a batch."""
    rule = rule_of(op)
    each = f"return {call(op, op.function, 'at', ', i')};"
    lines = [f"[[gnu::cold]] {op.result.cpp} {name}({parameters(op, False)}) {{", *opening(op)]
    lines += alike(op, f"return batch_.loop([&](int64_t i) {{ same.start(); {each} }})")
    if rule == "refuse":
        types = ", ".join(a.type.cpp for a in op.core_args)
        head = f"[[gnu::cold]] {op.result.cpp} {name}({types}) {{"
        return [head, f"  refuse_dynamic_shape({quote(op.name)});", "}"]
    if rule == "own":
        given = ", ".join(cpp_name(a.name) for a in op.core_args)
        return [*lines, f"  return batch_rule::{op.function}(batch_, {given});", "}"]
    if rule == "aligned":
        return [*lines, f"  return batch_.wrap({call(op, op.function, 'aligned')});", "}"]
    together = f"return batch_.wrap({call(op, op.function, 'all')});"
    if rule == "same" or (rule == "sized" and not any(is_dimension(a) for a in op.core_args)):
        return [*lines, f"  {together}", "}"]
    if rule in ("sized", "dims"):
        lines.append(f"  if ({condition(op)}) {together}")
    return [*lines, f"  return batch_.loop([&](int64_t i) {{ {each} }});", "}"]


def changing(op: Op, function: str, name: str) -> list[str]:
    """The function that changes a batch in place."""
    rule = rule_of(op)
    first = cpp_name(op.core_args[0].name)
    params = parameters(op, False) if op.mutates else inplace_parameters(op, False)
    lines = [f"[[gnu::cold]] void {name}({params}) {{", *opening(op, function)]
    if rule == "own" and op.mutates:
        given = ", ".join(cpp_name(a.name) for a in op.core_args)
        return [*lines, f"  batch_rule::{function}(batch_, {given});", "}"]
    if rule == "refuse":
        types = ", ".join(a.type.cpp for a in op.core_args)
        head = f"[[gnu::cold]] void {name}({types}) {{"
        return [head, f"  refuse_dynamic_shape({quote(op.name)});", "}"]
    lines.append(f"  batch_.check_target({first});")
    each = f"{call(op, function, 'at', ', i')};"
    lines += alike(op, f"return batch_.each([&](int64_t i) {{ same.start(); {each} }})")
    if rule == "same":
        return [*lines, f"  {call(op, function, 'all')};", "}"]
    if rule == "aligned":
        return [*lines, f"  {call(op, function, 'aligned')};", "}"]
    return [*lines, f"  batch_.each([&](int64_t i) {{ {each} }});", "}"]


def alike(op: Op, loop: str) -> list[str]:
    """Random operators where the map wants the same numbers for all samples."""
    if not op.random:
        return []
    return [
        "  if (draws_alike()) {",
        "    const SameDraws same(generator);",
        f"    {loop};",
        "  }",
    ]


def opening(op: Op, function: str = "") -> list[str]:
    tensors = ", ".join(cpp_name(a.name) for a in tensor_args(op))
    lines = ["  const DrawsTogether drawing;"] if op.random else []
    return [*lines, f"  const Batch batch_({quote(function or op.name)}, {tensors});"]

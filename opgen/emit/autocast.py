"""What an operator does while autocast is on: see csrc/autograd/autocast.h.

`autocast=` in the table names the rule; without one the operator takes its inputs as
they are, and never looks at the switch.

lower    in the 16-bit type of the region
float32  in float32
cuda_float32  in float32 on a GPU, as they are on the CPU
promote  in the widest type among its inputs
off      as without autocast: a composition whose parts must not follow their own rules
own      cast_rule has a function of the same name and arguments
"""

from __future__ import annotations

from opgen.emit.inputs import tensor_args
from opgen.emit.operators import parameters
from opgen.emit.text import cpp_name
from opgen.model import Op


def test(op: Op, name: str) -> list[str]:
    """The first lines of an operator that has a rule."""
    if not op.is_cast:
        return []
    given = ", ".join(cpp_name(a.name) for a in op.core_args)
    return [f"  if ({question(op)}) [[unlikely]]", f"    return {name}({given});"]


def question(op: Op) -> str:
    """Whether the operator has to look at its inputs."""
    return "autocast::is_on_cuda()" if op.autocast == "cuda_float32" else "autocast::is_on()"


def cast_class(op: Op) -> str:
    return "autocast::CastOnCuda" if op.autocast == "cuda_float32" else "autocast::Cast"


def casting(op: Op, name: str) -> list[str]:
    """The function that computes the operator while autocast is on."""
    if not op.is_cast:
        return []
    head = f"[[gnu::cold]] {op.result.cpp} {name}({parameters(op, False)}) {{"
    if op.autocast == "own":
        given = ", ".join(cpp_name(a.name) for a in op.core_args)
        return [head, f"  return cast_rule::{op.function}({given});", "}"]
    return [
        head,
        *([] if op.autocast == "off" else [f"  const {cast_class(op)} cast({target(op)});"]),
        "  const autocast::Off off;",
        f"  return {call(op)};",
        "}",
    ]


def target(op: Op) -> str:
    """The type that the inputs are cast to."""
    if op.autocast == "promote":
        tensors = ", ".join(cpp_name(a.name) for a in tensor_args(op))
        return f"autocast::widest({tensors})"
    return "autocast::lower()" if op.autocast == "lower" else "DType::kFloat32"


def call(op: Op) -> str:
    """The operator on its inputs, cast."""
    given = []
    for arg in op.core_args:
        name = cpp_name(arg.name)
        is_cast = "Tensor" in arg.type.annotation and op.autocast != "off"
        given.append(f"cast({name})" if is_cast else name)
    return f"ops::{op.function}({', '.join(given)})"


def python_test(op: Op, body: str) -> list[str]:
    """The same for an operator with a Python body."""
    if not op.autocast:
        return []
    return [
        f"  if ({question(op)}) [[unlikely]] {{",
        f"    const {cast_class(op)} cast({target(op)});",
        f"    return call_python_cast(cast, {body}, self, args, nargs, kwnames);",
        "  }",
    ]

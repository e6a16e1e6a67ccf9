"""What an operator does when it meets sparse tensors: see csrc/autograd/sparse.h.

`sparse=` in the table names the rule; without one the operator refuses them.

any     its body takes sparse tensors like others, or it is a composition that leaves the
        matter to its parts
own     ops::sparse has a function of the same name and arguments
values  element by element, with 0 for 0: it only reads the values of the coalesced tensor
"""

from __future__ import annotations

from opgen.emit.text import cpp_name, quote
from opgen.model import Op


def refusal(op: Op, flags: str) -> list[str]:
    """Where the flags of all inputs are known."""
    if op.sparse:
        return []
    return [f"  if ({flags} & kSparse) [[unlikely]] refuse_sparse({quote(op.public_name)});"]


def computed(op: Op, call: str) -> str:
    """The call of the operator's body, where `flags` may say that an input is sparse."""
    if op.sparse not in ("own", "values"):
        return call
    return f"(flags & kSparse ? {on_sparse(op, op.function)} : {call})"


def changed(op: Op, function: str, change: str, bump: str) -> str:
    """The same for the form that changes its first argument."""
    if op.sparse not in ("own", "values"):
        return change
    done = on_sparse(op, function)
    # Kernels of pointwise operators raise the version themselves; for others the caller does.
    if op.kind == "pointwise":
        done = f"({done}, {bump})"
    return f"flags & kSparse ? {done} : {change}"


def on_sparse(op: Op, function: str) -> str:
    first, *rest = (cpp_name(a.name) for a in op.core_args)
    if op.sparse == "own":
        return f"sparse::{function}({', '.join([first, *rest])})"
    call = f"compute::{op.function}({', '.join(['values', *rest])})"
    if function == op.function:
        return f"on_values({first}, [&](const Tensor& values) {{ return {call}; }})"
    return f"change_values({first}, [&](const Tensor& values) {{ overwrite(values, {call}); }})"

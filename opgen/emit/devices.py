"""Where the tensors of a call may be: see check_one_device in csrc/autograd/one_device.h."""

from __future__ import annotations

from opgen.emit.inputs import is_list, tensor_args
from opgen.emit.text import cpp_name
from opgen.model import Op


def check(op: Op, flags: str, out: str = "") -> list[str]:
    """Where the flags of all inputs are known: tensors of several devices are refused."""
    args = tensor_args(op)
    names = [cpp_name(a.name) for a in args] + [out] * bool(out)
    if op.device == "any" or (len(names) < 2 and not any(is_list(a) for a in args)):
        return []
    numbers = "true" if op.kind == "pointwise" else "false"
    call = f"check_one_device({numbers}, {', '.join(names)})"
    return [f"  if ({flags} & kElsewhere) [[unlikely]] {call};"]

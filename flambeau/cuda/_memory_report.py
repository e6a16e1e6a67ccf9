"""What the memory of a GPU is taken by, for the error that says there is no more.

Nothing is noted as a program runs: the objects that are alive when the error comes say what their
memory is. Only the lines that made tensors have to be noted before, by
``torch.cuda.memory._record_memory_history()``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

from flambeau import _C, Tensor
from flambeau._display.describe import readable_bytes

__all__ = ["report"]

_LARGEST = 10
_KINDS = ("parameters", "gradients", "optimizer state", "buffers", "other tensors")


def report(index: int) -> str:
    """Return the sums by kind and the largest blocks, behind the message of the error."""
    blocks = [block for block in _C._cuda_memory_blocks(index) if block["used"]]
    if not blocks:
        return ""
    known = _known_memory(index)
    sums = dict.fromkeys(_KINDS, 0)
    for block in blocks:
        sums[known.get(block["address"], _UNKNOWN)[0]] += block["size"]
    taken = ", ".join(f"{kind} {readable_bytes(size)}" for kind, size in sums.items() if size)
    lines = ["", f"What takes the memory of cuda:{index}: {taken}", "The largest tensors:"]
    for block in sorted(blocks, key=lambda block: -block["size"])[:_LARGEST]:
        text = known.get(block["address"], _UNKNOWN)[1]
        if block["origin"]:
            text += f", made at {block['origin']}"
        lines.append(f"  {readable_bytes(block['requested_size']):>10}  {text}")
    if not any(block["origin"] for block in blocks):
        lines.append(
            "torch.cuda.memory._record_memory_history() at the start adds the lines that made them."
        )
    return "\n".join(lines)


_UNKNOWN = ("other tensors", "an activation or another tensor")


def _known_memory(index: int) -> dict[int, tuple[str, str]]:
    """By the address of a block: what kind of tensor it is, and which one."""
    known: dict[int, tuple[str, str]] = {}

    def note(tensor: Any, kind: str, text: str) -> None:
        if isinstance(tensor, Tensor) and tensor.is_cuda and tensor.get_device() == index:
            if tensor.is_sparse:
                return
            form = f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
            known.setdefault(tensor.untyped_storage().data_ptr(), (kind, f"{text}, {form}"))

    modules, optimizers, tensors = _living()
    names: dict[int, str] = {}
    for module in _outermost(modules):
        root = type(module).__name__
        for name, parameter in module.named_parameters():
            names[id(parameter)] = f"{name} of {root}"
            note(parameter, "parameters", f"parameter {name} of {root}")
            note(parameter.grad, "gradients", f"gradient of {name} of {root}")
        for name, buffer in module.named_buffers():
            note(buffer, "buffers", f"buffer {name} of {root}")
    for optimizer in optimizers:
        kind = type(optimizer).__name__
        for parameter, state in optimizer.state.items():
            of = names.get(id(parameter), "a parameter")
            for name, value in state.items() if isinstance(state, dict) else ():
                note(value, "optimizer state", f"{name} of {of}, state of {kind}")
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                note(parameter, "parameters", f"a parameter of {kind}")
                note(parameter.grad, "gradients", f"the gradient of a parameter of {kind}")
    for tensor in tensors:
        if tensor.is_leaf and tensor.requires_grad:
            note(tensor, "parameters", "a leaf that requires a gradient")
            note(tensor.grad, "gradients", "the gradient of a leaf")
        elif tensor.grad_fn is not None:
            note(tensor, "other tensors", tensor.grad_fn._described)
        else:
            note(tensor, "other tensors", "a tensor")
    return known


def _living() -> tuple[list[Any], list[Any], list[Any]]:
    """The modules, the optimizers and the tensors of GPUs that Python knows of."""
    Module = _class("flambeau.nn.modules.module", "Module")
    Optimizer = _class("flambeau.optim.optimizer", "Optimizer")
    found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for each in gc.get_objects():
        kind = type(each)  # not isinstance, which runs code of proxies
        for place, base in enumerate((Module, Optimizer, Tensor)):
            if issubclass(kind, base) and (base is not Tensor or each.is_cuda):
                found[place].append(each)
    return found


def _class(module: str, name: str) -> type:
    """A class of a module that is loaded: of others there are no objects."""

    class Nothing: ...

    return getattr(sys.modules.get(module), name, Nothing)


def _outermost(modules: list[Any]) -> Iterator[Any]:
    """The modules that belong to no other one, and then the others, which have been seen then."""
    inner = {id(child) for module in modules for child in module.children()}
    yield from (module for module in modules if id(module) not in inner)

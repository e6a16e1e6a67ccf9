"""``torch._utils``: helpers of PyTorch's own that other packages have come to call."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._dynamo import is_compiling
from flambeau.serialization._rebuild import (
    _rebuild_meta_tensor_no_storage,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)
from flambeau.utils.data._workers.errors import RemoteError

__all__ = [
    "ExceptionWrapper",
    "_flatten_dense_tensors",
    "_get_available_device_type",
    "_get_device_index",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_sparse_tensor",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_reorder_tensors_as",
    "_take_tensors",
    "_unflatten_dense_tensors",
    "classproperty",
    "cpu_count",
    "is_compiling",
    "try_import",
]


class ExceptionWrapper(RemoteError):
    """An exception of another thread or process, to be raised again in this one."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        error = (sys.exc_info() if exc_info is None else exc_info)[1]
        if error is None:
            raise ValueError("ExceptionWrapper: expected to be made while an exception is handled")
        super().__init__(error, where)

    @property
    def exc_type(self) -> type[BaseException]:
        kind: type[BaseException] = self.kind
        return kind

    @property
    def exc_msg(self) -> str:
        return self.text


class classproperty:
    """A property of the class itself."""

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func

    def __get__(self, instance: object, owner: type) -> Any:
        return self.func(owner)


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Return the elements of all tensors one after another."""
    return fb.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Cut what `_flatten_dense_tensors` made into windows of the shapes of ``tensors``."""
    pieces = flat.split([tensor.numel() for tensor in tensors])
    return tuple(piece.view_as(each) for piece, each in zip(pieces, tensors, strict=True))


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Yield groups of one element type, each of about ``size_limit`` bytes or one tensor."""
    groups: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        group = groups.setdefault(tensor.type(), [])
        if group and sum(each.numel() * each.element_size() for each in group) + size > size_limit:
            yield group
            group = groups[tensor.type()] = []
        group.append(tensor)
    yield from (group for group in groups.values() if group)


def _reorder_tensors_as(tensors: Sequence[Tensor], ordered: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Put tensors that were grouped by element type into the order of ``ordered``."""
    waiting: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        waiting.setdefault(tensor.type(), []).append(tensor)
    queues = {name: iter(group) for name, group in waiting.items()}
    return tuple(next(queues[tensor.type()]) for tensor in ordered)


def _get_available_device_type() -> str | None:
    """Return the kind of an accelerator that is there, or None."""
    return "cuda" if fb.cuda.is_available() else None


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """Return the number of a device: of ``"cuda:1"``, 1; of the CPU, if that is allowed, -1."""
    if isinstance(device, str):
        device = fb.device(device)
    if isinstance(device, fb.device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        device = -1 if device.type == "cpu" else device.index
    if isinstance(device, int):
        return device
    if optional:
        return int(fb.cuda.current_device())
    raise ValueError(
        f"Expected a torch.device with a specified index or an integer, but got: {device}"
    )


def try_import(module_name: str) -> ModuleType | None:
    """Return a module, or None if it is not installed."""
    return import_module(module_name) if find_spec(module_name) is not None else None


def cpu_count() -> int | None:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

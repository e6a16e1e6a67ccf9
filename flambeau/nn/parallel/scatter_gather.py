"""Batches in parts for several devices, and their results as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__ = ["gather", "is_namedtuple", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Whether an object is a named tuple, or such a class."""
    return hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """One of ``inputs`` for each device, with an equal part of every tensor in it."""
    devices = [fb.device(each) for each in target_gpus]
    if isinstance(inputs, Tensor):
        parts = inputs.chunk(len(devices), dim)
        return tuple(part.to(device) for part, device in zip(parts, devices, strict=False))
    if is_namedtuple(inputs):
        return [type(inputs)(*each) for each in _scatter_all(inputs, target_gpus, dim)]
    if isinstance(inputs, tuple) and inputs:
        return list(_scatter_all(inputs, target_gpus, dim))
    if isinstance(inputs, list) and inputs:
        return [list(each) for each in _scatter_all(inputs, target_gpus, dim)]
    if isinstance(inputs, dict) and inputs:
        return [type(inputs)(each) for each in _scatter_all(inputs.items(), target_gpus, dim)]
    return [inputs for _ in devices]


def _scatter_all(items: Any, target_gpus: Sequence[Any], dim: int) -> Any:
    return zip(*(scatter(each, target_gpus, dim) for each in items), strict=False)


def scatter_kwargs(
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    target_gpus: Sequence[Any],
    dim: int = 0,
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """``scatter`` for positional arguments and for keywords, as many of both."""
    positional = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    count = max(len(positional), len(named))
    positional += [() for _ in range(count - len(positional))]
    named += [{} for _ in range(count - len(named))]
    return tuple(positional), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The results of several devices as one, on one of them."""
    first = outputs[0]
    if isinstance(first, Tensor):
        moved = [each.to(target_device) for each in outputs]
        # A loss of each device is a number: they become a vector.
        return fb.stack(moved) if first.dim() == 0 and dim == 0 else fb.cat(moved, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        parts = {key: [each[key] for each in outputs] for key in first}
        return type(first)((key, gather(part, target_device, dim)) for key, part in parts.items())
    gathered = (gather(part, target_device, dim) for part in zip(*outputs, strict=True))
    return type(first)(*gathered) if is_namedtuple(first) else type(first)(gathered)

"""Copies between GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.cuda._device import needs_gpu

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "scatter"]


def _place(device: Any) -> fb.device:
    return fb.device("cuda", device) if isinstance(device, int) else fb.device(device)


def broadcast(
    tensor: Tensor, devices: Iterable[Any] | None = None, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Copies of a tensor on several GPUs, or in the tensors of ``out``."""
    needs_gpu()
    if (devices is None) == (out is None):
        raise RuntimeError("broadcast: expected either devices or out")
    if out is not None:
        return tuple(each.copy_(tensor) for each in out)
    return tuple(tensor.to(_place(each)) for each in devices or ())


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Iterable[Any], buffer_size: int = 10485760
) -> list[tuple[Tensor, ...]]:
    """The same for many tensors: a tuple of them for each GPU."""
    needs_gpu()
    return [tuple(tensor.to(_place(device)) for tensor in tensors) for device in devices]


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors on several GPUs, on one of them."""
    needs_gpu()
    place = fb.device("cuda" if destination is None else _place(destination))
    total, *others = (each.to(place) for each in inputs)
    for other in others:
        total = total + other
    return total


def scatter(
    tensor: Tensor,
    devices: Sequence[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """The pieces of a tensor on several GPUs, or in the tensors of ``out``."""
    needs_gpu()
    if out is not None:
        parts = tensor.split([each.shape[dim] for each in out], dim)
        return tuple(each.copy_(part) for each, part in zip(out, parts, strict=True))
    if devices is None:
        raise RuntimeError("scatter: expected either devices or out")
    parts = (
        tensor.chunk(len(devices), dim)
        if chunk_sizes is None
        else tensor.split(list(chunk_sizes), dim)
    )
    pieces = []
    for number, (part, device) in enumerate(zip(parts, devices, strict=False)):
        with fb.cuda.stream(streams[number] if streams else None):
            pieces.append(part.to(_place(device)))
    return tuple(pieces)


def gather(
    tensors: Sequence[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None
) -> Tensor:
    """One tensor of pieces on several GPUs."""
    needs_gpu()
    if out is not None:
        return out.copy_(fb.cat([each.to(out.device) for each in tensors], dim))
    place = fb.device("cuda" if destination is None else _place(destination))
    return fb.cat([each.to(place) for each in tensors], dim)

"""Tensors adapted to a given size or length."""

from __future__ import annotations

import math
from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__: list[str] = []


def resize(input: Tensor, *sizes: Any) -> Tensor:
    """Return the elements in another shape of the same size."""
    shape = _sizes(sizes)
    if math.prod(shape) != input.numel():
        raise RuntimeError(
            f"resize: the shape {shape} has {math.prod(shape)} elements, but the tensor has "
            f"{input.numel()}; resize_() changes their number"
        )
    return input.reshape(shape)


def resize_as(input: Tensor, tensor: Tensor) -> Tensor:
    """Return the elements in the shape of ``tensor``."""
    return resize(input, tensor.shape)


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Sum over the dimensions that broadcasting from ``size`` has added or stretched."""
    shape = _sizes(size)
    added = input.dim() - len(shape)
    kept = input.shape[added:]
    if added < 0 or any(a not in (1, b) for a, b in zip(shape, kept, strict=True)):
        raise RuntimeError(
            f"sum_to_size: size {list(shape)} is not expandable to size {list(input.shape)}"
        )
    stretched = [d + added for d in range(len(shape)) if shape[d] == 1 != kept[d]]
    over = [*range(added), *stretched]
    return input.sum(over, keepdim=True).reshape(shape) if over else input


def _sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """``(2, 3)`` of ``resize(2, 3)`` and of ``resize((2, 3))``."""
    return tuple(given[0]) if len(given) == 1 and not isinstance(given[0], int) else given


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return the first ``size`` rows of ``nonzero(input)``, filled up with ``fill_value``."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    if input.dim() == 0:
        return fb.empty(size, 0, dtype=fb.int64, device=input.device)
    # By sorting, because vmap does not support results whose size depends on the elements.
    chosen = (input != 0).reshape(-1)
    order = chosen.to(fb.uint8).argsort(descending=True, stable=True)[:size]
    order = fb.nn.functional.pad(order, (0, size - order.shape[0]))
    rows = fb.stack(fb.unravel_index(order, input.shape), -1)
    found = fb.arange(size, device=input.device) < chosen.sum()
    return fb.where(found[:, None], rows, fill_value)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale down to ``maxnorm`` the slices along ``dim`` whose p-norm is above it."""
    if input.dim() < 2:
        raise RuntimeError(
            f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions"
        )
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    others = _all_but(input, dim)
    norms = fb.linalg.vector_norm(input, p, others, keepdim=True)
    # Keeps a norm of exactly maxnorm below it, and avoids division by zero.
    scale = fb.where(norms > maxnorm, maxnorm / (norms + 1e-7), fb.ones_like(norms))
    return input * scale


def renorm_(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """`renorm` in place."""
    # From a copy, because the derivative of the norm needs the original elements.
    return input.copy_(renorm(input.clone(), p, dim, maxnorm))


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """Return the norm over all dimensions except ``dim``, which is kept; over all if it is -1."""
    if dim == -1:
        return fb.linalg.vector_norm(v, pow)
    return fb.linalg.vector_norm(v, pow, _all_but(v, dim), keepdim=True)


def _all_but(tensor: Tensor, dim: int) -> list[int]:
    if not -tensor.dim() <= dim < tensor.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-tensor.dim()}, "
            f"{tensor.dim() - 1}], but got {dim})"
        )
    return [d for d in range(tensor.dim()) if d != dim % tensor.dim()]


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Return the nuclear norm, over two dimensions."""
    return fb.linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """Return the root of the sum of squares over ``dim``."""
    return fb.linalg.vector_norm(input, 2, dim, keepdim)

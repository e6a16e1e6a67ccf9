"""Common tools of distributions: broadcasting, probabilities and logits, lazy properties."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, Generic, TypeVar, overload

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import binary_cross_entropy_with_logits
from flambeau._operators.joining import broadcast_shapes

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant: float = 0.57721566490153286060

_T = TypeVar("_T")


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors and numbers to one shape; numbers take the dtype of the first tensor."""
    shapes = {value.shape if isinstance(value, Tensor) else None for value in values}
    if len(shapes) == 1 and None not in shapes:
        return values
    tensors = [value for value in values if isinstance(value, Tensor)]
    several = len(tensors) != 1
    shape = broadcast_shapes(*(each.shape for each in tensors)) if several else tensors[0].shape
    if not all(isinstance(value, (Tensor, int, float)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing"
            f" __torch_function__, got {', '.join(type(value).__name__ for value in values)}"
        )
    dtype = tensors[0].dtype if tensors else fb.get_default_dtype()
    device = tensors[0].device if tensors else None
    tensors = [
        value if isinstance(value, Tensor) else fb.full((), value, dtype=dtype, device=device)
        for value in values
    ]
    return tuple(tensor.expand(shape) for tensor in tensors)


@cache
def least_number(dtype: fb.dtype) -> float:
    """Return the smallest finite number of a dtype."""
    return fb.finfo(dtype).min


def _standard_normal(shape: Any, dtype: fb.dtype, device: Any) -> Tensor:
    """Draw standard normal numbers of a shape."""
    return fb.randn(shape, dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, count: int) -> Tensor:
    """Sum over the last ``count`` dimensions."""
    return value.flatten(value.dim() - count).sum(-1) if count > 0 else value


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Convert log-odds, or unnormalised logarithms along the last dimension, to probabilities."""
    return fb.sigmoid(logits) if is_binary else fb.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Clamp probabilities away from 0 and 1 by the epsilon of their dtype."""
    epsilon = fb.finfo(probs.dtype).eps
    return probs.clamp(epsilon, 1 - epsilon)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Convert probabilities to log-odds or logarithms; clamped, so that they are finite."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def log_bernoulli(logits: Tensor, value: Tensor) -> Tensor:
    """Return the log probability of ``value`` for Bernoulli variables with these log-odds."""
    logits, value = broadcast_all(logits, value)
    return -binary_cross_entropy_with_logits(logits, value, reduction="none")


class lazy_property(Generic[_T]):
    """A property that is computed on first access and then stored on the object.

    Args:
        wrapped: The method that computes it.

    Example:
        >>> from flambeau.distributions.utils import lazy_property
        >>> class Square:
        ...     @lazy_property
        ...     def area(self):
        ...         print("computing")
        ...         return 4
        >>> square = Square()
        >>> square.area + square.area
        computing
        8
    """

    def __init__(self, wrapped: Callable[[Any], _T]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    @overload
    def __get__(self, instance: None, owner: Any = None) -> property: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> _T: ...
    def __get__(self, instance: object, owner: Any = None) -> Any:
        if instance is None:
            return property(self.wrapped)
        with fb.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return the elements of square matrices on and below a diagonal, row by row."""
    size = mat.size(-1)
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = fb.tril_indices(size, size, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Make square matrices from their elements on and below a diagonal, zero above it."""
    count = vec.size(-1)
    # n rows hold (n^2 + (1 + 2 diag) n - |diag| (diag + 1)) / 2 elements: solved for n.
    linear = 1 + 2 * diag
    size = (math.sqrt(linear**2 + 8 * count + 4 * abs(diag) * (diag + 1)) - linear) / 2
    if not size.is_integer():
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    rows, columns = fb.tril_indices(int(size), int(size), diag, device=vec.device)
    matrix = vec.new_zeros((*vec.shape[:-1], int(size), int(size)))
    matrix[..., rows, columns] = vec
    return matrix

"""Pruning methods: elements or slices, at random or by magnitude."""

from __future__ import annotations

import numbers
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.utils._pruning import BasePruningMethod

__all__ = [
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "RandomStructured",
    "RandomUnstructured",
]


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_count = isinstance(amount, numbers.Integral)
    if float(amount) < 0 or (not is_count and float(amount) > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] "
            "or a non-negative integer"
        )


def _count(amount: float, size: int) -> int:
    """Convert an amount to a number out of `size`; a float is a fraction."""
    count = int(amount) if isinstance(amount, numbers.Integral) else round(amount * size)
    if count > size:
        raise ValueError(
            f"amount={count} should be smaller than the number of parameters to prune={size}"
        )
    return count


def _slices(t: Tensor, dim: int, amount: float) -> tuple[int, int]:
    """Return the number of slices along `dim`, and how many of them to prune."""
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. "
            f"Found tensor of shape {tuple(t.shape)} with {t.ndim} dims"
        )
    if dim >= t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {tuple(t.shape)}")
    return t.shape[dim], _count(amount, t.shape[dim])


def _without_slices(default_mask: Tensor, dim: int, kept: Tensor) -> Tensor:
    """The mask with zeros in the slices that are not `kept`."""
    others = [1] * default_mask.ndim
    others[dim] = -1
    return default_mask * kept.to(default_mask.dtype).view(others)


class Identity(BasePruningMethod):
    """Prunes nothing."""

    PRUNING_TYPE: str = "unstructured"

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to earlier pruning."""
        return super().apply(module, name)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask as it was."""
        return default_mask


class _Unstructured(BasePruningMethod):
    """Prunes an amount of the elements; a subclass picks them."""

    PRUNING_TYPE: str = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to earlier pruning."""
        return super().apply(module, name, amount, importance_scores=importance_scores)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with zeros at the picked elements."""
        mask = default_mask.clone(memory_format=flambeau.contiguous_format)
        count = _count(self.amount, t.numel())
        if count:
            mask.view(-1)[self._fb_picked(t, count)] = 0
        return mask

    def _fb_picked(self, t: Tensor, count: int) -> Tensor:
        raise NotImplementedError


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _fb_picked(self, t: Tensor, count: int) -> Tensor:
        _, drawn = flambeau.rand_like(t).view(-1).topk(count)
        return drawn


class L1Unstructured(_Unstructured):
    """Prunes the elements of the smallest magnitude."""

    def _fb_picked(self, t: Tensor, count: int) -> Tensor:
        _, smallest = t.abs().view(-1).topk(count, largest=False)
        return smallest


class RandomStructured(BasePruningMethod):
    """Prunes slices along `dim` at random."""

    PRUNING_TYPE: str = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, dim: int = -1
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to earlier pruning."""
        return super().apply(module, name, amount, dim)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in slices drawn evenly."""
        total, count = _slices(t, self.dim, self.amount)
        if not count:
            return default_mask
        drawn = flambeau.rand(total)
        bound, _ = drawn.kthvalue(count)
        return _without_slices(default_mask, self.dim, drawn > bound)


class LnStructured(BasePruningMethod):
    """Prunes the slices along `dim` that have the smallest norm of order `n`."""

    PRUNING_TYPE: str = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    @classmethod
    def apply(  # type: ignore[override]
        cls,
        module: Module,
        name: str,
        amount: float,
        n: Any,
        dim: int,
        importance_scores: Tensor | None = None,
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to earlier pruning."""
        return super().apply(module, name, amount, n, dim, importance_scores=importance_scores)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros in the slices of the smallest norm."""
        total, count = _slices(t, self.dim, self.amount)
        if not count:
            return default_mask
        others = [d for d in range(t.ndim) if d != self.dim % t.ndim]
        norms = flambeau.norm(t.detach(), p=self.n, dim=others)
        kept = flambeau.zeros(total)
        _, largest = norms.topk(total - count)
        kept[largest] = 1
        return _without_slices(default_mask, self.dim, kept)


class CustomFromMask(BasePruningMethod):
    """Prunes the elements where a mask is 0."""

    PRUNING_TYPE: str = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, mask: Tensor
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to earlier pruning."""
        return super().apply(module, name, mask)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zeros where the mask has them, besides those that are there."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"mask has shape {tuple(self.mask.shape)}, "
                f"the parameter {tuple(default_mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

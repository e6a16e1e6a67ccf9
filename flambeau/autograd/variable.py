"""`Variable`, what a tensor in a graph was before tensors had graphs themselves."""

from __future__ import annotations

from typing import Any, NoReturn

from flambeau import Tensor

__all__ = ["Variable", "VariableMeta", "variable"]


class VariableMeta(type):
    """Makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """``Variable(data)`` is a new leaf over the same elements: a Tensor, never a Variable."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False) -> Any:
        leaf = Tensor() if data is None else data.detach()
        return leaf.requires_grad_(requires_grad)


def variable(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse, as PyTorch does: the function was there before `torch.tensor`."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")

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
    """Old wrapper of tensors; returns a tensor that shares memory with `data`.

    Args:
        data: The tensor. Default: empty.
        requires_grad: Whether the result requires gradients. Default: False.

    Example:
        >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
        tensor([1., 1.], requires_grad=True)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False) -> Any:
        leaf = Tensor() if data is None else data.detach()
        return leaf.requires_grad_(requires_grad)


def variable(*args: Any, **kwargs: Any) -> NoReturn:
    """Refuse, as PyTorch does: the function was there before `torch.tensor`."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")

"""Collective operations that return their result; a group of one process gives what it got."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor
from flambeau._limits.refusing import refused

__all__ = ["all_reduce", "all_to_all_single_autograd", "wait_tensor"]


_OPERATIONS = ("sum", "avg", "product", "min", "max", "band", "bor", "bxor")


def wait_tensor(tensor: Tensor) -> Tensor:
    """A tensor once it is there: at once, since nothing is on its way."""
    return tensor


def all_reduce(self: Tensor, reduceOp: str, group: Any = None, tag: str = "") -> Tensor:
    """The sum, or the like, over the only process there is."""
    if str(reduceOp).lower() not in _OPERATIONS:
        raise RuntimeError(
            f"all_reduce: expected an operation of {', '.join(_OPERATIONS)}, got {reduceOp!r}"
        )
    return self.clone()


all_to_all_single_autograd = refused(
    "distributed._functional_collectives.all_to_all_single_autograd"
)

"""``swap_tensors``: exchange two tensors in place, unnoticed by their holders."""

from __future__ import annotations

import weakref

from flambeau import _C, Tensor

__all__ = ["swap_tensors"]


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Swap elements, gradients, classes and attributes; the objects keep their identity."""
    for position, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"swap_tensors: cannot swap {position}, as it has weak references")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    _C._swap_tensors(t1, t2)

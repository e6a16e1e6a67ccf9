"""``out=`` of functions that are not in the operator table, whose entry points know it."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor


def stored(result: Tensor, out: Tensor | None) -> Tensor:
    """What an operator returns: the result, or ``out`` with the result in it."""
    if out is None:
        return result
    if result.requires_grad:
        raise RuntimeError(
            "functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if out.dtype != result.dtype and not fb.can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"result type {result.dtype} can't be cast to the type {out.dtype} of out"
        )
    if out.shape != result.shape:
        out.resize_(result.shape)
    return out.copy_(result)

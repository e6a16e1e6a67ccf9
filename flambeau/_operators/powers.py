"""In-place powers."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__: list[str] = []


def float_power_(input: Tensor, exponent: Any) -> Tensor:
    """``float_power`` in place, of a tensor whose type is that of the result."""
    # From a copy, because the derivative needs the original base.
    result = fb.float_power(input.clone(), exponent)
    if result.dtype != input.dtype:
        raise RuntimeError(
            f"float_power_: the base has dtype {input.dtype}, but the result has {result.dtype}"
        )
    return input.copy_(result)

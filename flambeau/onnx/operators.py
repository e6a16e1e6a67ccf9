"""Functions that an export understands, for models that reckon with shapes."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor

__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]


def shape_as_tensor(x: Tensor) -> Tensor:
    """The shape as a tensor of integers."""
    return fb.tensor(tuple(x.shape), dtype=fb.int64)


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """``x`` in the shape that a tensor of integers says."""
    return x.reshape(shape.tolist())

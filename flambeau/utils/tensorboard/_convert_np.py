"""What a program logs, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import flambeau as fb
from flambeau import Tensor

__all__ = ["make_np"]


def make_np(x: Any) -> np.ndarray[Any, Any]:
    """An array of a tensor, an array or a number."""
    if isinstance(x, Tensor):
        x = x.detach().cpu()
        return np.asarray(x.float() if x.dtype == fb.bfloat16 else x.resolve_conj())
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    raise NotImplementedError(
        f"Got {type(x)}, but numpy array or torch tensor are expected. "
        "Lists can be turned into one by numpy.asarray."
    )

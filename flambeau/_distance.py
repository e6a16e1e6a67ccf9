"""How far apart vectors are."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along ``dim``."""
    dtype = fb.promote_types(x1.dtype, x2.dtype)
    if not dtype.is_floating_point:
        raise RuntimeError(f"cosine_similarity: expected floating-point tensors, got {dtype}")
    x1, x2 = fb.broadcast_tensors(x1.to(dtype), x2.to(dtype))
    # Each vector is brought to length one first: the product of two norms could overflow.
    unit1 = x1 / fb.linalg.vector_norm(x1, dim=dim, keepdim=True).clamp(min=eps)
    unit2 = x2 / fb.linalg.vector_norm(x2, dim=dim, keepdim=True).clamp(min=eps)
    return (unit1 * unit2).sum(dim)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
    return (x1 - x2 + eps).norm(p, dim=-1, keepdim=keepdim)

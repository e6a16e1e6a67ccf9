"""Stochastic depth: branches dropped at random (https://arxiv.org/abs/1603.09382)."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor, nn

__all__ = ["StochasticDepth", "stochastic_depth"]


def stochastic_depth(input: Tensor, p: float, mode: str, training: bool = True) -> Tensor:
    """Zero a whole batch (``mode="batch"``) or single rows of it with probability ``p``."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    kept = 1.0 - p
    shape = [input.shape[0] if mode == "row" else 1] + [1] * (input.ndim - 1)
    noise = fb.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(kept)
    if kept > 0.0:
        noise.div_(kept)
    return input * noise


class StochasticDepth(nn.Module):
    """Drop branches at random during training."""

    def __init__(self, p: float, mode: str) -> None:
        super().__init__()
        self.p = p
        self.mode = mode

    def forward(self, input: Tensor) -> Tensor:
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"

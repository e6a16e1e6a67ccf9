"""DropBlock: blocks of pixels dropped at random (https://arxiv.org/abs/1810.12890)."""

from __future__ import annotations

import math
from collections.abc import Callable

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.nn.functional import max_pool2d, max_pool3d, pad

__all__ = ["DropBlock2d", "DropBlock3d", "drop_block2d", "drop_block3d"]


def drop_block2d(
    input: Tensor,
    p: float,
    block_size: int,
    inplace: bool = False,
    eps: float = 1e-06,
    training: bool = True,
) -> Tensor:
    """Zero random squares of images (N, C, H, W), about ``p`` of all pixels; scale the rest."""
    return _drop_block(input, p, block_size, inplace, eps, training, max_pool2d, 2)


def drop_block3d(
    input: Tensor,
    p: float,
    block_size: int,
    inplace: bool = False,
    eps: float = 1e-06,
    training: bool = True,
) -> Tensor:
    """Zero random cubes of volumes (N, C, D, H, W), about ``p`` of all; scale the rest."""
    return _drop_block(input, p, block_size, inplace, eps, training, max_pool3d, 3)


def _drop_block(
    input: Tensor,
    p: float,
    block_size: int,
    inplace: bool,
    eps: float,
    training: bool,
    pool: Callable[..., Tensor],
    rank: int,
) -> Tensor:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != rank + 2:
        raise ValueError(f"input should be {rank + 2} dimensional. Got {input.ndim} dimensions.")
    if not training or p == 0.0:
        return input
    sides = input.shape[2:]
    block = min(block_size, *sides)
    if block % 2 == 0:
        raise ValueError(f"block size should be odd. Got {block} which is even.")
    # The probability of a block centre at which about p of the pixels are covered.
    middles = [side - block + 1 for side in sides]
    rate = p * math.prod(sides) / (block**rank * math.prod(middles))
    drawn = fb.empty((*input.shape[:2], *middles), dtype=input.dtype, device=input.device)
    drawn.bernoulli_(rate)
    covered = pool(pad(drawn, [block // 2] * (2 * rank)), block, 1, block // 2)
    kept = 1 - covered
    scale = kept.numel() / (eps + kept.sum())
    return input.mul_(kept).mul_(scale) if inplace else input * kept * scale


class _DropBlock(nn.Module):
    """Common parts of both modules."""

    def __init__(
        self, p: float, block_size: int, inplace: bool = False, eps: float = 1e-06
    ) -> None:
        super().__init__()
        self.p = p
        self.block_size = block_size
        self.inplace = inplace
        self.eps = eps

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(p={self.p}, block_size={self.block_size}, "
            f"inplace={self.inplace})"
        )


class DropBlock2d(_DropBlock):
    """`drop_block2d` during training."""

    def forward(self, input: Tensor) -> Tensor:
        return drop_block2d(input, self.p, self.block_size, self.inplace, self.eps, self.training)


class DropBlock3d(_DropBlock):
    """`drop_block3d` during training."""

    def forward(self, input: Tensor) -> Tensor:
        return drop_block3d(input, self.p, self.block_size, self.inplace, self.eps, self.training)

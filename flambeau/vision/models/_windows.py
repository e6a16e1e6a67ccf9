"""Windowed attention in images and videos, for Swin Transformers and MaxViT."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import dropout as drop
from flambeau.nn.functional import linear, normalize, pad

__all__ = ["join", "pair_index", "split", "window_attention"]

_APART = -100.0  # added to the score of two positions that were not neighbours before a shift


def split(x: Tensor, size: Sequence[int]) -> Tensor:
    """Split images (B, H, W, C) or videos (B, T, H, W, C) into windows (windows, positions, C)."""
    batch, *sides, channels = x.shape
    cut = [
        part for side, window in zip(sides, size, strict=True) for part in (side // window, window)
    ]
    inside = [0, *range(1, len(cut), 2), *range(2, len(cut) + 1, 2), len(cut) + 1]
    return x.view(batch, *cut, channels).permute(inside).reshape(-1, math.prod(size), channels)


def join(windows: Tensor, size: Sequence[int], batch: int, sides: Sequence[int]) -> Tensor:
    """Join windows to images or videos."""
    count = [side // window for side, window in zip(sides, size, strict=True)]
    rank = len(count)
    apart = [0, *(i + part for i in range(1, rank + 1) for part in (0, rank)), 2 * rank + 1]
    return windows.view(batch, *count, *size, -1).permute(apart).reshape(batch, *sides, -1)


def pair_index(size: Sequence[int]) -> Tensor:
    """The index of the relative position of each pair in a window, (positions, positions)."""
    axes = fb.meshgrid(*(fb.arange(side) for side in size), indexing="ij")
    index = fb.zeros(1, dtype=fb.int64)
    for axis, side in zip(axes, size, strict=True):
        place = axis.flatten()
        index = index * (2 * side - 1) + (place[:, None] - place + side - 1)
    return index


def _shift_mask(sides: Sequence[int], size: Sequence[int], shift: Sequence[int]) -> Tensor:
    """The mask added to the scores of each window, so that only former neighbours attend."""
    regions = fb.zeros(1, *sides, 1)
    # A side that is not shifted has one region: the last one, which covers the others.
    parts = [
        [slice(0, -window), slice(-window, -step), slice(-step, None)]
        for window, step in zip(size, shift, strict=True)
    ]
    for number, place in enumerate(itertools.product(*parts)):
        regions[(slice(None), *place)] = number
    windows = split(regions, size).squeeze(-1)
    apart = windows.unsqueeze(1) != windows.unsqueeze(2)
    return fb.zeros(apart.shape).masked_fill(apart, _APART)


def window_attention(
    x: Tensor,
    qkv_weight: Tensor,
    proj_weight: Tensor,
    relative_position_bias: Tensor,
    window_size: Sequence[int],
    num_heads: int,
    shift_size: Sequence[int],
    attention_dropout: float,
    dropout: float,
    qkv_bias: Tensor | None,
    proj_bias: Tensor | None,
    logit_scale: Tensor | None,
    training: bool,
) -> Tensor:
    """Attention among the positions of each window, with windows moved by ``shift_size``.

    With a ``logit_scale`` scores are cosines times its exponential, and keys have no bias.
    """
    batch, *sides, _ = x.shape
    missing = [-side % window for side, window in zip(sides, window_size, strict=True)]
    if any(missing):
        x = pad(x, (0, 0, *(part for each in reversed(missing) for part in (0, each))))
    full = [side + more for side, more in zip(sides, missing, strict=True)]
    # A window that spans a whole side is not shifted along it.
    shift = [
        0 if window >= side else step
        for window, side, step in zip(window_size, full, shift_size, strict=True)
    ]
    along = list(range(1, len(full) + 1))
    if any(shift):
        x = fb.roll(x, [-step for step in shift], along)
    windows = split(x, window_size)
    if logit_scale is not None and qkv_bias is not None:
        query, _, value = qkv_bias.chunk(3)
        qkv_bias = fb.cat((query, fb.zeros_like(query), value))
    count, places, channels = windows.shape
    mixed = linear(windows, qkv_weight, qkv_bias)
    mixed = mixed.view(count, places, 3, num_heads, channels // num_heads)
    query, key, value = mixed.permute(2, 0, 3, 1, 4)
    scores = _scores(query, key, logit_scale) + relative_position_bias
    if any(shift):
        mask = _shift_mask(full, window_size, shift).to(scores)
        per_image = scores.view(batch, -1, num_heads, places, places)
        scores = (per_image + mask[None, :, None]).view(scores.shape)
    weights = drop(scores.softmax(-1), p=attention_dropout, training=training)
    result = (weights @ value).transpose(1, 2).reshape(count, places, channels)
    result = drop(linear(result, proj_weight, proj_bias), p=dropout, training=training)
    x = join(result, window_size, batch, full)
    if any(shift):
        x = fb.roll(x, shift, along)
    if any(missing):
        x = x[(slice(None), *(slice(0, side) for side in sides))].contiguous()
    return x


def _scores(query: Tensor, key: Tensor, logit_scale: Tensor | None) -> Tensor:
    if logit_scale is None:
        return fb.matmul(query * query.shape[-1] ** -0.5, key.transpose(-2, -1))
    scale = logit_scale.clamp(max=math.log(100.0)).exp()
    return normalize(query, dim=-1) @ normalize(key, dim=-1).transpose(-2, -1) * scale

"""Optical flow as colours."""

from __future__ import annotations

import math

import flambeau as fb
from flambeau import Tensor

__all__ = ["flow_to_image"]

# The number of steps from one colour of the wheel to the next, and the channel that rises or
# falls: red, yellow, green, cyan, blue, magenta and back
# (https://vision.middlebury.edu/flow/flowEval-iccv07.pdf).
_WAYS = ((15, 1, 1), (6, 0, -1), (4, 2, 1), (11, 1, -1), (13, 0, 1), (6, 2, -1))


def flow_to_image(flow: Tensor) -> Tensor:
    """Show a flow (2, H, W) or (N, 2, H, W): hue is the direction, white is no motion."""
    if flow.dtype != fb.float32:
        raise ValueError(f"Flow should be of dtype torch.float, got {flow.dtype}.")
    if flow.ndim not in (3, 4) or flow.shape[-3] != 2:
        raise ValueError(
            f"Input flow should have shape (2, H, W) or (N, 2, H, W), got {tuple(flow.shape)}."
        )
    longest = (flow**2).sum(-3).sqrt().max()
    return _colors(flow / (longest + fb.finfo(fb.float32).eps))


def _wheel() -> Tensor:
    """The colours (55, 3) of the wheel."""
    colors, color = [], [255, 0, 0]
    for steps, channel, way in _WAYS:
        for step in range(steps):
            share = math.floor(255 * step / steps)
            color[channel] = share if way > 0 else 255 - share
            colors.append(list(color))
        color[channel] = 255 if way > 0 else 0
    return fb.tensor(colors, dtype=fb.float32)


def _colors(flow: Tensor) -> Tensor:
    """Convert a flow of length at most 1 to colours; white is no motion."""
    right, down = flow.unbind(-3)
    length = (right**2 + down**2).sqrt()
    wheel = _wheel()
    place = (fb.atan2(-down, -right) / math.pi + 1) / 2 * (len(wheel) - 1)
    before = place.floor().long()
    share = (place - before).unsqueeze(-3)
    after = (before + 1) % len(wheel)
    first, second = (wheel[index].movedim(-1, -3) / 255 for index in (before, after))
    color = (1 - share) * first + share * second
    return (255 * (1 - length.unsqueeze(-3) * (1 - color))).floor().to(fb.uint8)

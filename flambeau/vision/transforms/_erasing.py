"""Random erasing (https://arxiv.org/abs/1708.04896)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._random import below, chance, uniform

__all__ = ["RandomErasing", "random_patch"]


class RandomErasing(nn.Module):
    """Erase a random rectangle of a tensor with a probability.

    Args:
        p: The probability. Default: 0.5.
        scale: Range of the rectangle's share of the area. Default: (0.02, 0.33).
        ratio: Range of its height by width. Default: (0.3, 3.3).
        value: What replaces it: a number, one per channel, or `"random"`. Default: 0.
        inplace: Whether to overwrite the tensor. Default: False.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomErasing(p=1.0)(torch.rand(3, 16, 16)).shape
        torch.Size([3, 16, 16])
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(value, (int, float, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError(f"If value is str, it should be 'random', got {value!r}")
        for name, pair in (("Scale", scale), ("Ratio", ratio)):
            if not isinstance(pair, (tuple, list)):
                raise TypeError(f"{name} should be a sequence, got {pair!r}")
        if not 0 <= scale[0] <= scale[1] <= 1:
            raise ValueError(f"Scale should be between 0 and 1, got {scale}")
        if not 0 <= p <= 1:
            raise ValueError(f"Random erasing probability should be between 0 and 1, got {p}")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(
        img: Tensor,
        scale: Sequence[float],
        ratio: Sequence[float],
        value: Sequence[float] | None = None,
    ) -> tuple[int, int, int, int, Tensor]:
        """Draw the top, left, height and width of a rectangle and its new contents."""
        channels, height, width = img.shape[-3:]
        drawn = random_patch((channels, height, width), scale, ratio, value)
        return (0, 0, height, width, img) if drawn is None else drawn

    def forward(self, img: Tensor) -> Tensor:
        if not chance(self.p):
            return img
        if not isinstance(img, Tensor):
            raise TypeError(
                f"RandomErasing takes tensors, got {type(img).__name__}: put it after ToTensor"
            )
        params = self.get_params(img, self.scale, self.ratio, self._fb_values(img.shape[-3]))
        return F.erase(img, *params, inplace=self.inplace)

    def _fb_values(self, channels: int) -> list[float] | None:
        if isinstance(self.value, str):
            return None
        values = [float(self.value)] if isinstance(self.value, (int, float)) else [*self.value]
        if len(values) not in (1, channels):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{channels} (number of input channels), got {len(values)}"
            )
        return values

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(p={self.p}, scale={self.scale}, ratio={self.ratio}, "
            f"value={self.value}, inplace={self.inplace})"
        )


def random_patch(
    dimensions: Sequence[int],
    scale: Sequence[float],
    ratio: Sequence[float],
    value: Sequence[float] | None,
) -> tuple[int, int, int, int, Tensor] | None:
    """Draw a rectangle of an image (C, H, W) and its new contents; None if none fits."""
    channels, height, width = dimensions
    logs = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        area = height * width * uniform(scale[0], scale[1])
        shape = math.exp(uniform(*logs))
        rows, columns = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if rows >= height or columns >= width:
            continue
        if value is None:
            patch = fb.empty([channels, rows, columns], dtype=fb.float32).normal_()
        else:
            patch = fb.tensor(value)[:, None, None]
        top = below(height - rows + 1)
        return top, below(width - columns + 1), rows, columns, patch
    return None

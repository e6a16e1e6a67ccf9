"""Grids of images."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms._pil.convert import to_pil

__all__ = ["make_grid", "save_image"]


def make_grid(
    tensor: Tensor | list[Tensor],
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Arrange images in a grid.

    Args:
        tensor: Images (N, C, H, W), or a list of images.
        nrow: Images in a row. Default: 8.
        padding: Pixels between two images. Default: 2.
        normalize: Whether to map all values to 0 ... 1. Default: False.
        value_range: (min, max) to map from. Default: the smallest and largest value.
        scale_each: Whether to map each image by itself. Default: False.
        pad_value: Value of the pixels in between. Default: 0.

    Returns:
        An image (C, H, W); a single image is returned without a margin.

    Example:
        >>> from flambeau.vision.utils import make_grid
        >>> make_grid(torch.rand(6, 3, 10, 10), nrow=3).shape
        torch.Size([3, 26, 38])

    See also:
        `vision.utils.save_image`.
    """
    with fb.no_grad():
        batch = _as_batch(tensor)
        if normalize:
            batch = _normalized(batch, value_range, scale_each)
        if batch.shape[0] == 1:
            return batch.squeeze(0)
        return _laid_out(batch, nrow, padding, pad_value)


def _as_batch(tensor: Any) -> Tensor:
    if isinstance(tensor, list) and all(isinstance(each, Tensor) for each in tensor):
        tensor = fb.stack(tensor)
    elif not isinstance(tensor, Tensor):
        raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
    if not 2 <= tensor.ndim <= 4:
        raise ValueError(f"images (N, C, H, W) expected, got shape {tuple(tensor.shape)}")
    batch: Tensor = tensor[(None,) * (4 - tensor.ndim)]
    # Grey images become RGB, so that they can stand beside others.
    return batch.repeat(1, 3, 1, 1) if batch.shape[1] == 1 else batch


def _normalized(batch: Tensor, value_range: tuple[float, float] | None, scale_each: bool) -> Tensor:
    if value_range is not None and not isinstance(value_range, tuple):
        raise TypeError("value_range has to be a tuple (min, max) if specified")
    if scale_each:
        return fb.stack([_stretched(image, value_range) for image in batch])
    return _stretched(batch, value_range)


def _stretched(values: Tensor, value_range: tuple[float, float] | None) -> Tensor:
    low, high = value_range or (float(values.min()), float(values.max()))
    return values.clamp(low, high).sub_(low).div_(max(high - low, 1e-5))


def _laid_out(batch: Tensor, nrow: int, padding: int, pad_value: float) -> Tensor:
    count, channels, height, width = batch.shape
    columns = min(nrow, count)
    rows = -(-count // columns)
    down, across = height + padding, width + padding
    grid = batch.new_full((channels, down * rows + padding, across * columns + padding), pad_value)
    for position, image in enumerate(batch):
        top, left = (
            place * step + padding
            for place, step in zip(divmod(position, columns), (down, across), strict=True)
        )
        grid[:, top : top + height, left : left + width] = image
    return grid


def save_image(
    tensor: Tensor | list[Tensor],
    fp: str | os.PathLike[str] | BinaryIO,
    format: str | None = None,
    **kwargs: Any,
) -> None:
    """Write an image, or a grid of several, to a file.

    Args:
        tensor: Image or images, between 0 and 1.
        fp: Path, or object with `write`.
        format: Format of the file. Default: by the name of the file.
        **kwargs: Options of `make_grid`.

    Example:
        >>> from flambeau.vision.utils import save_image
        >>> save_image(torch.rand(4, 3, 10, 10), "grid.png", nrow=2)
    """
    grid = make_grid(tensor, **kwargs)
    pixels = grid.mul(255).add(0.5).clamp(0, 255).permute(1, 2, 0).to(fb.uint8)
    to_pil(pixels, None).save(fp, format=format)

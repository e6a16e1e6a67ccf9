"""COCO outlines as masks: polygons, and run-length encodings with or without compression."""

from __future__ import annotations

from typing import Any

__all__ = ["mask_of"]

_FINER = 5  # polygons are drawn on a grid this many times finer
_FARTHEST = 1 << 20  # the farthest that a corner may be outside of the image, in pixels


def mask_of(outline: Any, height: int, width: int) -> Any:
    """Return the mask of an outline, an array (height, width) of 0 and 1.

    An outline is a list of polygons, whose union it is, or a dictionary of size and counts:
    alternating runs of 0 and 1, column by column, as a list or as text.
    """
    import numpy as np

    if isinstance(outline, dict):
        counts = outline["counts"]
        height, width = outline["size"]
        runs = counts if isinstance(counts, list) else _expanded(counts)
        # Checked before memory is allocated: runs can have any length.
        if min(runs, default=0) < 0 or sum(runs) != height * width:
            raise ValueError(f"runs of {sum(runs)} pixels for a mask of {height} × {width}")
        return _columns(np.repeat(np.arange(len(runs)) % 2, runs), height, width)
    mask = np.zeros((height, width), np.uint8)
    for polygon in outline:
        mask |= _filled(polygon, height, width)
    return mask


def _columns(pixels: Any, height: int, width: int) -> Any:
    return pixels.astype("uint8").reshape(width, height).T


def _expanded(text: str | bytes) -> list[int]:
    """Runs from text: five bits a character, and from the third run on what a run has more than
    the one before the last."""
    runs: list[int] = []
    value = bits = 0
    for code in text.encode() if isinstance(text, str) else text:
        value |= (code - 48 & 31) << bits
        bits += 5
        if code - 48 & 32:
            continue
        if code - 48 & 16:  # a negative number
            value -= 1 << bits
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value = bits = 0
    return runs


def _filled(polygon: Any, height: int, width: int) -> Any:
    """Fill a polygon.

    Its border is followed on the finer grid. Where it crosses from one column of pixels to the
    next, all pixels below in that column are inverted.
    """
    import numpy as np

    points = np.asarray(polygon, dtype=np.float64)
    # An edge is followed point by point, so it must not lead far outside of the image.
    if points.size == 0 or points.size % 2 or not (np.abs(points) <= _FARTHEST).all():
        raise ValueError(f"no polygon of pairs of numbers up to {_FARTHEST}: {polygon!s:.80}")
    corners = np.trunc(points.reshape(-1, 2) * _FINER + 0.5).astype(np.int64)
    walk = np.concatenate(
        [_edge(*pair) for pair in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    )
    across, down = walk[:, 0], walk[:, 1]
    crossing = np.flatnonzero(np.diff(across))
    column = np.minimum(across[crossing], across[crossing + 1])
    row = np.minimum(down[crossing], down[crossing + 1])
    x = (column + 0.5) / _FINER - 0.5
    y = np.ceil(np.clip((row + 0.5) / _FINER - 0.5, 0, height)).astype(np.int64)
    kept = (x == np.floor(x)) & (x >= 0) & (x <= width - 1)
    changes = np.zeros(height * width + 1, np.int64)
    np.add.at(changes, x[kept].astype(np.int64) * height + y[kept], 1)
    return _columns(np.cumsum(changes[:-1]) % 2, height, width)


def _edge(start: Any, end: Any) -> Any:
    """The grid points on the line from one corner to another, both included."""
    import numpy as np

    steps = np.abs(end - start)
    long = 0 if steps[0] >= steps[1] else 1  # the direction in which no point is skipped
    # Always counted from the lower end, so that an edge is the same in both directions.
    reversed_ = start[long] > end[long]
    low, high = (end, start) if reversed_ else (start, end)
    along = np.arange(steps[long] + 1)
    slope = (high[1 - long] - low[1 - long]) / steps[long] if steps[long] else 0.0
    points = np.empty((len(along), 2), np.int64)
    points[:, long] = low[long] + along
    points[:, 1 - long] = np.trunc(low[1 - long] + slope * along + 0.5)
    return points[::-1] if reversed_ else points

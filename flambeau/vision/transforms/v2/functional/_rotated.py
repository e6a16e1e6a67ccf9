"""Rotated boxes as their corners (N, 4, 2), kept rectangular and within the image."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor

__all__ = ["clamp_corners", "rectangles"]


def rectangles(corners: Tensor) -> Tensor:
    """Return rectangles for parallelograms.

    They keep the ends of the longer diagonal and the direction of the longer side.
    """
    first, second, third, fourth = corners.unbind(1)
    across, down = second - first, fourth - first
    wide = _length(across) >= _length(down)
    # The unit vectors along the width and the height, which is 90 degrees clockwise from it.
    u = fb.where(wide, across / _length(across), _rotated(down / _length(down), -1))
    v = _rotated(u, 1)
    width = _along(across, u) + fb.where(wide, _along(down, u), 0.0)
    height = _along(down, v) + fb.where(wide, 0.0, _along(across, v))
    x, y, middle = width / 2 * u, height / 2 * v, (first + third) / 2
    return fb.stack((middle - x - y, middle + x - y, middle + x + y, middle - x + y), 1)


def _along(vectors: Tensor, direction: Tensor) -> Tensor:
    return (vectors * direction).sum(-1, keepdim=True).abs()


def _length(vectors: Tensor) -> Tensor:
    return vectors.norm(dim=-1, keepdim=True)


def _rotated(vectors: Tensor, way: int) -> Tensor:
    """Rotate vectors by a right angle: clockwise on the screen for 1, counterclockwise for -1."""
    x, y = vectors.unbind(-1)
    return fb.stack((-way * y, way * x), -1)


def clamp_corners(corners: Tensor, canvas_size: Sequence[int], hard: bool) -> Tensor:
    """Return the smallest box of the same direction around the visible part of each box.

    `hard` also moves in the corners that are left outside, so that the box covers less of the
    canvas. A box outside of the canvas becomes a point, its bottom left corner.
    """
    if corners.shape[0] == 0:
        return corners
    exact = corners.double()
    clamped = _around_visible(exact, canvas_size)
    if hard:
        for axis, way in ((0, -1), (1, -1), (0, 1), (1, 1)):
            clamped = _pushed_in(clamped, canvas_size, axis, way)
    inside = _within(exact, canvas_size).all(-1)
    return fb.where(inside.view(-1, 1, 1), exact, clamped).to(corners.dtype)


def _within(points: Tensor, canvas_size: Sequence[int]) -> Tensor:
    height, width = canvas_size
    x, y = points.unbind(-1)
    slack = 1e-9  # points on the edge must not be lost to rounding
    return (x >= -slack) & (x <= width + slack) & (y >= -slack) & (y <= height + slack)


def _around_visible(corners: Tensor, canvas_size: Sequence[int]) -> Tensor:
    """Move the sides in to the outermost points of the intersection of box and canvas."""
    first = corners[:, :1]
    across, down = corners[:, 1:2] - first, corners[:, 3:] - first
    points, common = _common_points(corners, canvas_size)
    # Positions in a box: from 0 to 1 along its width, and along its height.
    places = [
        ((points - first) * side).sum(-1) / (side * side).sum(-1).clamp(min=1e-300)
        for side in (across, down)
    ]
    ends = []
    for place in places:
        low = place.masked_fill(~common, float("inf")).amin(1).view(-1, 1, 1)
        high = place.masked_fill(~common, float("-inf")).amax(1).view(-1, 1, 1)
        ends.append((low.clamp(min=0.0), high.clamp(max=1.0)))
    (left, right), (top, bottom) = ends
    order = ((left, top), (right, top), (right, bottom), (left, bottom))
    box = fb.cat([first + x * across + y * down for x, y in order], 1)
    nothing = corners.new_tensor([0, canvas_size[0]])
    return fb.where(common.any(1).view(-1, 1, 1), box, nothing)


def _common_points(corners: Tensor, canvas_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return corners of boxes and canvas, intersections of their edges, and which are in both."""
    height, width = canvas_size
    canvas = corners.new_tensor([[0, 0], [width, 0], [width, height], [0, height]])
    canvas = canvas.expand(corners.shape[0], 4, 2)
    sides = corners.roll(-1, 1) - corners
    points = [corners, canvas]
    within = [_within(corners, canvas_size), _in_box(canvas, corners)]
    for axis, lines in ((0, (0, width)), (1, (0, height))):
        for line in lines:
            share = (line - corners[..., axis]) / sides[..., axis]
            crossing = corners + share.unsqueeze(-1) * sides
            meets = (share >= 0) & (share <= 1)
            points.append(fb.where(meets.unsqueeze(-1), crossing, 0.0))
            within.append(meets & _within(crossing, canvas_size))
    return fb.cat(points, 1), fb.cat(within, 1)


def _in_box(points: Tensor, corners: Tensor) -> Tensor:
    first = corners[:, :1]
    inside = fb.ones(points.shape[:2], dtype=fb.bool)
    for side in (corners[:, 1:2] - first, corners[:, 3:] - first):
        place = ((points - first) * side).sum(-1)
        inside &= (place >= -1e-9) & (place <= (side * side).sum(-1) + 1e-9)
    return inside


def _pushed_in(corners: Tensor, canvas_size: Sequence[int], axis: int, way: int) -> Tensor:
    """Move in the outermost corner in one direction, half by each of its sides."""
    limit = 0 if way < 0 else canvas_size[1 - axis]
    beyond, which = (way * (corners[..., axis] - limit)).max(1)
    beyond = beyond.clamp(min=0.0).view(-1, 1, 1)
    order = (which.view(-1, 1) + fb.arange(4)) % 4  # the outermost corner first
    index = order.unsqueeze(-1).expand(-1, -1, 2)
    outer, following, opposite, previous = corners.gather(1, index).split(1, 1)
    moves = []
    for side in (following - outer, previous - outer):
        depth = side[..., axis : axis + 1].abs()
        moves.append(fb.where(depth > 0, side * (beyond / 2) / depth, 0.0))
    along, aside = moves
    pushed = fb.cat((outer + along + aside, following + aside, opposite, previous + along), 1)
    return fb.zeros_like(corners).scatter(1, index, pushed)

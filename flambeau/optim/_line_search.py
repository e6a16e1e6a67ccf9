"""The line search of L-BFGS: cubic interpolation until the strong Wolfe conditions hold.

J. Nocedal and S. J. Wright, Numerical Optimization, algorithms 3.5 (bracket) and 3.6 (zoom).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from flambeau import Tensor

__all__ = ["Point", "strong_wolfe"]

DECREASE = 1e-4  # the part of the decrease predicted by the slope that a step must reach
FLATTENING = 0.9  # the part of the first slope that may be left after a step
NARROWEST = 1e-9  # a bracket whose step moves no parameter by more than this is not refined

Length: TypeAlias = Any  # a number, or a tensor without dimensions


class Point(NamedTuple):
    """A step along the direction, and what the function is there."""

    t: Length
    loss: float
    gradient: Tensor
    slope: Tensor  # along the direction


def strong_wolfe(
    evaluate: Callable[[Length], Point], start: Point, t: Length, reach: Tensor, max_ls: int
) -> tuple[Point, int]:
    """A step from `start` that satisfies the conditions, or the best of `max_ls` trials.

    `t` is the first trial and `reach` the largest element of the direction; returns the number of
    evaluations as well.
    """
    search = _Search(evaluate, start, max_ls)
    bracket = search.bracket(evaluate(t))
    best = bracket[0] if len(bracket) == 1 else search.zoom(bracket, reach)
    return best, search.trials + 1


def _lower(bracket: list[Point]) -> int:
    return 0 if bracket[0].loss <= bracket[1].loss else 1


class _Search:
    """The conditions at the start of a direction, and the trials made along it."""

    def __init__(self, evaluate: Callable[[Length], Point], start: Point, max_ls: int) -> None:
        self.evaluate = evaluate
        self.start = start
        self.max_ls = max_ls
        self.trials = 0  # after the first

    def too_high(self, point: Point) -> bool:
        slope = self.start.slope
        return bool(point.loss > (self.start.loss + DECREASE * point.t * slope))

    def flat(self, point: Point) -> bool:
        return bool(abs(point.slope) <= -FLATTENING * self.start.slope)

    def trial(self, t: Length) -> Point:
        self.trials += 1
        return self.evaluate(t)

    def bracket(self, point: Point) -> list[Point]:
        """Go further until a point fits, which is returned alone, or two have one between them."""
        previous = self.start
        while self.trials < self.max_ls:
            rose = self.trials > 1 and point.loss >= previous.loss
            if self.too_high(point) or rose:
                return [previous, point]
            if self.flat(point):
                return [point]
            if point.slope >= 0:
                return [previous, point]
            nearest = point.t + 0.01 * (point.t - previous.t)
            t = _cubic_minimum(previous, point, nearest, point.t * 10)
            previous, point = point, self.trial(t)
        return [self.start, point]

    def zoom(self, bracket: list[Point], reach: Tensor) -> Point:
        """The lower end of the bracket, which is narrowed until that fits."""
        near_end = False  # whether the last interpolation was close to an end already
        low = _lower(bracket)
        while self.trials < self.max_ls:
            if abs(bracket[1].t - bracket[0].t) * reach < NARROWEST:
                break
            t, near_end = _inner_step(bracket, near_end)
            point = self.trial(t)
            if self.too_high(point) or point.loss >= bracket[low].loss:
                bracket[1 - low] = point
                low = _lower(bracket)
                continue
            if self.flat(point):
                return point
            if point.slope * (bracket[1 - low].t - bracket[low].t) >= 0:
                bracket[1 - low] = bracket[low]
            bracket[low] = point
        return bracket[low]


def _inner_step(bracket: list[Point], near_end: bool) -> tuple[Length, bool]:
    """The next trial inside a bracket, kept from creeping along one of its ends."""
    first, second = bracket[0].t, bracket[1].t
    least, most = min(first, second), max(first, second)
    t = _cubic_minimum(bracket[0], bracket[1], least, most)
    margin = 0.1 * (most - least)
    close = bool(min(most - t, t - least) < margin)
    if close and (near_end or t >= most or t <= least):
        beside_most = abs(t - most) < abs(t - least)
        return (most - margin if beside_most else least + margin), False
    return t, close


def _cubic_minimum(a: Point, b: Point, least: Length, most: Length) -> Length:
    """The minimum, within bounds, of the cubic with the values and slopes of two points."""
    if a.t > b.t:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend**2 - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2.0
    root = square.sqrt()
    t = b.t - (b.t - a.t) * ((b.slope + root - bend) / (b.slope - a.slope + 2 * root))
    return min(max(t, least), most)

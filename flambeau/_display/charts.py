"""Charts as SVG text, coloured by the surrounding page: ``STYLE`` is the CSS they need."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

__all__ = ["STYLE", "Series", "columns_chart", "line_chart"]

STYLE = """
.chart { width: 100%; height: auto; display: block; font: 13px system-ui, sans-serif; }
.chart text { fill: var(--muted); }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .curve { fill: none; stroke: var(--own); stroke-width: 2.25; stroke-linejoin: round; }
.chart .faint { stroke-width: 1; opacity: .22; }
.chart .point { fill: transparent; }
.chart .point:hover, .chart .dot { fill: var(--own); }
.chart .a { --own: var(--a); } .chart .b { --own: var(--b); }
.chart .legend { fill: var(--text); font-weight: 600; }
.columns rect { fill: var(--muted); opacity: .45; }
.columns rect.chosen { fill: var(--chosen, var(--a)); opacity: 1; }
"""

_WIDTH, _HEIGHT = 520, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 14, 34, 38
_VISIBLE = 0.05  # the share above which a small column has a label


@dataclass
class Series:
    """A curve: its points, its name in the legend, and the colour ``a`` or ``b`` of the page."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str = "a"
    faint: bool = False  # in the background: thin, without a name or points


@dataclass
class _Scale:
    """Maps values to positions in the chart, linearly or logarithmically."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self) -> list[float]:
        return _log_ticks(self.low, self.high) if self.log else _ticks(self.low, self.high)


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    number: Callable[[float], str] = "{:g}".format,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    log: bool = False,
) -> str:
    """Draw curves over a common axis; `number` formats the values of the other axis."""
    series = [_drawable(one, log) for one in series]
    xs = [x for one in series for x, _ in one.points] or [0.0, 1.0]
    # Background curves may leave the chart; those in front must be inside.
    ys = [y for one in series if not one.faint for _, y in one.points] or [0.5, 1.0]
    across = _Scale(*(x_range or (min(xs), max(xs))), _LEFT, _WIDTH - _RIGHT)
    up = _Scale(*(y_range or (min(ys), max(ys))), _HEIGHT - _BOTTOM, _TOP, log)
    parts = [*_grid(across, up, x_label, number)]
    parts += [_curve(one, across, up, number) for one in sorted(series, key=lambda s: not s.faint)]
    parts += _legend([one for one in series if not one.faint], number)
    return _svg(title, "".join(parts), _WIDTH, _HEIGHT)


def columns_chart(
    title: str, probabilities: Sequence[float], chosen: int, labels: Iterable[str]
) -> str:
    """Draw a few small columns of heights between 0 and 1, labelled if visible, one marked."""
    step, tall, room = 10, 34, 14
    parts = []
    for index, (probability, label) in enumerate(zip(probabilities, labels, strict=True)):
        height = max(probability * tall, 0.8)
        mark = ' class="chosen"' if index == chosen else ""
        parts.append(
            f'<rect{mark} x="{index * step + 1}" y="{tall - height:.1f}" width="{step - 2}" '
            f'height="{height:.1f}" rx="1"/>'
        )
        if probability >= _VISIBLE:
            parts.append(
                f'<text x="{index * step + step / 2:g}" y="{tall + room - 2}" '
                f'text-anchor="middle" font-size="13">{escape(label)}</text>'
            )
    return _svg(title, "".join(parts), step * len(probabilities), tall + room, "chart columns")


def _svg(title: str, inside: str, width: float, height: float, kind: str = "chart") -> str:
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{inside}</svg>'
    )


def _grid(
    across: _Scale, up: _Scale, x_label: str, number: Callable[[float], str]
) -> Iterable[str]:
    for value in up.ticks():
        y = up(value)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number(value)}</text>'
    base = _HEIGHT - _BOTTOM
    for value in across.ticks():
        yield f'<text x="{across(value):.1f}" y="{base + 18}" text-anchor="middle">{value:g}</text>'
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 3}" text-anchor="middle">{escape(x_label)}</text>'


def _drawable(one: Series, log: bool) -> Series:
    """Drop points without a position: NaN, infinities, and nonpositive values on a log scale."""
    points = [(x, y) for x, y in one.points if math.isfinite(y) and (y > 0 or not log)]
    return replace(one, points=points)


def _curve(one: Series, across: _Scale, up: _Scale, number: Callable[[float], str]) -> str:
    if not one.points:
        return ""
    places = [(across(x), up(y)) for x, y in one.points]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    if one.faint:
        return f'<path class="curve faint {one.colour}" d="{path}"/>'
    points = "".join(
        f'<circle class="point {one.colour}" cx="{x:.1f}" cy="{y:.1f}" r="4">'
        f"<title>{escape(one.name)}, {at:g}: {number(value)}</title></circle>"
        for (x, y), (at, value) in zip(places, one.points, strict=True)
    )
    return f'<path class="curve {one.colour}" d="{path}"/>{points}'


def _legend(series: Sequence[Series], number: Callable[[float], str]) -> Iterable[str]:
    """Names with their last values, in a line above the chart."""
    x = float(_LEFT)
    for one in series:
        text = f"{one.name} {number(one.points[-1][1])}" if one.points else one.name
        yield f'<circle class="dot {one.colour}" cx="{x + 5}" cy="14" r="5"/>'
        yield f'<text class="legend" x="{x + 16}" y="18">{escape(text)}</text>'
        x += 34 + 7.4 * len(text)  # the width of a letter, near enough


def _ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between `low` and `high`."""
    if high <= low:
        return [low]
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 10) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between `low` and `high`; the powers alone if many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1, 3), (1,)):
        found = [f * 10.0**p for p in powers for f in factors if low <= f * 10.0**p <= high]
        if len(found) <= 7:
            break
    return found

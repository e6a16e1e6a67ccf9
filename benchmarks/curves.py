"""Speed against the number of threads: one small chart for each operator of `scaling`."""

import math
from html import escape
from typing import Any

COLUMNS, PANEL_WIDTH, PANEL_HEIGHT = 4, 195, 150
LEFT, TOP, RIGHT, BOTTOM = 30, 26, 12, 20  # around the lines of a chart
HEAD, FOOT = 46, 24  # above and below all charts
SLACK = 0.2  # how far, in powers of two, a curve may leave the lines of its chart
GREY, FLAME, BLUE = "#8a8178", "#e8590c", "#4c86b8"
STYLE = (
    f"text {{ font: 11px system-ui, sans-serif; fill: {GREY}; }} .name {{ font-weight: 600; }} "
    ".title { font-size: 13px; font-weight: 600; }"
)
SIDES = (("theirs_seconds", "PyTorch", BLUE), ("ours_seconds", "Flambeau", FLAME))


def svg(title: str, rows: list[dict[str, Any]]) -> str:
    """All charts with one legend. Both axes are logarithmic; speeds are multiples of PyTorch's on
    one thread.
    """
    rows = [row for row in rows if "error" not in row]
    lines_of_charts = math.ceil(len(rows) / COLUMNS)
    width, height = COLUMNS * PANEL_WIDTH, HEAD + lines_of_charts * PANEL_HEIGHT + FOOT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<text x="0" y="15" class="title">{escape(title)}</text>',
    ]
    for number, (_, name, colour) in enumerate(reversed(SIDES)):
        x = number * 90
        lines.append(f'<path d="M{x} 31h18" stroke="{colour}" stroke-width="2.5"/>')
        lines.append(f'<circle cx="{x + 9}" cy="31" r="3" fill="{colour}"/>')
        lines.append(f'<text x="{x + 24}" y="35">{name}</text>')
    for number, row in enumerate(rows):
        x, y = number % COLUMNS * PANEL_WIDTH, HEAD + number // COLUMNS * PANEL_HEIGHT
        lines += [f'<g transform="translate({x} {y})">', *_chart(row), "</g>"]
    lines.append(
        f'<text x="{width / 2:g}" y="{height - 6}" text-anchor="middle">across: threads; '
        "up: times the speed of PyTorch on one thread</text>"
    )
    return "\n".join([*lines, "</svg>", ""])


def _chart(row: dict[str, Any]) -> list[str]:
    threads, unit = row["threads"], row["theirs_seconds"][0]
    speeds = {key: [unit / seconds for seconds in row[key]] for key, _, _ in SIDES}
    every = [speed for values in speeds.values() for speed in values]
    low = math.floor(math.log2(min(every)) + SLACK)
    high = max(math.ceil(math.log2(max(every)) - SLACK), low + 1)
    across, up = PANEL_WIDTH - LEFT - RIGHT, PANEL_HEIGHT - TOP - BOTTOM
    last = max(math.log2(threads[-1]), 1)

    def x(count: float) -> float:
        return LEFT + across * math.log2(count) / last

    def y(speed: float) -> float:
        return TOP + up * (high - math.log2(speed)) / (high - low)

    lines = [f'<text x="6" y="16" class="name">{escape(row["name"])}</text>']
    step = math.ceil((high - low) / 6)
    for power in range(low, high + 1, step):
        at = y(2.0**power)
        lines.append(
            f'<path d="M{LEFT} {at:.1f}h{across}" stroke="{GREY}" stroke-opacity="'
            f'{0.7 if power == 0 else 0.2}"/>'
            f'<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{2.0**power:g}</text>'
        )
    lines += [
        f'<text x="{x(count):.1f}" y="{PANEL_HEIGHT - 5}" text-anchor="middle">{count}</text>'
        for count in threads
    ]
    for key, _, colour in SIDES:
        points = [(x(n), y(speed)) for n, speed in zip(threads, speeds[key], strict=True)]
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in points]
    return lines

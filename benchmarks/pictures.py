"""Charts of a result for the documentation: `python -m benchmarks.pictures [RESULT.json]`.

A chart is redrawn if the result has its groups; a partial run leaves the others alone.
"""

import json
import math
import sys
from html import escape
from pathlib import Path
from typing import Any

from benchmarks import curves
from benchmarks.case import GROUPS

FOLDER = Path(__file__).parents[1] / "docs" / "images"
LATEST = Path(__file__).parent / "results" / "latest.json"
SUMMARY = [
    "overhead",
    "ops-1e3",
    "ops-1e5",
    "ops-1e7",
    "gemm",
    "record",
    "chain",
    "nn-conv",
    "nn-rnn",
    "nn-attention",
    "optim-small",
    "optim-large",
    "data-workers",
    "checkpoints",
    "amp",
    "vision",
    "networks-train",
    "networks-infer",
]

WIDTH, LABEL, VALUE, STEP, BAR = 760, 330, 60, 26, 16
TOP, BOTTOM = 34, 26
GREY, FLAME, PALE = "#8a8178", "#e8590c", "#ffc078"
STYLE = f"text {{ font: 13px system-ui, sans-serif; fill: {GREY}; }} .value {{ font-weight: 600; }}"

Bars = list[tuple[str, float, float]]  # a name, the ratio, and the target


def charts(report: dict[str, Any]) -> dict[str, tuple[str, Bars]]:
    """The title and bars of each picture that the report has numbers for."""
    groups = report["groups"]
    made: dict[str, tuple[str, Bars]] = {}
    for file, group in (("speed-training", "train"), ("speed-networks", "networks-train")):
        rows = [row for row in groups.get(group, {}).get("rows", []) if "error" not in row]
        if rows:
            title = f"{GROUPS[group].title}: times PyTorch's speed"
            made[file] = title, [(row["name"], row["ratio"], row["bar"]) for row in rows]
    found = [name for name in SUMMARY if "mean" in groups.get(name, {})]
    if len(found) == len(SUMMARY):
        bars = [(GROUPS[name].title, groups[name]["mean"], groups[name]["bar"]) for name in found]
        made["speed-groups"] = "geometric means by group: times PyTorch's speed", bars
    return made


def svg(title: str, bars: Bars) -> str:
    """A chart with one bar per row, on a logarithmic scale; a tick on each row marks its target."""
    title = title[0].upper() + title[1:]
    height = TOP + STEP * len(bars) + BOTTOM
    least = min(0.85, *(ratio for _, ratio, _ in bars))
    most = 2 ** math.ceil(math.log2(max(ratio for _, ratio, _ in bars) * 1.01))
    span = WIDTH - LABEL - VALUE

    def x(ratio: float) -> float:
        return LABEL + span * math.log(ratio / least) / math.log(most / least)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<text x="0" y="16" class="value">{escape(title)}</text>',
    ]
    bottom = TOP + STEP * len(bars)
    mark = 2 ** math.ceil(math.log2(least))
    while mark <= most:
        lines.append(
            f'<path d="M{x(mark):.1f} {TOP - 4}V{bottom}" stroke="{GREY}" stroke-opacity="'
            f'{0.9 if mark == 1 else 0.25}"/>'
            f'<text x="{x(mark):.1f}" y="{bottom + 18}" text-anchor="middle">{mark:g}</text>'
        )
        mark *= 2
    for number, (name, ratio, bar) in enumerate(bars):
        y = TOP + STEP * number
        start, end = sorted((x(1), x(ratio)))
        fill = FLAME if ratio >= bar else PALE
        lines.append(
            f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{start:.1f}" y="{y + 2}" width="{max(end - start, 1):.1f}" height="{BAR}" '
            f'rx="2" fill="{fill}"/>'
            f'<path d="M{x(bar):.1f} {y}v{BAR + 4}" stroke="#5c3a1b" stroke-width="2"/>'
            f'<text x="{end + 6:.1f}" y="{y + 14}" class="value">{ratio:.3g}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def draw(report: dict[str, Any]) -> list[Path]:
    """Write the pictures of a report, and return where they are."""
    drawn = {name: svg(title, bars) for name, (title, bars) in charts(report).items()}
    rows = report["groups"].get("scaling", {}).get("rows", [])
    if any(len(row.get("threads", ())) > 1 for row in rows):
        machine = f"{report['threads']} threads of {report['machine']['cpu']}"
        drawn["speed-scaling"] = curves.svg(f"Speed on 1 to {machine}", rows)
    for name, text in drawn.items():
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
    return [FOLDER / f"{name}.svg" for name in drawn]


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else LATEST
    for path in draw(json.loads(source.read_text())):
        print(path)


if __name__ == "__main__":
    main()

"""What ``flambeau classify`` prints."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flambeau._display.terminal import Style, can_show, cells, clipped, columns, printable
from flambeau.vision._commands.classifier import Classifier

__all__ = ["Failure", "Finding", "as_json", "as_line", "as_text", "conclude", "introduce", "show"]

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR = 28  # columns at most
_WIDEST_NAME = 32


@dataclass
class Finding:
    """The predicted classes of an image with their probabilities, most likely first."""

    path: Path
    width: int
    height: int
    seconds: float
    top: list[tuple[int, float]]


@dataclass
class Failure:
    """An image that cannot be read, and the reason."""

    path: Path
    error: str


def show(text: str) -> None:
    """Print text that may hold characters the terminal cannot show, such as file names."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def introduce(classifier: Classifier) -> str:
    """Print one line about the network."""
    parameters = sum(parameter.numel() for parameter in classifier.model.parameters())
    return Style(sys.stdout)(
        f"{printable(classifier.name)}, {parameters / 1e6:.1f} million parameters, "
        f"{len(classifier.classes)} classes, weights {printable(str(classifier.weights))}",
        "dim",
    )


def as_text(found: Finding, classes: list[str]) -> str:
    """Print an image and its most likely classes, each with a bar."""
    style = Style(sys.stdout)
    names = [clipped(printable(classes[number]), _WIDEST_NAME) for number, _ in found.top]
    widest = max(map(cells, names), default=0)
    room = min(_BAR, max(columns(sys.stdout) - widest - 12, 0))
    lines = [f"{style(printable(str(found.path)), 'bold')}  {style(_facts(found), 'dim')}"]
    for place, (name, (_, share)) in enumerate(zip(names, found.top, strict=True)):
        padded = name + " " * (widest - cells(name))
        bar = style(_bar(share, room), "yellow")
        lines.append(f"  {style(padded, 'bold') if place == 0 else padded}  {bar} {share:6.1%}")
    return "\n".join(lines)


def as_line(found: Finding, classes: list[str], widest_path: int) -> str:
    """Print an image and its most likely class on one line, for many images."""
    style = Style(sys.stdout)
    path = printable(str(found.path))
    number, share = found.top[0]
    padding = " " * (widest_path - cells(path))
    return f"{path}{padding}  {share:6.1%}  {style(printable(classes[number]), 'bold')}"


def conclude(findings: list[Finding], seconds: float) -> str:
    """Print how long it took."""
    each = 1000 * seconds / max(len(findings), 1)
    text = f"{len(findings)} images in {seconds:.2f} s, {each:.0f} ms each"
    return Style(sys.stdout)(text, "dim")


def as_json(classifier: Classifier, results: list[Finding | Failure]) -> str:
    """Return all results as JSON, for programs."""
    content = {
        "model": classifier.name,
        "weights": classifier.weights,
        "images": [_entry(each, classifier.classes) for each in results],
    }
    text = json.dumps(content, indent=2, ensure_ascii=False)
    # Characters that a terminal cannot or should not show become escapes, which JSON has too.
    return "".join(
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text
    )


def _entry(result: Finding | Failure, classes: list[str]) -> dict[str, Any]:
    if isinstance(result, Failure):
        return {"file": str(result.path), "error": result.error}
    return {
        "file": str(result.path),
        "width": result.width,
        "height": result.height,
        "seconds": round(result.seconds, 4),
        "classes": [
            {"index": number, "name": classes[number], "probability": share}
            for number, share in result.top
        ],
    }


def _facts(found: Finding) -> str:
    by = "×" if can_show(sys.stdout, "×") else "x"
    return f"{found.width}{by}{found.height} pixels, {1000 * found.seconds:.0f} ms"


def _bar(share: float, room: int) -> str:
    """A bar whose length is its share of the space, padded with blanks."""
    if not can_show(sys.stdout, _EIGHTHS):
        return ("#" * round(share * room)).ljust(room)
    eighths = round(share * room * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()).ljust(room)

"""``flambeau models``: the networks that have published weights."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from typing import Any

from flambeau._display.terminal import Style, can_show
from flambeau.vision import models
from flambeau.vision._commands.mistake import Mistake
from flambeau.vision.models._recognition import classifiers

__all__ = ["add_arguments", "chosen", "run"]

_FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = """\
examples:
  flambeau models                        all networks for image classification
  flambeau models 'resnet*' 'vit*'       two families
  flambeau models --json                 for programs

Accuracies are the published ones of the default weights on ImageNet."""
    parser.add_argument(
        "patterns",
        nargs="*",
        metavar="PATTERN",
        help="names to show, such as 'resnet*'; default: all",
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    names = classifiers()
    if arguments.patterns:
        wanted = set(models.list_models(include=arguments.patterns))
        names = [name for name in names if name in wanted]
    if not names:
        print(
            f"flambeau models: no model matches {' or '.join(arguments.patterns)}", file=sys.stderr
        )
        return _FAILED
    rows = [_row(name) for name in names]
    print(json.dumps(rows, indent=2) if arguments.json else _table(rows))
    return 0


def chosen(name: str) -> str:
    """Return a model's name as it is spelled here; Mistake, with suggestions, if there is none."""
    known = classifiers()
    if name.lower() in known:
        return name.lower()
    plain = {_plain(each): each for each in known}
    if _plain(name) in plain:  # ResNet-18, vit-b-16
        return plain[_plain(name)]
    close = [plain[each] for each in difflib.get_close_matches(_plain(name), plain, 4)]
    meant = f"; did you mean {' or '.join(close)}?" if close else ""
    raise Mistake(f"there is no model {name!r}{meant} (`flambeau models` lists all)")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _row(name: str) -> dict[str, Any]:
    weights: Any = models.get_model_weights(name)["DEFAULT"]
    accuracy = weights.meta["_metrics"]["ImageNet-1K"]
    return {
        "model": name,
        "parameters": weights.meta["num_params"],
        "gflops": weights.meta["_ops"],
        "accuracy": accuracy["acc@1"],
        "megabytes": weights.meta["_file_size"],
        "url": weights.url,
        "file": weights.local_file(),
    }


def _table(rows: list[dict[str, Any]]) -> str:
    style = Style(sys.stdout)
    width = max(len(row["model"]) for row in rows) + 2
    here = "✓" if can_show(sys.stdout, "✓") else "yes"
    head = f"{'model':{width}}{'parameters':>12}{'GFLOP':>9}{'accuracy':>10}{'file':>10}  here"
    lines = [
        f"{row['model']:{width}}{row['parameters'] / 1e6:>10.1f} M{row['gflops']:>9.2f}"
        f"{row['accuracy']:>8.1f} %{row['megabytes']:>7.0f} MB"
        f"  {style(here, 'green') if row['file'] else ''}".rstrip()
        for row in rows
    ]
    return "\n".join([style(head, "dim"), *lines])

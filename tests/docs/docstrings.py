"""The docstrings of the package, and their examples.

An example is a session as `doctest` reads it. It starts with three names: ``torch`` is flambeau,
``nn`` is ``flambeau.nn`` and ``F`` is ``flambeau.nn.functional``. Anything else it imports. It runs
with the seed 0 in an empty folder.
"""

from __future__ import annotations

import ast
import csv
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import flambeau
from flambeau import nn
from flambeau._core.legacy import TensorType
from flambeau.compat._names import resolve
from flambeau.nn import functional

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "flambeau"
CENSUS = ROOT / "tests" / "data" / "census.tsv"
MISSING = Path(__file__).with_name("without_example.txt")

NAMES = {"torch": flambeau, "nn": nn, "F": functional}


class Docstring(NamedTuple):
    """A docstring, and where it stands."""

    name: str
    text: str
    line: int
    node: ast.AST | None = None  # the class or function, if it was found in a source file


def docstrings(path: Path) -> Iterator[Docstring]:
    """Every docstring of a source file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    stack: list[tuple[str, ast.AST]] = [("", tree)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node)
            if text is not None:
                yield Docstring(name, text, node.body[0].lineno, node)
        for child in ast.iter_child_nodes(node):
            is_named = isinstance(child, (ast.ClassDef, ast.FunctionDef))
            stack.append((f"{name}.{child.name}".lstrip(".") if is_named else name, child))


def files_with_examples() -> list[Path]:
    """The source files whose docstrings show how something is called."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]


def made_docstrings() -> Iterator[Docstring]:
    """Docstrings that stand in no source file as they are."""
    for value in vars(flambeau).values():
        if isinstance(value, TensorType):
            yield Docstring(value.__name__, inspect.cleandoc(value.__doc__ or ""), 0)


def most_used(count: int) -> list[tuple[str, Any]]:
    """The functions, classes and methods of the census with most uses, and what they are here."""
    with CENSUS.open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["kind"] in ("function", "class", "method")
        ]
    rows.sort(key=lambda row: -int(row["uses"]))
    return [(row["name"], resolve(row["name"])) for row in rows[:count]]


def is_python(value: Callable[..., Any]) -> bool:
    """Whether it is written in Python, with a docstring in a source file."""
    try:
        return inspect.getsourcefile(inspect.unwrap(value)) is not None
    except TypeError:
        return False


def without_example(count: int) -> list[str]:
    """Those of the most used that have no example."""
    return [name for name, value in most_used(count) if ">>> " not in (inspect.getdoc(value) or "")]


if __name__ == "__main__":
    MISSING.write_text("".join(f"{name}\n" for name in sorted(without_example(300))), "utf-8")

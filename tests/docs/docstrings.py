"""The docstrings of the package, and their examples.

An example is a session as `doctest` reads it. It starts with three names: ``torch`` is flambeau,
``nn`` is ``flambeau.nn`` and ``F`` is ``flambeau.nn.functional``. Anything else it imports. It runs
with the seed 0 in an empty folder.
"""

from __future__ import annotations

import ast
import csv
import enum
import inspect
import re
import types
from collections.abc import Iterator
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

NAMES = {"torch": flambeau, "nn": nn, "F": functional}
NATIVE_TYPES = [
    flambeau.Generator,
    flambeau.Size,
    flambeau.Tensor,
    flambeau.device,
    flambeau.dtype,
    flambeau.layout,
    flambeau.memory_format,
]


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
    """Docstrings that stand in no Python file as they are: of native types and functions too.

    Those of operators are made from opgen/help, whose examples tests/opgen runs.
    """
    operators = {entry["name"] for entry in flambeau.op_info()}
    for name, value in vars(flambeau).items():
        if isinstance(value, TensorType):
            yield Docstring(value.__name__, inspect.cleandoc(value.__doc__ or ""), 0)
        elif isinstance(value, types.BuiltinFunctionType) and name.rstrip("_") not in operators:
            yield Docstring(name, inspect.getdoc(value) or "", 0)
    for kind in NATIVE_TYPES:
        yield Docstring(kind.__name__, inspect.getdoc(kind) or "", 0)
    for name in dir(flambeau.Generator):
        yield Docstring(name, inspect.getdoc(getattr(flambeau.Generator, name)) or "", 0)


def most_used(share: float) -> list[tuple[str, Any]]:
    """The functions, classes and methods that make up this share of the census's uses."""
    with CENSUS.open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["kind"] in ("function", "class", "method")
        ]
    rows.sort(key=lambda row: -int(row["uses"]))
    left = share * sum(int(row["uses"]) for row in rows)
    found = []
    for row in rows:
        if left <= 0:
            break
        left -= int(row["uses"])
        found.append((row["name"], resolve(row["name"])))
    return found


def lacking(value: Any) -> list[str]:
    """What the help of a callable does not have."""
    text = inspect.getdoc(value) or ""
    if not isinstance(value, type) and not inspect.isroutine(value):
        text += "\n\n" + (inspect.getdoc(type(value).__call__) or "")
    found = [] if text.strip() else ["summary"]
    if ">>> " not in text:
        found.append("example")
    try:
        parameters = inspect.signature(value).parameters
    except ValueError:
        return [*found, "signature"]
    # What `self` and `input` are needs no words, and `*args` may be anything.
    plain = [
        name
        for name, each in parameters.items()
        if name not in ("self", "cls", "input")
        and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    # Calling an enumeration is Python's matter, whose signature has changed between its versions.
    is_enumeration = isinstance(value, enum.EnumMeta)
    if plain and not is_enumeration and not re.search(r"^Args:$", text, re.MULTILINE):
        found.append("arguments")
    return found


if __name__ == "__main__":
    for name, value in most_used(0.98):
        if missing := lacking(value):
            print(name, *missing, sep="\t")

"""Every parameter of a public function is read by it, or there is a reason why not."""

from __future__ import annotations

import ast
import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.compatibility.unread import UNREAD

PACKAGE = Path(__file__).parents[2] / "flambeau"
Function = ast.FunctionDef | ast.AsyncFunctionDef
# Their arguments are those that Python passes, or the overrides of a class.
PROTOCOLS = {
    *("__exit__", "__aexit__", "__get__", "__set_name__", "__deepcopy__", "__reduce_ex__"),
    *("__torch_function__", "__repr__", "__getattr__", "find_spec"),
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, ast.parse(file.read_text(encoding="utf-8"))


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Public functions and methods, not those inside of others."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            if not child.name.startswith("_"):
                yield from functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, Function):
            is_private = child.name.startswith("_") and not child.name.startswith("__")
            if not is_private and child.name not in PROTOCOLS:
                yield f"{prefix}{child.name}", child
        elif isinstance(child, (ast.If, ast.Try)):
            yield from functions(child, prefix)


def unread(function: Function) -> list[str]:
    """The parameters that the body of a function does not name."""
    body = [each for each in function.body if not _is_text(each)]
    if _always_raises(function, body) or _is_declaration(function, body):
        return []
    read = {
        node.id for each in function.body for node in ast.walk(each) if isinstance(node, ast.Name)
    }
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [each for each in (given.vararg, given.kwarg) if each]
    names = [each.arg for each in every]
    return [n for n in names if n not in read and n not in ("self", "cls") and n[0] != "_"]


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _always_raises(function: Function, body: list[ast.stmt]) -> bool:
    returns = function.returns
    refuses = isinstance(returns, ast.Name) and returns.id == "NoReturn"
    return refuses or (bool(body) and isinstance(body[-1], ast.Raise) and len(body) == 1)


def _is_declaration(function: Function, body: list[ast.stmt]) -> bool:
    """Whether only its signature counts: an overload, or what others define the body of."""
    marks = {getattr(each, "id", getattr(each, "attr", "")) for each in function.decorator_list}
    is_open = any(_is_text(each) and each.value.value is ... for each in function.body)  # type: ignore[attr-defined]
    return bool(marks & {"overload", "abstractmethod", "functional"}) or (is_open and not body)


def _overrides(module: str, name: str) -> bool:
    """Whether a method has its signature from a base class."""
    owner, _, method = name.rpartition(".")
    if not owner or method in ("__init__", "__new__", "__call__"):
        return False
    found: Any = importlib.import_module(module)
    for part in owner.split("."):
        found = getattr(found, part)
    return any(method in vars(base) for base in found.__mro__[1:])


def found() -> list[str]:
    return [
        f"{module}.{name}({parameter})"
        for module, tree in modules()
        for name, function in functions(tree)
        for parameter in unread(function)
        if not _overrides(module, name)
    ]


def test_every_parameter_is_read():
    reasons = Counter(each for names in UNREAD.values() for each in names)
    assert [name for name, count in reasons.items() if count > 1] == []
    names = found()
    missing = [name for name in names if name not in reasons]
    assert missing == [], (
        "act on these, refuse them, or mark them by flambeau._limits.accepted.accepted"
    )
    assert sorted(reasons.keys() - set(names)) == [], "they are read now: remove their reasons"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a, b): return a", ["b"]),
        ("def f(a, *args, b=1, **options): return a", ["b", "args", "options"]),
        ("def f(a, _b): return a", []),
        ('def f(a):\n    """Nothing."""', ["a"]),
        ("def f(a): ...", []),
        ("def f(a): raise ValueError", []),
        ("def f(a):\n    if a: raise ValueError", []),
        ("def f(a, b) -> NoReturn: g(a)", []),
        ("@overload\ndef f(a): return 1", []),
        ("def _f(a): return 1", None),
        ("class A:\n    def f(self, a): return 1", ["a"]),
        ("class _A:\n    def f(self, a): return 1", None),
        ("class A:\n    def __exit__(self, a): return 1", None),
    ],
)
def test_what_counts_as_unread(source: str, expected: list[str] | None):
    seen = [unread(function) for _, function in functions(ast.parse(source))]
    assert seen == ([] if expected is None else [expected])

"""The names of PyTorch's that a program uses, read from its text without running it."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from flambeau.compat._packages import PACKAGES

__all__ = ["Use", "source_files", "uses_in"]

_NOT_OF_THE_PROGRAM = {"site-packages", "node_modules", "__pycache__", "venv", "build", "dist"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Use(NamedTuple):
    """A name, with the place where a program uses it and, of a call, its keyword arguments."""

    name: str
    file: Path
    line: int
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed; values that are not literal: ...


def source_files(path: Path) -> list[Path]:
    """The programs and notebooks at a path; below it, if it is a folder."""
    if not path.is_dir():
        return [path]
    found = (file for kind in ("*.py", "*.ipynb") for file in path.rglob(kind))
    return sorted(file for file in found if not _is_foreign(file.relative_to(path)))


def _is_foreign(path: Path) -> bool:
    return any(part.startswith(".") or part in _NOT_OF_THE_PROGRAM for part in path.parts)


def uses_in(file: Path) -> Iterator[Use]:
    """Every use of a name of PyTorch's in a file; SyntaxError if it is not Python."""
    for first_line, text in _texts(file):
        reader = _Reader()
        reader.visit(_parsed(text, file))
        for name, line, options in reader.found:
            yield Use(name, file, first_line + line, options)


def _parsed(text: str, file: Path) -> ast.AST:
    try:
        return ast.parse(text, str(file))
    except MemoryError:  # which is how Python says that its parser's stack is full
        raise SyntaxError(f"{file} is nested too deeply") from None


def _texts(file: Path) -> Iterator[tuple[int, str]]:
    if file.exists() and not file.is_file():
        raise OSError(f"{file} is not a file that can be read as a whole")
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix != ".ipynb":
        yield 0, text
        return
    try:
        cells = json.loads(text)["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise SyntaxError(f"{file} is not a notebook: {error}") from None
    # One program, since later cells use what earlier ones import.
    yield 0, "\n".join(_plain_python(line) for cell in code for line in cell.splitlines())


def _plain_python(line: str) -> str:
    """A line of a cell; commands to the notebook or to a shell become nothing."""
    body = line.lstrip()
    return line[: len(line) - len(body)] + "pass" if body.startswith(("%", "!", "?")) else line


class _Reader(ast.NodeVisitor):
    """Follows what names stand for: imports, ``nn = torch.nn``, and what hides them."""

    def __init__(self) -> None:
        self.found: list[tuple[str, int, dict[str, Any]]] = []
        self._scopes: list[dict[str, str | None]] = [{}]

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if not _is_counted(alias.name):
                self._bind(alias.asname or alias.name.partition(".")[0], None)
                continue
            self._note(alias.name, node)
            if alias.asname:
                self._bind(alias.asname, alias.name)
            else:
                top = alias.name.partition(".")[0]
                self._bind(top, top)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        counted = not node.level and node.module is not None and _is_counted(node.module)
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            if counted:
                star = alias.name == "*"
                self._note(node.module or "" if star else name, node)
            self._bind(alias.asname or alias.name, name if counted else None)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._meaning(node)
        if name is None:
            self.generic_visit(node)
        else:
            self._note(name, node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._meaning(node.func)
        if name is None:
            self.generic_visit(node)
            return
        if isinstance(node.func, ast.Attribute) or node.keywords:
            self._note(name, node.func, _options(node))
        for each in (*node.args, *node.keywords):
            self.visit(each)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        meaning = self._meaning(node.value)
        for target in node.targets:
            self.visit(target)
            if isinstance(target, ast.Name):
                # `nn = torch.nn` names it once more; the result of a call is something else.
                self._bind(target.id, meaning)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name, None)
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        self._visit_inside(node.body, {})

    def _visit_function(self, node: _Function) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each]
        for each in (
            *arguments.defaults,
            *arguments.kw_defaults,
            *(arg.annotation for arg in every),
        ):
            if each is not None:
                self.visit(each)
        body: Iterable[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
        if not isinstance(node, ast.Lambda):
            self._bind(node.name, None)
            for decorator in node.decorator_list:
                self.visit(decorator)
            if node.returns is not None:
                self.visit(node.returns)
        self._visit_inside(body, dict.fromkeys(arg.arg for arg in every))

    def _visit_inside(self, body: Iterable[ast.AST], scope: dict[str, str | None]) -> None:
        self._scopes.append(scope)
        for statement in body:
            self.visit(statement)
        self._scopes.pop()

    def _note(self, name: str, node: Any, options: dict[str, Any] | None = None) -> None:
        self.found.append((name, node.lineno, options or {}))

    def _bind(self, name: str, meaning: str | None) -> None:
        self._scopes[-1][name] = meaning

    def _meaning(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self._meaning(node.value)
            return None if base is None else f"{base}.{node.attr}"
        if isinstance(node, ast.Name):
            scope = next((scope for scope in reversed(self._scopes) if node.id in scope), {})
            return scope.get(node.id)
        return None


def _options(call: ast.Call) -> dict[str, Any]:
    """The keyword arguments of a call; Ellipsis where a value is not written there."""
    return {
        each.arg: each.value.value if isinstance(each.value, ast.Constant) else ...
        for each in call.keywords
        if each.arg is not None
    }


def _is_counted(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES

"""Reference pages of the public modules, from the package as it is imported."""

import ast
import importlib
import inspect
import pkgutil
import re
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import flambeau
from tools.reference_docstrings import escape, markdown

ROOT = Path(flambeau.__file__).parents[1]

# Packages with so many names that each file of them has a page of its own.
SPLIT = ("flambeau.nn", "flambeau.nn.functional", "flambeau.vision.models", "flambeau.vision.ops")
# How pages are grouped in the navigation, by the beginning of a module's name.
GROUPS = {
    "Tensors": (
        "flambeau",
        "flambeau.linalg",
        "flambeau.fft",
        "flambeau.special",
        "flambeau.signal",
    ),
    "Networks": ("flambeau.nn",),
    "Training": ("flambeau.optim", "flambeau.amp", "flambeau.utils.data", "flambeau.datasets"),
    "Gradients": ("flambeau.autograd", "flambeau.func", "flambeau.utils.checkpoint"),
    "Images": ("flambeau.vision",),
    "Distributions": ("flambeau.distributions",),
    "Files": ("flambeau.serialization", "flambeau.hub", "flambeau.export", "flambeau.jit"),
    "Tools": ("flambeau.profiler", "flambeau.utils", "flambeau.compat", "flambeau.testing"),
    "Other modules": ("flambeau.",),
}
USUAL = ("forward", "extra_repr")  # methods that every layer has
LONG = 88  # characters of a signature on one line
LEFT_OUT = re.compile(r"\b(cli|__main__|_\w+)\b")


@dataclass
class Page:
    """The names that one page explains."""

    module: str
    title: str
    path: str  # from the folder of the documentation
    intro: str
    names: list[tuple[str, Any]] = field(default_factory=list)


def pages() -> list[Page]:
    """A page for each public module; a name is on the page with the shortest path to it."""
    modules = [flambeau, *_modules()]
    modules.sort(key=lambda module: module.__name__.count("."))
    seen: set[int] = set()
    made: list[Page] = []
    for module in modules:
        found = [(name, value) for name, value in _names(module) if id(value) not in seen]
        seen.update(id(value) for _, value in found)
        if found:
            made += _split(module, found) if module.__name__ in SPLIT else [_page(module, found)]
    return sorted(made, key=lambda page: page.module)


def _modules() -> Iterator[types.ModuleType]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of modules whose names are old
        for found in pkgutil.walk_packages(flambeau.__path__, "flambeau."):
            if not LEFT_OUT.search(found.name):
                yield importlib.import_module(found.name)


def _names(module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """What a module offers; without `__all__`, what is public and defined in the package."""
    listed = getattr(module, "__all__", None)
    for name in sorted(listed if listed is not None else dir(module)):
        value = getattr(module, name, None)
        if isinstance(value, types.ModuleType) or name.startswith("_"):
            continue
        if not (inspect.isclass(value) or callable(value)):
            continue
        if listed is not None or str(getattr(value, "__module__", "")).startswith("flambeau"):
            yield name, value


def _page(module: types.ModuleType, names: list[tuple[str, Any]]) -> Page:
    short = module.__name__.removeprefix("flambeau.")
    title = "torch" if short == "flambeau" else short
    path = f"reference/{title}.md"
    return Page(module.__name__, title, path, inspect.getdoc(module) or "", names)


def _split(module: types.ModuleType, names: list[tuple[str, Any]]) -> list[Page]:
    found: dict[str, Page] = {}
    for name, value in names:
        home = str(getattr(value, "__module__", module.__name__))
        native = home.startswith("flambeau._C") or not home.startswith(module.__name__)
        part = "native" if native else home.rpartition(".")[2].strip("_")
        if part not in found:
            page = _page(module, [])
            about = "" if native else inspect.getdoc(importlib.import_module(home)) or ""
            page.intro = about or f"Operators of `{page.title}`."
            page.path = f"{page.path.removesuffix('.md')}/{part}.md"
            page.title += f": {part}"
            found[part] = page
        found[part].names.append((name, value))
    return list(found.values())


def group_of(page: Page) -> str:
    """The heading under which the navigation lists a page."""
    best, length = "Other modules", 0
    for group, beginnings in GROUPS.items():
        for beginning in beginnings:
            fits = page.module == beginning or page.module.startswith(f"{beginning}.")
            if fits and beginning != "flambeau" and len(beginning) > length:
                best, length = group, len(beginning)
    return "Tensors" if page.module == "flambeau" else best


def short_name(page: Page, name: str) -> str:
    """The path of a name without the name of the package: `nn.Conv2d`."""
    return f"{page.module}.{name}".removeprefix("flambeau.")


def operator_page(page: Page, name: str, value: Any, operators: dict[str, str]) -> str | None:
    """The address of a name's operator page, if it is an operator, from `operators`."""
    is_native = not inspect.isclass(value) and not inspect.isfunction(value)
    return operators.get(short_name(page, name)) if is_native else None


def text(page: Page, operators: dict[str, str]) -> str:
    """The Markdown of a page."""
    up = "../" * page.path.count("/")
    # The most searched names come first in search results.
    boost = 4 if page.module == "flambeau.nn" else 1 if page.module.count(".") > 1 else 3
    lines = ["---", "search:", f"  boost: {boost}", "---", ""]
    lines += [f"# {page.title}", "", markdown(page.intro), ""]
    addresses = [operator_page(page, name, value, operators) for name, value in page.names]
    links = [
        f"[`{name}`]({up}{address})"
        for (name, _), address in zip(page.names, addresses, strict=True)
        if address
    ]
    if links:
        lines += ["Operators, with a page for each family: " + ", ".join(links) + ".", ""]
    for (name, value), address in zip(page.names, addresses, strict=True):
        if not address:
            lines += [f"## {name} {{#{short_name(page, name)}}}", ""]
            lines += _described(short_name(page, name), value, up)
    return "\n".join(lines)


def _described(path: str, value: Any, up: str) -> list[str]:
    kind = "class " if inspect.isclass(value) else ""
    lines = ["```python", f"{kind}torch.{path}{signature(value)}", "```", ""]
    own = inspect.isclass(value) and "__doc__" not in vars(value)
    doc = "" if own else inspect.getdoc(value) or ""
    lines += [markdown(doc), ""]
    if inspect.isclass(value):
        lines += _methods(value)
    place = source(value)
    if place:
        lines += [f"[source]({up}source/{place[0]}.html#L{place[1]}){{.source}}", ""]
    return lines


def _methods(kind: type) -> list[str]:
    rows = []
    for name, member in sorted(vars(kind).items()):
        plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        is_property = isinstance(plain, property)
        if name.startswith("_") or name in USUAL or not (callable(plain) or is_property):
            continue
        doc = (inspect.getdoc(plain) or "").split("\n\n")[0].replace("\n", " ")
        shown = name if is_property else f"{name}{signature(plain, short=True)}"
        rows.append(f"| `{shown.replace('|', chr(92) + '|')}` | {escape(doc)} |")
    return ["| method | |", "|---|---|", *rows, ""] if rows else []


def signature(value: Any, short: bool = False) -> str:
    """The parameters of a callable, without `self`; short: without types."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    shown: list[str] = []
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(word.startswith("*") for word in shown):
            shown.append("*")
        if each.name != "self":
            shown.append(_parameter(each, short))
    returns = ""
    if not short and not inspect.isclass(value) and found.return_annotation is not found.empty:
        returns = f" -> {_type(found.return_annotation)}"
    line = f"({', '.join(shown)}){returns}"
    if short or len(line) <= LONG:
        return line
    inside = ",\n    ".join(shown)
    return f"(\n    {inside},\n){returns}"


def _parameter(each: inspect.Parameter, short: bool) -> str:
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    made = f"{stars}{each.name}"
    typed = not short and each.annotation is not each.empty
    if typed:
        made += f": {_type(each.annotation)}"
    if each.default is not each.empty:
        made += f" = {_default(each.default)}" if typed else f"={_default(each.default)}"
    return made


def _type(annotation: Any) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.replace("flambeau.", "torch.")


def _default(value: Any) -> str:
    """A default as it is written; by its name if its text has an address or a path."""
    if isinstance(value, (int, float, str, type(None))):
        return repr(value)
    name = getattr(value, "__name__", None)
    if name:
        return str(name)
    return "..." if " at 0x" in repr(value) or "/" in repr(value) else repr(value)


def source(value: Any) -> tuple[str, int] | None:
    """The file and line that define a class or function of the package."""
    module = str(getattr(value, "__module__", ""))
    name = str(getattr(value, "__qualname__", ""))
    if not module.startswith("flambeau"):
        return None
    for path in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
        if (ROOT / path).is_file():
            line = _definitions(path).get(name)
            return (path, line) if line else None
    return None


@cache
def _definitions(path: str) -> dict[str, int]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node.lineno for node in ast.walk(tree) if isinstance(node, kinds)}

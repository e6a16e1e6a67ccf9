"""Docstrings: examples run and arguments are the real ones; signatures are real, too."""

from __future__ import annotations

import ast
import doctest
import enum
import importlib
import inspect
import pkgutil
import re
import types
from pathlib import Path
from typing import Any

import pytest

import flambeau

from .docstrings import (
    NAMES,
    PACKAGE,
    Docstring,
    docstrings,
    files_with_examples,
    lacking,
    made_docstrings,
    most_used,
)

FILES = files_with_examples()
IDS = [str(path.relative_to(PACKAGE)) for path in FILES]


def run(docs: Docstring, where: str) -> None:
    """Run the examples of a docstring."""
    session = doctest.DocTestParser().get_doctest(
        docs.text, {"__name__": "__main__", **NAMES}, docs.name, where, docs.line
    )
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    flambeau.manual_seed(0)
    runner.run(session, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_examples_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for docs in docstrings(path):
        if ">>> " in docs.text:
            run(docs, str(path))


def test_made_examples_run() -> None:
    made = list(made_docstrings())
    assert made
    for docs in made:
        run(docs, docs.name)


# --- the section on arguments

# "others" and "stride and the following" stand for all that are not named.
_SUMMED_UP = re.compile(r"^others$|and the following$")


def documented(text: str) -> list[str]:
    """The names in the section on arguments."""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)*)", text, re.MULTILINE)
    entries = re.findall(r"^    (\S[^:\n]*):", section[1], re.MULTILINE) if section else []
    return [name.lstrip("*") for entry in entries for name in entry.split(", ")]


def parameters(node: ast.AST | None) -> ast.arguments | None:
    """The parameters of a function, or of a class's constructor."""
    if isinstance(node, ast.ClassDef):
        makers = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
        return parameters(makers.get("__init__") or makers.get("__new__"))
    return node.args if isinstance(node, ast.FunctionDef) else None


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_arguments_are_the_real_ones(path: Path) -> None:
    for docs in docstrings(path):
        given = parameters(docs.node)
        told = documented(docs.text)
        if given is None or not told:
            continue
        plain = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        real = {each.arg for each in plain if each.arg not in ("self", "cls")}
        starred = {each.arg for each in (given.vararg, given.kwarg) if each is not None}
        is_short = any(_SUMMED_UP.search(name) for name in told)
        named = {re.sub(r" and the following$", "", name) for name in told} - {"others"}
        unknown = named - real - starred
        untold = {name for name in real if not name.startswith("_")} - named
        # What ``**kwargs`` stands for may be told by name.
        assert given.kwarg or not unknown, f"{path.name}: {docs.name} has no {sorted(unknown)}"
        assert is_short or not untold, f"{path.name}: {docs.name} leaves out {sorted(untold)}"


# --- the section on related names

# Where the first word of a name may be found: `Module.to` is of flambeau.nn, `prune.remove` of
# flambeau.nn.utils.
BASES = [
    "flambeau",
    "flambeau.nn",
    "flambeau.nn.utils",
    "flambeau.optim",
    "flambeau.optim.lr_scheduler",
    "flambeau.utils.data",
    "flambeau.distributions",
    "flambeau.vision",
]


def exists(name: str) -> bool:
    """Whether a name in a docstring means something."""
    name = name.removeprefix("torch.")
    return any(_resolve(f"{base}.{name}") for base in BASES)


def _resolve(path: str) -> bool:
    try:
        pkgutil.resolve_name(path)
    except (AttributeError, ImportError):
        return False
    return True


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_related_names_exist(path: Path) -> None:
    for docs in docstrings(path):
        section = re.search(r"^See also:\n((?:    .*\n?)*)", docs.text, re.MULTILINE)
        for name in re.findall(r"`([\w.]+)`", section[1]) if section else ():
            if name not in documented(docs.text):
                assert exists(name), f"{path.name}: {docs.name} refers to {name}"


# --- how much is documented


# What stays without a part of its help, and why.
INCOMPLETE = {
    "torch.dtype": "signature: types are not made but named",
    "torch.multiprocessing.get_context": "summary, example, arguments: a function of Python's",
}


def is_refusal(value: Any) -> bool:
    """Whether it is there to say that something is missing."""
    try:
        return inspect.signature(value).return_annotation == "NoReturn"
    except ValueError:
        return False


def test_most_used_names_are_documented() -> None:
    """`python -m tests.docs.docstrings` prints what is missing."""
    found = {name: lacking(value) for name, value in most_used(0.98) if not is_refusal(value)}
    assert len(found) > 500
    debts = {name: missing for name, missing in found.items() if missing}
    assert {name: set(missing) for name, missing in debts.items()} == {
        name: set(why.partition(":")[0].split(", ")) for name, why in INCOMPLETE.items()
    }


# --- signatures

PUBLIC = [
    "flambeau",
    "flambeau.amp",
    "flambeau.ao.nn.intrinsic",
    "flambeau.autograd",
    "flambeau.autograd.forward_ad",
    "flambeau.autograd.functional",
    "flambeau.cuda",
    "flambeau.distributed",
    "flambeau.distributions",
    "flambeau.nn",
    "flambeau.nn.functional",
    "flambeau.nn.init",
    "flambeau.nn.utils",
    "flambeau.nn.utils.prune",
    "flambeau.nn.utils.rnn",
    "flambeau.optim",
    "flambeau.optim.adamw",
    "flambeau.optim.lr_scheduler",
    "flambeau.signal.windows",
    "flambeau.utils.data",
    "flambeau.vision.datasets",
    "flambeau.vision.models",
    "flambeau.vision.transforms",
    "flambeau.vision.transforms.v2",
]
# What really takes any arguments.
VARIADIC = {"Container", "Function", "Identity", "Module", "Sequential", "StackDataset"}
VARIADIC |= {"PruningContainer", "ScriptModule", "TensorDataset"}


def public_values(module: str) -> dict[str, Any]:
    """The functions and classes of a module that are written in Python."""
    members = vars(importlib.import_module(module)).items()
    return {
        name: value
        for name, value in members
        if not name.startswith("_")
        and isinstance(value, (type, types.FunctionType))
        and value.__module__.startswith("flambeau.")
        and type(value).__name__ != "nb_type"
        # Python 3.13 shows the constructor of an enumeration as (*values).
        and not (isinstance(value, type) and issubclass(value, (BaseException, enum.Enum)))
    }


@pytest.mark.parametrize("module", PUBLIC)
def test_signatures_are_real(module: str) -> None:
    for name, value in public_values(module).items():
        signature = inspect.signature(value)
        if signature.return_annotation == "NoReturn":  # names that only say that they are missing
            continue
        kinds = {each.kind for each in signature.parameters.values()}
        is_bare = kinds and kinds <= {
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        }
        assert not is_bare or name in VARIADIC, f"{module}.{name}{signature}"


def test_native_signatures_are_real() -> None:
    functions = [
        each for each in vars(flambeau).values() if isinstance(each, types.BuiltinFunctionType)
    ]
    assert len(functions) > 500
    generator = flambeau.Generator
    methods = [generator.manual_seed, generator.seed, generator.get_state, generator.set_state]
    nodes = [flambeau.autograd.Function.apply, flambeau.autograd.graph.Node.register_hook]
    made = [flambeau.device, generator, flambeau.Size, flambeau.Tensor]
    for value in (*functions, *methods, *nodes, *made):
        inspect.signature(value)  # raises ValueError where there is none
    assert list(inspect.signature(flambeau.device).parameters) == ["type", "index"]

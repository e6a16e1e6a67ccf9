"""Python's unpickler with PyTorch's names: for files that are trusted to run code."""

from __future__ import annotations

import contextlib
import importlib
import operator
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau._display.terminal import printable
from flambeau.serialization._names import BY_NAME

__all__: list[str] = []

_MODULES = {"torch._C._nn": "flambeau.nn.functional"}  # where the names differ


def find_here(module: str, name: str) -> Any:
    """Return the meaning of PyTorch's name in this package; AttributeError if there is none."""
    full = f"{module}.{name}"
    if full in BY_NAME:
        return BY_NAME[full]
    if full == "torch._C._VariableFunctionsClass":
        return fb  # whose attributes the native functions of PyTorch are
    # A layer may stand in another file of this package: all of them are names of `nn` too.
    nearby = ["flambeau.nn"] if module.startswith("torch.nn.") else []
    for here in (_MODULES.get(module, "flambeau" + module.removeprefix("torch")), *nearby):
        with contextlib.suppress(ImportError, AttributeError):
            return operator.attrgetter(name)(importlib.import_module(here))
    raise AttributeError(
        f"the file names {printable(full)}, which Flambeau does not have; in PyTorch, save the "
        "state_dict() of the module instead of the module"
    )


def make_unpickler(
    pickle_module: Any,
    file: Any,
    persistent_load: Callable[[Any], Any],
    options: dict[str, Any],
) -> Any:
    """An unpickler of ``pickle_module`` for ``file``."""

    class Unpickler(pickle_module.Unpickler):  # type: ignore[misc]
        def find_class(self, module: str, name: str) -> Any:
            if module == "torch" or module.startswith("torch."):
                return find_here(module, name)
            return super().find_class(module, name)

        def persistent_load(self, pid: Any) -> Any:
            return persistent_load(pid)

    return Unpickler(file, **options)

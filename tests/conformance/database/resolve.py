"""Finding what stands for a function of torch in Flambeau."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import torch

import flambeau


class Missing(Exception):
    """Flambeau has nothing of that name."""


def wrapper_set_seed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What torch's databases put around what is random, with Flambeau's generator."""
    flambeau.manual_seed(42)
    return function(*args, **kwargs)


# What the short functions in the databases say, and what it is to mean here.
_NAMES = {
    "torch": flambeau,
    "nn": flambeau.nn,
    "F": flambeau.nn.functional,
    "wrapper_set_seed": wrapper_set_seed,
}


def rebound(function: types.FunctionType) -> types.FunctionType:
    """A function of torch's databases that says `torch` and means Flambeau."""
    from tests.conformance.database.translate import translated  # which needs this file itself

    names = {**function.__globals__, **_NAMES}
    closure = tuple(
        types.CellType(translated(cell.cell_contents)) for cell in function.__closure__ or ()
    )
    made = types.FunctionType(
        function.__code__, names, function.__name__, translated(function.__defaults__), closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def attribute(dotted: str) -> Any:
    """The object that `flambeau.a.b` names."""
    try:
        return functools.reduce(getattr, dotted.split("."), flambeau)
    except AttributeError as error:
        raise Missing(dotted) from error


def counterpart(theirs: Any) -> Any:
    """The class or function of Flambeau with the same qualified name."""
    if isinstance(theirs, types.FunctionType) and _is_of_the_database(theirs):
        return rebound(theirs)
    module = theirs.__module__.removeprefix("torch").removeprefix(".")
    module = {"_C._nn": "nn.functional", "_VariableFunctions": ""}.get(module, module)
    return attribute(f"{module}.{theirs.__qualname__}" if module else theirs.__qualname__)


def operator(info: Any) -> Callable[..., Any]:
    """The function that an OpInfo is about."""
    if isinstance(info.op, types.FunctionType) and _is_of_the_database(info.op):
        return rebound(info.op)
    name = info.name.removeprefix("torch.")
    places = [name]
    if not name.startswith("ops."):
        places += [f"Tensor.{name}", f"ops.aten.{name}", info.aten_name]
    return next(filter(None, map(_found, places)), None) or attribute(name)  # type: ignore[no-any-return]


def _found(dotted: str) -> Any:
    """What is called so, unless it is a dtype: `cfloat` is a method too."""
    try:
        found = attribute(dotted)
    except Missing:
        return None
    return found if callable(found) else None


def _is_of_the_database(function: types.FunctionType) -> bool:
    return function.__module__.startswith("torch.testing._internal")


def form(info: Any, theirs: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """The method or in-place form of an OpInfo, where torch has one."""
    if theirs is None:
        return None
    if isinstance(theirs, types.FunctionType) and _is_of_the_database(theirs):
        return rebound(theirs)
    if isinstance(theirs, functools.partial):  # with inplace=True
        return functools.partial(counterpart(theirs.func), **theirs.keywords)
    name = getattr(theirs, "__name__", "")
    if not hasattr(torch.Tensor, name):
        raise Missing(f"{info.name}: form {theirs!r}")
    return attribute(f"Tensor.{name}")  # type: ignore[no-any-return]

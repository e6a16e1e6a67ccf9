"""Marks that TorchScript reads off a program. Python runs the program as it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

__all__ = ["Attribute", "Final"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)


class Attribute(NamedTuple):
    """A value with the type that a script gives it."""

    value: Any
    type: Any


def is_scripting() -> bool:
    """Whether the caller runs as TorchScript: it always runs as Python."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``, which a script takes for one of ``the_type``."""
    return the_value


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Leave a function to Python; with and without arguments."""
    if callable(drop):
        return _marked(drop, "ignore")
    if not isinstance(drop, bool):
        raise RuntimeError(f"ignore: expected a function or a bool, got {type(drop).__name__}")
    return lambda fn: _marked(fn, "unused" if drop else "ignore")


def unused(fn: Any) -> Any:
    """Mark a method that a script does not call."""
    if isinstance(fn, property):
        return property(unused(fn.fget), fn.fset and unused(fn.fset), fn.fdel)
    return _marked(fn, "unused")


def export(fn: _Function) -> _Function:
    """Mark a method that a script keeps beside ``forward``."""
    return _marked(fn, "export")


def script_method(fn: _Function) -> _Function:
    """Mark a method of a ``ScriptModule`` as one that is compiled."""
    return _marked(fn, "export")


def interface(obj: _Class) -> _Class:
    """Mark a class as a list of methods that modules have."""
    return obj


def _drop(fn: _Function) -> _Function:
    return _marked(fn, "unused")


def _overload(fn: _Function) -> _Function:
    return fn


def _overload_method(fn: _Function) -> _Function:
    return fn


def _unwrap_optional(x: Any) -> Any:
    if x is None:
        raise AssertionError("_unwrap_optional: the value is None")
    return x


def _marked(fn: _Function, mark: str) -> _Function:
    fn._torchscript_modifier = mark  # type: ignore[attr-defined]
    return fn

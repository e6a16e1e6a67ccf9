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
    """Return whether the caller runs as TorchScript. It always runs as Python here.

    Example:
        >>> torch.jit.is_scripting()
        False
    """
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return a value; a script takes it for one of a type.

    Args:
        the_type: The type.
        the_value: The value.

    Example:
        >>> torch.jit.annotate(list[int], [])
        []
    """
    return the_value


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a function that a script leaves to Python; with and without arguments.

    Args:
        drop: Function, or whether a call of it is an error in a saved script. Default: False.
        **kwargs: PyTorch's old options.

    Example:
        >>> @torch.jit.ignore
        ... def log(x):
        ...     print(x)
        >>> log("anything that Python can do")
        anything that Python can do
    """
    if callable(drop):
        return _marked(drop, "ignore")
    if not isinstance(drop, bool):
        raise RuntimeError(f"ignore: expected a function or a bool, got {type(drop).__name__}")
    return lambda fn: _marked(fn, "unused" if drop else "ignore")


def unused(fn: Any) -> Any:
    """Mark a method that a script does not call.

    Args:
        fn: The method.

    Example:
        >>> class Model(nn.Module):
        ...     @torch.jit.unused
        ...     def debug(self):
        ...         return "only in Python"
        >>> Model().debug()
        'only in Python'
    """
    if isinstance(fn, property):
        return property(unused(fn.fget), fn.fset and unused(fn.fset), fn.fdel)
    return _marked(fn, "unused")


def export(fn: _Function) -> _Function:
    """Mark a method that a script keeps beside ``forward``.

    Args:
        fn: The method.

    Returns:
        The method.

    Example:
        >>> class Scale(nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        ...
        ...     @torch.jit.export
        ...     def undo(self, x):
        ...         return x / 2
        >>> torch.jit.script(Scale()).undo(torch.ones(1))
        tensor([0.5000])

    See also:
        `jit.script`, `jit.ignore`.
    """
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

"""The default `__torch_function__`, and Python functions that honour it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from flambeau import _C
from flambeau._C import Tensor

# Python functions that dispatch: native ones all do.
OVERRIDABLE: set[Callable[..., Any]] = set()

Function = TypeVar("Function", bound=Callable[..., Any])


def torch_function(
    cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """Call ``func`` without dispatch to subclasses; tensors that it returns get this class."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with _C.DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in nowrap_functions() else as_class(result, cls)


@functools.cache
def nowrap_functions() -> frozenset[Any]:
    """Attributes whose tensors keep the class that they were given."""
    attributes: Any = (Tensor._base, Tensor.grad)
    return frozenset(attribute.__get__ for attribute in attributes)


def as_class(result: Any, cls: type) -> Any:
    """Convert the tensors in a result to a class."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(as_class(item, cls) for item in result)
    return result


def overridable(function: Function) -> Function:
    """Let arguments with ``__torch_function__`` and active modes answer for a Python function."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        relevant = (*args, *kwargs.values()) if kwargs else args
        if _C._has_torch_function(relevant):
            return _C._handle_torch_function(public, relevant, args, kwargs)
        return function(*args, **kwargs)

    OVERRIDABLE.add(public)
    return public  # type: ignore[return-value]


@overridable
def _assert(condition: Any, message: str) -> None:
    """Raise an AssertionError unless ``condition`` holds; a traced program keeps the test."""
    if not condition:
        raise AssertionError(message)

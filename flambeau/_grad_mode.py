"""Whether operators are recorded: `no_grad` and others, as context managers and as decorators."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flambeau import _C

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_GENERATOR = 0x20  # inspect.CO_GENERATOR; the inspect module is slow to import


class no_grad(_C._NoGrad):
    """Operators are not recorded, and their results do not require gradients."""

    __slots__ = ()

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, no_grad)


class enable_grad(_C._EnableGrad):
    """Operators are recorded, also inside `no_grad`."""

    __slots__ = ()

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, enable_grad)


class set_grad_enabled(_C._SetGrad):
    """Switches recording on or off: from the call on, or for a block or a function."""

    __slots__ = ()

    def __call__(self, function: _Function) -> _Function:
        self._go_back()
        return _decorated(function, enable_grad if self.mode else no_grad)


class inference_mode(_C._Scope):
    """Like `no_grad`; what is made inside can never be recorded and keeps no count of versions."""

    __slots__ = ("_value", "mode")

    _begin = _end = staticmethod(_C._exchange_inference)

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        self.mode: bool = mode
        self._value: tuple[bool, bool] = (bool(mode), not mode)

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, functools.partial(inference_mode, self.mode))


class set_multithreading_enabled:
    """Kept for programs that set it: backward always runs in the thread that calls it."""

    __slots__ = ("mode",)

    def __init__(self, mode: bool) -> None:
        self.mode: bool = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, function: _Function) -> _Function:
        return function


def _decorated(function: _Function, block: Callable[[], AbstractContextManager[None]]) -> _Function:
    """`function` run in such a block. A class stands for its constructor."""
    if isinstance(function, type):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. Decorate "
            "the `__init__` method instead, which is all that is decorated here.",
            FutureWarning,
            stacklevel=3,
        )
        function.__init__ = _decorated(function.__init__, block)  # type: ignore[misc]
        return function

    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & _GENERATOR:

        def run(call: Callable[..., Any], *args: Any) -> Any:
            with block():
                return call(*args)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return _resumed_by(run, function(*args, **kwargs))
    else:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with block():
                return function(*args, **kwargs)

    return cast(_Function, wrapper)


def _resumed_by(
    run: Callable[..., Any], generator: Generator[Any, Any, Any]
) -> Generator[Any, Any, Any]:
    """`generator`, whose own code alone sees the mode: the caller's stretches in between do not."""
    try:
        response = run(generator.send, None)
        while True:
            try:
                request = yield response
            except GeneratorExit:  # noqa: PERF203
                run(generator.close)
                raise
            except BaseException as error:
                response = run(generator.throw, error)
            else:
                response = run(generator.send, request)
    except StopIteration as stop:
        return stop.value

"""Whether operators are recorded: `no_grad` and its kin, as context managers and as decorators."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar, cast

from flambeau import _C

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])
# Sets a mode and returns what it was, in a form that it takes again.
_Setter = Callable[[Any], Any]

_GENERATOR = 0x20  # inspect.CO_GENERATOR; the inspect module is slow to import


class _Switch:
    """Gives a mode of the thread another value while a block or a function runs.

    One object may be entered again before it was left, so the values to go back to are a stack.
    """

    __slots__ = ("_previous", "mode")

    @staticmethod
    def _set(mode: Any) -> Any:
        raise NotImplementedError

    def __init__(self, mode: bool) -> None:
        self.mode: bool = mode
        self._previous: list[Any] = []

    def __enter__(self) -> None:
        self._previous.append(self._set(self.mode))

    def __exit__(self, *_: object) -> None:
        self._set(self._previous.pop())

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, self._set, self.mode)


class no_grad(_C._NoGrad):
    """Operators are not recorded, and their results do not require gradients."""

    __slots__ = ()

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, _C._set_grad_enabled, False)


class enable_grad(_C._EnableGrad):
    """Operators are recorded, also inside `no_grad`."""

    __slots__ = ()

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, _C._set_grad_enabled, True)


class set_grad_enabled(_Switch):
    """Switches recording on or off: from the call on, or for a block or a function."""

    __slots__ = ()

    @staticmethod
    def _set(mode: bool) -> bool:
        return _C._set_grad_enabled(mode)

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        super().__enter__()

    def __exit__(self, *_: object) -> None:
        inner = self._previous.pop()
        # The outermost block goes back to what was before the call, which had switched already.
        is_outermost = len(self._previous) == 1
        self._set(self._previous[0] if is_outermost else inner)

    def __call__(self, function: _Function) -> _Function:
        self._set(self._previous[0])
        return super().__call__(function)


class inference_mode(_Switch):
    """Like `no_grad`; what is made inside can never be recorded and keeps no count of versions."""

    __slots__ = ()

    @staticmethod
    def _set(mode: bool | tuple[bool, bool]) -> tuple[bool, bool]:
        is_inference, records = mode if isinstance(mode, tuple) else (mode, not mode)
        return _C._set_inference_mode(is_inference), _C._set_grad_enabled(records)

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        return cls()(mode) if callable(mode) else object.__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(mode)


class set_multithreading_enabled(_Switch):
    """Kept for programs that set it: backward always runs in the thread that calls it."""

    __slots__ = ()

    @staticmethod
    def _set(mode: bool) -> bool:
        return mode


def _decorated(function: _Function, set_mode: _Setter, mode: bool) -> _Function:
    """`function` run with the mode set. A class stands for its constructor."""
    if isinstance(function, type):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. Decorate "
            "the `__init__` method instead, which is all that is decorated here.",
            FutureWarning,
            stacklevel=3,
        )
        function.__init__ = _decorated(function.__init__, set_mode, mode)  # type: ignore[misc]
        return function

    def run(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        previous = set_mode(mode)
        try:
            return call(*args, **kwargs)
        finally:
            set_mode(previous)

    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & _GENERATOR:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return _resumed_by(run, function(*args, **kwargs))
    else:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return run(function, *args, **kwargs)

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

"""Whether operators are recorded: `no_grad` and others, as context managers and as decorators."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flambeau import _C
from flambeau._core.native_names import Signature

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


def _one_mode(mode: bool) -> None: ...


class no_grad(_C._NoGrad):
    """Switch recording for gradients off, for a block or a function.

    Results of operators inside do not require gradients, and memory for the backward pass is
    saved. Tensors that are made inside can be trained later: see `inference_mode`.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
        >>> @torch.no_grad()
        ... def double(x):
        ...     return x * 2
        >>> double(x).requires_grad
        False

    See also:
        `torch.inference_mode`, `torch.enable_grad`, `Module.requires_grad_`.
    """

    __slots__ = ()
    __signature__: Signature = Signature()

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, no_grad)


class enable_grad(_C._EnableGrad):
    """Switch recording for gradients on, for a block or a function, even inside `no_grad`.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.no_grad():
        ...     with torch.enable_grad():
        ...         y = x * 2
        >>> y.requires_grad
        True

    See also:
        `torch.no_grad`, `torch.set_grad_enabled`.
    """

    __slots__ = ()
    __signature__: Signature = Signature()

    def __call__(self, function: _Function) -> _Function:
        return _decorated(function, enable_grad)


class set_grad_enabled(_C._SetGrad):
    """Switch recording for gradients on or off: from the call on, or for a block or a function.

    Args:
        mode: Whether operators are recorded.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> is_training = False
        >>> with torch.set_grad_enabled(is_training):
        ...     y = x * 2
        >>> y.requires_grad
        False

    See also:
        `torch.no_grad`, `torch.enable_grad`, `torch.is_grad_enabled`.
    """

    __slots__ = ()
    __signature__: Signature = Signature(_one_mode)

    def __call__(self, function: _Function) -> _Function:
        self._go_back()
        return _decorated(function, enable_grad if self.mode else no_grad)


class inference_mode(_C._Scope):
    """Switch recording off for a block or a function, and permanently for tensors made inside.

    Faster than `no_grad`: tensors made inside have no version counter and can never be recorded.

    Args:
        mode: Whether it is on; False leaves it. Default: True.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)

    See also:
        `torch.no_grad`.
    """

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
    """Run `function` in such a block. For a class, wrap its constructor."""
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
    """Wrap `generator` so that only its own code sees the mode, not the caller's in between."""
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

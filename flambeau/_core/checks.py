"""Checks that raise PyTorch's exception classes, for code that is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__: list[str] = []

_Message = Callable[[], Any] | None


def _checked(error: type[Exception], cond: Any, message: _Message) -> None:
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError(f"message must be a callable, but got {type(message)}")
    raise error("expected cond to be True, but got False" if message is None else str(message()))


def _check(cond: Any, message: _Message = None) -> None:
    """Raise a RuntimeError unless ``cond`` holds; ``message()`` is its text."""
    _checked(RuntimeError, cond, message)


def _check_index(cond: Any, message: _Message = None) -> None:
    """Raise an IndexError unless ``cond`` holds."""
    _checked(IndexError, cond, message)


def _check_value(cond: Any, message: _Message = None) -> None:
    """Raise a ValueError unless ``cond`` holds."""
    _checked(ValueError, cond, message)


def _check_type(cond: Any, message: _Message = None) -> None:
    """Raise a TypeError unless ``cond`` holds."""
    _checked(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: _Message = None) -> None:
    """Raise a NotImplementedError unless ``cond`` holds."""
    _checked(NotImplementedError, cond, message)


def _check_tensor_all(cond: Tensor, message: _Message = None) -> None:
    """Raise a RuntimeError unless all elements are true."""
    if not isinstance(cond, Tensor) or cond.dtype != fb.bool:
        raise TypeError(f"cond must be a bool tensor, but got {cond}")
    _checked(RuntimeError, bool(cond.all()), message)


def _check_is_size(i: int, message: _Message = None, *, max: int | None = None) -> None:
    """Raise a RuntimeError unless ``0 <= i <= max``."""
    _checked(RuntimeError, i >= 0 and (max is None or i <= max), message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise a RuntimeError unless the one element is nonzero."""
    if not input.is_nonzero():
        raise RuntimeError(
            assert_msg or "_assert_async: expected a tensor with one nonzero element, but got zero"
        )


def _shape_as_tensor(input: Tensor) -> Tensor:
    """Return the sizes as a tensor."""
    return fb.tensor(input.shape, dtype=fb.int64)

"""Checks of the parts of sparse tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

__all__ = ["check_sparse_tensor_invariants"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class check_sparse_tensor_invariants:
    """Whether the parts of sparse tensors are checked, as a switch, a context or a decorator.

    Here they always are, since that costs little: the switch is remembered and changes nothing.
    """

    _enabled = False

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self._before: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Return what the switch was set to."""
        return check_sparse_tensor_invariants._enabled

    @staticmethod
    def enable() -> None:
        """Set the switch."""
        check_sparse_tensor_invariants._enabled = True

    @staticmethod
    def disable() -> None:
        """Clear the switch."""
        check_sparse_tensor_invariants._enabled = False

    def __enter__(self) -> None:
        self._before = self.is_enabled()
        check_sparse_tensor_invariants._enabled = self.state

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        check_sparse_tensor_invariants._enabled = bool(self._before)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> _R:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked

"""Work that a script may start early and wait for later. Python does it at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau.futures import Future

__all__: list[str] = []


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Call ``func``, and return a future of its result."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The result of such a future."""
    return future.wait()

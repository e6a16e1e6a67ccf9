"""Whether the thread is exporting a program, which the program may ask."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

__all__: list[str] = []


class _State(threading.local):
    depth = 0


_state = _State()


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """A block in which a program is exported."""
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1


def is_exporting() -> bool:
    """Whether the caller is being exported."""
    return _state.depth > 0

"""Names by which packages reach how a tensor is shown; `flambeau._core.printing` does the work."""

from __future__ import annotations

from typing import Any

from flambeau._core.printing import (
    PRINT_OPTS,
    _contents,
    get_printoptions,
    printoptions,
    set_printoptions,
    tensor_repr,
)

__all__ = [
    "PRINT_OPTS",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
]


def _tensor_str(self: Any, indent: int) -> str:
    """The elements of a tensor in brackets, for a place that is ``indent`` characters in."""
    return _contents(self.detach(), indent)


def _str(self: Any) -> str:
    """What ``repr`` says of a tensor."""
    return tensor_repr(self)

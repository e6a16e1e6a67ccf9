"""Names that programs take from below ``torch.jit``."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035 - what programs import

from flambeau.jit import Final, Future, export, ignore, is_scripting, unused

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "Final",
    "Future",
    "List",
    "Optional",
    "Tuple",
    "Union",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]


class _BroadcastingList:
    """``BroadcastingList2[int]``: a list, or one value for all of its elements."""

    def __getitem__(self, element: Any) -> Any:
        return list[element]


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()

"""Which process writes what: the only one, everything."""

from __future__ import annotations

from typing import Any

__all__ = ["DefaultLoadPlanner", "DefaultSavePlanner"]


class DefaultSavePlanner:
    """Options of writing that matter among several processes."""

    def __init__(self, **options: Any) -> None:
        self.options = options


class DefaultLoadPlanner:
    """Options of reading that matter among several processes."""

    def __init__(self, **options: Any) -> None:
        self.options = options

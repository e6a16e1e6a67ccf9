"""Checks of nested data from a file before it is walked as a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__: list[str] = []

_CONTAINERS = (tuple, list, dict)
_FREE_VISITS = 10_000


def check_tree(content: Any) -> None:
    """Refuse data that contains itself, or whose parts are repeated far too often.

    A list of two references to a list of two references, and so on forty times over, is a small
    file and a tree of a million millions of nodes.
    """
    visits: dict[int, int] = {}  # nodes of the tree below each container, by id
    ancestors: set[int] = set()
    waiting = [(content, False)]
    parts = 1
    while waiting:
        value, is_done = waiting.pop()
        if is_done:
            below = [visits.get(id(each), 1) for each in _members(value)]
            visits[id(value)] = 1 + sum(below)
            ancestors.discard(id(value))
            parts += len(below)
        elif type(value) in _CONTAINERS and id(value) not in visits:
            if id(value) in ancestors:
                raise RuntimeError("load: the file holds a value that holds itself")
            ancestors.add(id(value))
            waiting.append((value, True))
            waiting.extend((each, False) for each in _members(value))
    total = visits.get(id(content), 1)
    if total > 4 * parts + _FREE_VISITS:
        raise RuntimeError(
            f"load: the file holds {parts} values, which are referred to {total} times; no program "
            "is written like that"
        )


def check_names(names: Iterable[Any]) -> None:
    """Refuse names that no program gives, such as orders to a terminal: they will be printed."""
    for name in names:
        if not isinstance(name, str) or not name.isprintable():
            raise RuntimeError(f"load: the file has something that is called {name!r}")


def _members(value: Any) -> list[Any]:
    return [*value, *value.values()] if type(value) is dict else list(value)

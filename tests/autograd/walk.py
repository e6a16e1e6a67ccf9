"""Walking a graph: the names of its nodes, and all that hangs on one."""

from __future__ import annotations

from typing import Any


def kind(node: Any) -> str | None:
    """The class of a node, as PyTorch prints it; None where nothing flows."""
    return None if node is None else type(node).__name__


def kinds(node: Any) -> list[str | None]:
    """The classes of the nodes that receive the gradients of `node`."""
    return [kind(each) for each, _ in node.next_functions]


def reachable(node: Any) -> list[Any]:
    """Every node that backward from `node` visits, each once."""
    seen, stack = [], [node]
    while stack:
        top = stack.pop()
        if top is not None and not any(top is each for each in seen):
            seen.append(top)
            stack += [each for each, _ in top.next_functions]
    return seen

"""Drawings of graphs, which need a program that Flambeau does not use."""

from __future__ import annotations

from typing import Any

__all__ = ["FxGraphDrawer"]


class FxGraphDrawer:
    """Draws a graph with Graphviz; not available."""

    def __init__(self, graph_module: Any, name: str, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "FxGraphDrawer: drawing graphs needs pydot and Graphviz, which Flambeau does not use; "
            "print(graph_module.graph) and graph_module.print_readable() show a graph as text"
        )

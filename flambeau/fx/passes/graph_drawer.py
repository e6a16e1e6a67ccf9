"""Drawings of graphs, which need a program that Flambeau does not use."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import refusal

__all__ = ["FxGraphDrawer"]


class FxGraphDrawer:
    """Draws a graph with Graphviz; not available."""

    def __init__(self, graph_module: Any, name: str, *args: Any, **kwargs: Any) -> None:
        raise refusal("fx.passes.graph_drawer.FxGraphDrawer")

"""A pass over a graph module, with checks before and after."""

from __future__ import annotations

import abc
from typing import NamedTuple

from flambeau.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module after a pass, and whether it changed."""

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """A pass: subclasses define ``call``, and may check its requirements and guarantees."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Run the pass."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise if the module does not meet the requirements; a subclass checks."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise if the result does not meet the guarantees; a subclass checks."""

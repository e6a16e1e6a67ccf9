"""A pass over a graph module, with checks before and after."""

from __future__ import annotations

import abc
from typing import NamedTuple

from flambeau.fx.graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module that a pass leaves, and whether it changed anything."""

    graph_module: GraphModule
    modified: bool


class PassBase(abc.ABC):
    """A pass: subclasses define ``call``, and may check what it needs and what it ensures."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Do it."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise if the module cannot be worked on: subclasses know."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise if the result is not as it should be: subclasses know."""

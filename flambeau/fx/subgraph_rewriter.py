"""Replacement of every occurrence of a pattern in a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flambeau.fx._symbolic_trace import symbolic_trace
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Node

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """One occurrence: the node of its result, and the node for each node of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class InternalMatch:
    """An occurrence during the search; filters get it."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)


@dataclass
class ReplacedPatterns:
    """One occurrence, and the nodes that replaced it."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule,
) -> list[Match]:
    """Replace all occurrences of ``pattern``, which do not overlap, by ``replacement``."""
    made = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(anchor=m.anchor, nodes_map=m.nodes_map) for m in made]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
) -> list[ReplacedPatterns]:
    """The same, restricted to occurrences that all filters accept."""
    old, new = _graph_of(pattern), _graph_of(replacement)
    matches = _find_all(gm.graph, old, ignore_literals)
    filters = match_filters or []
    matches = [m for m in matches if all(accept(m, gm.graph, old) for accept in filters)]
    replaced: dict[Node, Any] = {}
    made = [_replace(gm.graph, old, new, match, replaced) for match in matches]
    _bring_modules(gm, replacement)
    gm.recompile()
    return made


def _graph_of(program: Any) -> Graph:
    if isinstance(program, Graph):
        return program
    if isinstance(program, GraphModule):
        return program.graph
    return symbolic_trace(program).graph


# --- finding


def _find_all(graph: Graph, pattern: Graph, ignore_literals: bool) -> list[InternalMatch]:
    result = pattern.output_node().args[0]
    anchors = [result] if isinstance(result, Node) else list(result)
    taken: set[Node] = set()
    found = []
    for node in graph.nodes:
        match = _Matcher(pattern, ignore_literals).match(anchors, node)
        if match is None:
            continue
        inner = [m for p, m in match.nodes_map.items() if p.op != "placeholder"]
        if not any(n in taken for n in inner):
            taken.update(inner)
            found.append(match)
    return found


class _Matcher:
    """One attempt to match a pattern whose first result is a given node."""

    def __init__(self, pattern: Graph, ignore_literals: bool) -> None:
        self.pattern = pattern
        self.ignore_literals = ignore_literals
        self.known: dict[Node, Any] = {}

    def match(self, anchors: list[Node], node: Node) -> InternalMatch | None:
        if not self._same_node(anchors[0], node):
            return None
        # Further results must be connected with the first.
        for anchor in anchors[1:]:
            if anchor not in self.known and not self._find_other(anchor, node):
                return None
        if not self._is_closed(anchors):
            return None
        return InternalMatch(
            anchors=[self.known[anchor] for anchor in anchors],
            nodes_map=dict(self.known),
            placeholder_nodes=[
                self.known[n]
                for n in self.pattern.nodes
                if n.op == "placeholder" and n in self.known
            ],
            returning_nodes=[self.known[anchor] for anchor in anchors],
        )

    def _find_other(self, anchor: Node, near: Node) -> bool:
        for candidate in near.graph.nodes:
            before = dict(self.known)
            if self._same_node(anchor, candidate):
                return True
            self.known = before
        return False

    def _is_closed(self, anchors: list[Node]) -> bool:
        """Whether inner nodes of the pattern have no users outside."""
        inside = {m for p, m in self.known.items() if p.op not in ("placeholder", "output")}
        return all(
            user in inside
            for p, m in self.known.items()
            if p.op not in ("placeholder", "get_attr") and p not in anchors
            for user in m.users
        )

    def _same_node(self, wanted: Node, node: Any) -> bool:
        if wanted in self.known:
            return self.known[wanted] is node
        if wanted.op == "placeholder":
            self.known[wanted] = node
            return isinstance(node, Node) or self.ignore_literals
        if not isinstance(node, Node) or wanted.op != node.op or wanted.target != node.target:
            return False
        self.known[wanted] = node
        args, kwargs = wanted.args, wanted.kwargs
        return self._same(args, node.args) and self._same(kwargs, node.kwargs)

    def _same(self, wanted: Any, given: Any) -> bool:
        if isinstance(wanted, Node):
            return self._same_node(wanted, given)
        if isinstance(wanted, (list, tuple)):
            if not isinstance(given, (list, tuple)) or len(wanted) != len(given):
                return False
            return all(self._same(w, g) for w, g in zip(wanted, given, strict=True))
        if isinstance(wanted, dict):
            if not isinstance(given, dict) or wanted.keys() != given.keys():
                return False
            return all(self._same(wanted[key], given[key]) for key in wanted)
        if isinstance(given, Node):
            return False
        return self.ignore_literals or (type(wanted) is type(given) and bool(wanted == given))


# --- replacing


def _replace(
    graph: Graph, old: Graph, new: Graph, match: InternalMatch, replaced: dict[Node, Any]
) -> ReplacedPatterns:
    def current(node: Any) -> Any:
        """Return the current node for an input, if an earlier replacement has changed it."""
        while isinstance(node, Node) and node in replaced:
            node = replaced[node]
        return node

    inputs = [current(match.nodes_map.get(n)) for n in old.nodes if n.op == "placeholder"]
    placeholders = [n for n in new.nodes if n.op == "placeholder"]
    if len(inputs) != len(placeholders):
        raise RuntimeError(
            f"the pattern has {len(inputs)} inputs and its replacement {len(placeholders)}"
        )
    val_map = dict(zip(placeholders, inputs, strict=True))
    copied = set(val_map)
    with graph.inserting_before(_first_user(match)):
        result = graph.graph_copy(new, val_map)
    results: list[Any] = [result] if isinstance(result, Node) or result is None else list(result)
    for anchor, value in zip(match.anchors, results, strict=True):
        anchor.replace_all_uses_with(value)
        replaced[anchor] = value
    for wanted, node in match.nodes_map.items():
        if wanted.op not in ("placeholder", "output") and not node._erased and not node.users:
            graph.erase_node(node)
    made = [node for wanted, node in val_map.items() if wanted not in copied]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _first_user(match: InternalMatch) -> Node:
    """The first node that needs a result; the node after the results if none does."""
    inside = {node for wanted, node in match.nodes_map.items() if wanted.op != "placeholder"}
    users = [user for anchor in match.anchors for user in anchor.users if user not in inside]
    return min(users) if users else max(match.anchors).next


def _bring_modules(gm: GraphModule, replacement: Any) -> None:
    """Copy the attributes that the replacement's nodes refer to into the module."""
    if not isinstance(replacement, GraphModule):
        return
    for node in replacement.graph.nodes:
        if node.op == "call_module":
            path = str(node.target)
            try:
                gm.get_submodule(path)
            except AttributeError:
                gm.add_submodule(path, replacement.get_submodule(path))

"""Nested containers taken apart into a flat list of leaves, and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["TreeSpec", "tree_flatten", "tree_leaves", "tree_map", "tree_unflatten"]


@dataclass(frozen=True)
class TreeSpec:
    """The shape of a nested container, without its leaves."""

    kind: type | None  # None: a leaf
    keys: Any  # of a dictionary; the class of a named tuple; the default factory and keys
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inner = ", ".join(map(str, self.children))
        if self.kind is tuple:
            return f"({inner},)" if len(self.children) == 1 else f"({inner})"
        return f"[{inner}]" if self.kind is list else f"{self.kind.__name__}({inner})"


LEAF = TreeSpec(None, None, ())


def _is_named(kind: type) -> bool:
    """Whether it is a named tuple, or the type of an operator's named results."""
    return issubclass(kind, tuple) and (
        hasattr(kind, "_fields") or hasattr(kind, "n_sequence_fields")
    )


def children_of(value: Any) -> tuple[type, Any, list[Any]] | None:
    """The kind of a container, what it takes to build it again, and its values; None for leaves."""
    if _is_named(type(value)):
        return tuple, type(value), list(value)
    if type(value) in (tuple, list):
        return type(value), None, list(value)
    if type(value) is defaultdict:
        return defaultdict, (value.default_factory, list(value)), list(value.values())
    if type(value) in (dict, OrderedDict):
        return type(value), list(value), list(value.values())
    return None


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of ``tree`` in order, and what ``tree_unflatten`` needs."""
    parts = children_of(tree)
    if parts is None:
        return [tree], LEAF
    kind, keys, values = parts
    leaves: list[Any] = []
    specs = []
    for value in values:
        inner, spec = tree_flatten(value)
        leaves += inner
        specs.append(spec)
    return leaves, TreeSpec(kind, keys, tuple(specs))


def tree_unflatten(leaves: Iterable[Any], spec: TreeSpec) -> Any:
    """Put leaves into the shape that ``spec`` describes."""
    return _build(spec, iter(leaves))


def _build(spec: TreeSpec, leaves: Any) -> Any:
    if spec.kind is None:
        return next(leaves)
    values = [_build(child, leaves) for child in spec.children]
    if spec.kind is defaultdict:
        factory, keys = spec.keys
        return defaultdict(factory, zip(keys, values, strict=True))
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.keys, values, strict=True))
    if spec.keys is None:
        return spec.kind(values)
    return spec.keys(*values) if hasattr(spec.keys, "_fields") else spec.keys(values)


def tree_leaves(tree: Any) -> list[Any]:
    return tree_flatten(tree)[0]


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply ``function`` to the leaves of trees of the same shape."""
    leaves, spec = tree_flatten(tree)
    rest = [tree_leaves(other) for other in others]
    return tree_unflatten([function(*each) for each in zip(leaves, *rest, strict=True)], spec)


def broadcast_to(tree: Any, spec: TreeSpec) -> list[Any] | None:
    """The leaves of ``tree`` for each leaf of ``spec``, where a leaf stands for all below it.

    None if the two do not fit.
    """
    parts = children_of(tree)
    if parts is None:
        return [tree] * spec.num_leaves
    kind, keys, values = parts
    if spec.kind is not kind or len(values) != len(spec.children):
        return None
    if kind not in (tuple, list) and keys != spec.keys:
        return None
    found: list[Any] = []
    for value, child in zip(values, spec.children, strict=True):
        inner = broadcast_to(value, child)
        if inner is None:
            return None
        found += inner
    return found

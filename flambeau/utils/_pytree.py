"""Nested containers taken apart into a flat list of leaves, and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "SUPPORTED_NODES",
    "LeafSpec",
    "NodeDef",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

PyTree: TypeAlias = Any


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


def LeafSpec() -> TreeSpec:
    """The shape of a value that is no container."""
    return LEAF


class NodeDef(NamedTuple):
    """How containers of one kind are taken apart and put together again."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]


_registered: dict[type, NodeDef] = {}


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
    if type(value) in _registered:
        values, context = _registered[type(value)].flatten_fn(value)
        return type(value), context, list(values)
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
    if spec.kind in _registered:
        return _registered[spec.kind].unflatten_fn(values, spec.keys)
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


def tree_map_only(
    type_or_types: type | tuple[type, ...], function: Callable[[Any], Any], tree: Any
) -> Any:
    """Apply ``function`` to the leaves that are of the given types."""
    return tree_map(lambda leaf: function(leaf) if isinstance(leaf, type_or_types) else leaf, tree)


def tree_any(predicate: Callable[[Any], bool], tree: Any) -> bool:
    return any(map(predicate, tree_leaves(tree)))


def tree_all(predicate: Callable[[Any], bool], tree: Any) -> bool:
    return all(map(predicate, tree_leaves(tree)))


def tree_structure(tree: Any) -> TreeSpec:
    return tree_flatten(tree)[1]


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list[Any], Any]],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    **names: Any,
) -> None:
    """Let objects of a class be containers; `names` describe them in files, which are not written.

    `flatten_fn` gives the values of an object and what `unflatten_fn` needs beside them.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node")
    SUPPORTED_NODES[cls] = _registered[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def _get_node_type(tree: Any) -> Any:
    return namedtuple if _is_named(type(tree)) else type(tree)


def _definition(kind: Any) -> NodeDef:
    def flatten(value: Any) -> tuple[list[Any], Any]:
        parts = children_of(value)
        assert parts is not None
        return parts[2], parts[1]

    def unflatten(values: Iterable[Any], context: Any) -> Any:
        children = list(values)
        return tree_unflatten(children, TreeSpec(kind, context, (LEAF,) * len(children)))

    return NodeDef(kind, flatten, unflatten)


SUPPORTED_NODES: dict[Any, NodeDef] = {
    kind: _definition(kind) for kind in (tuple, list, dict, OrderedDict, defaultdict, namedtuple)
}


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

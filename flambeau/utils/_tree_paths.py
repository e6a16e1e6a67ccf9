"""Leaves of nested containers with their paths: keys, positions, attributes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from flambeau.utils._tree import (
    SUPPORTED_NODES,
    TreeSpec,
    _get_node_type,
    tree_flatten,
    tree_is_leaf,
    tree_map,
    tree_unflatten,
)

__all__ = [
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "MappingKey",
    "SequenceKey",
    "key_get",
    "keystr",
    "tree_flatten_with_path",
    "tree_leaves_with_path",
    "tree_map_with_path",
]


class SequenceKey(NamedTuple):
    """A position in a list or a tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """A key of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """A field of a named tuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, owner: Any) -> Any:
        return getattr(owner, self.name)


KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[Any, ...]
_IsLeaf = Callable[[Any], bool] | None


def keystr(kp: KeyPath) -> str:
    """Return a path as text: ``['layers'][0].weight``."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Return the value at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _children_with_keys(tree: Any) -> list[tuple[Any, Any]]:
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES[kind]
    if node.flatten_with_keys_fn is not None:
        return list(node.flatten_with_keys_fn(tree)[0])
    if kind in (dict, OrderedDict, defaultdict):
        return [(MappingKey(key), value) for key, value in tree.items()]
    if hasattr(tree, "_fields"):
        return [(GetAttrKey(name), getattr(tree, name)) for name in tree._fields]
    values = node.flatten_fn(tree)[0]
    return [(SequenceKey(index), value) for index, value in enumerate(values)]


def tree_leaves_with_path(tree: Any, is_leaf: _IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of ``tree``, each with its path."""
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    return [
        ((key, *path), leaf)
        for key, value in _children_with_keys(tree)
        for path, leaf in tree_leaves_with_path(value, is_leaf)
    ]


def tree_flatten_with_path(
    tree: Any, is_leaf: _IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Return the leaves of ``tree``, each with its path, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_flatten(tree, is_leaf)[1]


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: _IsLeaf = None
) -> Any:
    """Apply ``func(path, leaf, ...)`` to the leaves of trees of the same structure."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    paths = tree_unflatten([_Held(path) for path, _ in found], spec)
    return tree_map(
        lambda leaf, held, *others: func(held.path, leaf, *others),
        tree,
        paths,
        *rests,
        is_leaf=is_leaf,
    )


class _Held:
    """A path as a leaf: a tuple would be flattened."""

    def __init__(self, path: KeyPath) -> None:
        self.path = path


# What dictionary classes register themselves with.
def _dict_flatten(value: dict[Any, Any]) -> tuple[list[Any], Any]:
    return list(value.values()), list(value)


def _dict_unflatten(values: Iterable[Any], context: Any) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _dict_flatten_with_keys(value: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    return [(MappingKey(key), item) for key, item in value.items()], list(value)

"""Flattening of nested containers into lists of leaves, and back.

Tuples, lists, dictionaries, named tuples and types registered with `register_pytree_node` are
containers; everything else, None too, is a leaf.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = [
    "SUPPORTED_NODES",
    "LeafSpec",
    "NodeDef",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
Context = Any
FlattenFunc = Callable[[Any], tuple[list[Any], Context]]
UnflattenFunc = Callable[[Iterable[Any], Context], Any]
_IsLeaf = Callable[[Any], bool] | None
_Kinds = type | tuple[type, ...] | types.UnionType | Callable[[Any], bool]


class NodeDef(NamedTuple):
    """How containers of a type are flattened and rebuilt."""

    type: Any
    flatten_fn: FlattenFunc
    unflatten_fn: UnflattenFunc
    flatten_with_keys_fn: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class TreeSpec:
    """The structure of a nested container, without its leaves."""

    type: Any  # None: a leaf
    context: Context  # the keys of a dictionary; the class of a named tuple; what was registered
    children_specs: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)

    @property
    def num_nodes(self) -> int:
        return 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        return self.type is None

    def children(self) -> list[TreeSpec]:
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Put leaves into this structure."""
        return tree_unflatten(leaves, self)

    def __str__(self) -> str:
        if self.type is None:
            return "*"
        inner = ", ".join(map(str, self.children_specs))
        if self.type in (tuple, namedtuple):
            return f"({inner},)" if len(self.children_specs) == 1 else f"({inner})"
        return f"[{inner}]" if self.type is list else f"{self.type.__name__}({inner})"


LEAF = TreeSpec(None, None, ())


class LeafSpec(TreeSpec):
    """An old name for the structure of a leaf."""

    def __new__(cls) -> TreeSpec:  # type: ignore[misc]
        return LEAF


def _build_named(values: Iterable[Any], kind: Any) -> Any:
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def _build_default(values: Iterable[Any], context: Any) -> Any:
    factory, keys = context
    return defaultdict(factory, zip(keys, values, strict=True))


SUPPORTED_NODES: dict[Any, NodeDef] = {
    tuple: NodeDef(tuple, lambda x: (list(x), None), lambda values, _: tuple(values)),
    list: NodeDef(list, lambda x: (x, None), lambda values, _: list(values)),
    dict: NodeDef(
        dict,
        lambda x: (list(x.values()), list(x)),
        lambda values, keys: dict(zip(keys, values, strict=True)),
    ),
    OrderedDict: NodeDef(
        OrderedDict,
        lambda x: (list(x.values()), list(x)),
        lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
    ),
    defaultdict: NodeDef(
        defaultdict,
        lambda x: (list(x.values()), (x.default_factory, list(x))),
        _build_default,
    ),
    deque: NodeDef(
        deque, lambda x: (list(x), x.maxlen), lambda values, most: deque(values, maxlen=most)
    ),
    # Named tuples and the named results of operators, whatever their class.
    namedtuple: NodeDef(namedtuple, lambda x: (list(x), type(x)), _build_named),
}


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], Any] | None = None,
) -> None:
    """Register a class as a container: how to get its values and context, and to rebuild it."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"register_pytree_node: {cls} needs both to_dumpable_context and "
            "from_dumpable_context, or none of them"
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _register_pytree_node(
    cls: type, flatten_fn: FlattenFunc, unflatten_fn: UnflattenFunc, *_: Any, **__: Any
) -> None:
    """The older `register_pytree_node`, which replaces an earlier registration."""
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


def _get_node_type(tree: Any) -> Any:
    """The key of a container in ``SUPPORTED_NODES``, if it is one."""
    kind = type(tree)
    if kind in SUPPORTED_NODES or not issubclass(kind, tuple):
        return kind
    named = hasattr(kind, "_fields") or hasattr(kind, "n_sequence_fields")
    return namedtuple if named else kind


def tree_is_leaf(tree: Any, is_leaf: _IsLeaf = None) -> bool:
    """Whether ``tree`` has no children, or ``is_leaf`` says so."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


def tree_flatten(tree: Any, is_leaf: _IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of ``tree`` in order, and its structure."""
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves, is_leaf)


def _collect(tree: Any, leaves: list[Any], is_leaf: _IsLeaf) -> TreeSpec:
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    values, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, tuple([_collect(value, leaves, is_leaf) for value in values]))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Put leaves into the structure ``treespec``."""
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten: {len(given)} leaves were given for a tree that holds "
            f"{treespec.num_leaves}: {treespec}"
        )
    return _build(treespec, iter(given))


def _build(spec: TreeSpec, leaves: Iterator[Any]) -> Any:
    if spec.type is None:
        return next(leaves)
    values = [_build(child, leaves) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(values, spec.context)


def tree_leaves(tree: Any, is_leaf: _IsLeaf = None) -> list[Any]:
    """Return the leaves of ``tree`` in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: Any, is_leaf: _IsLeaf = None) -> Iterator[Any]:
    """Iterate over the leaves of ``tree``."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: _IsLeaf = None) -> TreeSpec:
    """Return the structure of ``tree``."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: _IsLeaf = None) -> Any:
    """Apply ``func`` to the leaves of trees of the same structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    rest = [_leaves_below(each, spec) for each in rests]
    return _build(spec, iter([func(*each) for each in zip(leaves, *rest, strict=True)]))


def _leaves_below(tree: Any, spec: TreeSpec) -> list[Any]:
    """The part of ``tree`` at each leaf of ``spec``."""
    if spec.type is None:
        return [tree]
    kind = _get_node_type(tree)
    if kind is not spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type}, but got {kind}.")
    values, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    if len(values) != spec.num_children:
        raise ValueError(
            f"Node arity mismatch; expected {spec.num_children}, but got {len(values)}."
        )
    if kind in (dict, OrderedDict) and context != spec.context:
        values = [tree[key] for key in spec.context]  # in the order of the first tree
    children = zip(values, spec.children_specs, strict=True)
    return [leaf for value, child in children for leaf in _leaves_below(value, child)]


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: _IsLeaf = None) -> Any:
    """Call ``func`` with the leaves, for its side effects, and return ``tree``."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(kinds: _Kinds) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Restrict a function to values of some types, or to those that satisfy a predicate."""
    is_meant = _predicate(kinds)

    def limited(func: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: func(value) if is_meant(value) else value

    return limited


def _predicate(kinds: _Kinds) -> Callable[[Any], bool]:
    if isinstance(kinds, (type, tuple, types.UnionType)):
        return lambda value: isinstance(value, kinds)
    return kinds


def tree_map_only(
    type_or_types_or_pred: _Kinds,
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: _IsLeaf = None,
) -> Any:
    """Apply ``func`` to the leaves of some types; the others stay as they are."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: _Kinds,
    /,
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: _IsLeaf = None,
) -> Any:
    """Call ``func`` with the leaves of some types, and return ``tree``."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: _IsLeaf = None) -> bool:
    """Whether ``pred`` holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: _IsLeaf = None) -> bool:
    """Whether ``pred`` holds for any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: _Kinds, /, pred: Callable[[Any], bool], tree: Any, is_leaf: _IsLeaf = None
) -> bool:
    """Whether ``pred`` holds for all leaves of some types."""
    is_meant = _predicate(type_or_types)
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if is_meant(leaf))


def tree_any_only(
    type_or_types: _Kinds, /, pred: Callable[[Any], bool], tree: Any, is_leaf: _IsLeaf = None
) -> bool:
    """Whether ``pred`` holds for any leaf of some types."""
    is_meant = _predicate(type_or_types)
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if is_meant(leaf))


def broadcast_to(tree: Any, spec: TreeSpec) -> list[Any] | None:
    """Broadcast ``tree`` to ``spec``: a leaf of ``tree`` stands for all leaves below it.

    None if the two do not match.
    """
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None:
        return [tree] * spec.num_leaves
    values, context = node.flatten_fn(tree)
    if spec.type is not kind or len(values) != spec.num_children:
        return None
    if kind not in (tuple, list) and context != spec.context:
        return None
    found: list[Any] = []
    for value, child in zip(values, spec.children_specs, strict=True):
        inner = broadcast_to(value, child)
        if inner is None:
            return None
        found += inner
    return found


def _broadcast_to_and_flatten(
    tree: Any, treespec: TreeSpec, is_leaf: _IsLeaf = None
) -> list[Any] | None:
    """The older name of `broadcast_to`."""
    return broadcast_to(tree, treespec)

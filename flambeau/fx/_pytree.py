"""Flattening of nested inputs by a structure that was found in tracing."""

from __future__ import annotations

from typing import Any

from flambeau.utils._pytree import TreeSpec

__all__ = ["tree_flatten_spec"]


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """Return the leaves of ``pytree``; of dictionaries, the values at the keys of ``spec``."""
    if spec.is_leaf():
        return [pytree]
    if isinstance(spec.type, type) and issubclass(spec.type, dict):
        # A defaultdict's factory stands before its keys.
        keys = spec.context[1] if isinstance(spec.context, tuple) else spec.context
        values = [pytree[key] for key in keys]
    else:
        values = list(pytree)[: spec.num_children]
    return [
        leaf
        for value, child in zip(values, spec.children(), strict=True)
        for leaf in tree_flatten_spec(value, child)
    ]

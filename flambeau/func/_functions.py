"""Users' autograd.Functions under vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.utils._pytree import broadcast_to, tree_flatten, tree_unflatten

__all__ = ["VmapInfo", "apply_batched"]


# Computes a batch: takes a VmapInfo, the batch dimensions and the arguments.
Rule = Callable[..., tuple[Any, Any]]


class VmapInfo(NamedTuple):
    """Information about the map for the ``vmap`` method of a Function."""

    batch_size: int
    randomness: str


def apply_batched(function: Any, args: tuple[Any, ...]) -> Any:
    """Apply a Function to arguments some of which are batched, at their innermost level."""
    has_method = function.vmap is not fb.autograd.Function.vmap
    if function.generate_vmap_rule and has_method:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has a vmap method and "
            "generate_vmap_rule=True, which would make another rule; keep one of them"
        )
    if function.generate_vmap_rule:
        rule: Rule = functools.partial(_one_by_one, function)
    elif has_method:
        rule = function.vmap
    else:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. "
            "Please override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    return apply_rule(rule, args, f"the vmap method of {function.__name__}")


def is_batched(value: Any) -> bool:
    """Whether a value is a batched tensor of a running map."""
    return isinstance(value, Tensor) and _C._batch_of(value) is not None


def apply_rule(rule: Rule, args: tuple[Any, ...], name: str) -> Any:
    """Call a batching rule with whole batches, at their innermost level.

    The rule gets the arguments with their batch dimensions, also for lists of tensors,
    and returns results with theirs. Errors call it ``name``.
    """
    given, in_spec = tree_flatten(args)
    level = max(_C._batch_level_of(a) for a in given if isinstance(a, Tensor))
    in_dims = [0 if isinstance(a, Tensor) and _C._is_batched_at(a, level) else None for a in given]
    samples = [
        a if dim is None else _C._samples_of(a, level)
        for a, dim in zip(given, in_dims, strict=True)
    ]
    count = next(len(s) for s, dim in zip(samples, in_dims, strict=True) if dim is not None)
    info = VmapInfo(count, _C._randomness_of(level))
    output, out_dims = rule(
        info, tree_unflatten(in_dims, in_spec), *tree_unflatten(samples, in_spec)
    )
    leaves, spec = tree_flatten(output)
    dims = broadcast_to(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            f"{name} returned outputs of structure {spec} but "
            f"dimensions of structure {tree_flatten(out_dims)[1]}"
        )
    return tree_unflatten(
        [
            leaf if dim is None else _C._make_batched(leaf, dim, level)
            for leaf, dim in zip(leaves, dims, strict=True)
        ],
        spec,
    )


def _one_by_one(
    function: Any, info: VmapInfo, in_dims: tuple[int | None, ...], *samples: Any
) -> Any:
    pairs = list(zip(samples, in_dims, strict=True))
    rows = [
        function.apply(*(s if dim is None else s[i] for s, dim in pairs))
        for i in range(info.batch_size)
    ]
    spec = tree_flatten(rows[0])[1]
    columns = zip(*(tree_flatten(row)[0] for row in rows), strict=True)
    return tree_unflatten([fb.stack(list(column)) for column in columns], spec), 0

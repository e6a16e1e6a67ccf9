"""A user's autograd.Function in a map."""

from __future__ import annotations

from typing import Any, NamedTuple

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.utils._pytree import broadcast_to, tree_flatten, tree_unflatten

__all__ = ["VmapInfo", "apply_batched"]


class VmapInfo(NamedTuple):
    """What the ``vmap`` method of a Function is told of the map."""

    batch_size: int
    randomness: str


def apply_batched(function: Any, args: tuple[Any, ...]) -> Any:
    """Apply a Function to arguments some of which are batched, at the innermost of their levels."""
    level = max(_C._batch_level_of(a) for a in args if isinstance(a, Tensor))
    in_dims = tuple(
        0 if isinstance(a, Tensor) and _C._is_batched_at(a, level) else None for a in args
    )
    samples = [
        a if dim is None else _C._samples_of(a, level) for a, dim in zip(args, in_dims, strict=True)
    ]
    count = next(len(s) for s, dim in zip(samples, in_dims, strict=True) if dim is not None)
    if function.generate_vmap_rule:
        output = _one_by_one(function, samples, in_dims, count)
        out_dims: Any = 0
    elif function.vmap is not fb.autograd.Function.vmap:
        info = VmapInfo(count, _C._randomness_of(level))
        output, out_dims = function.vmap(info, in_dims, *samples)
    else:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. "
            "Please override and implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    leaves, spec = tree_flatten(output)
    dims = broadcast_to(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            f"the vmap method of {function.__name__} returned outputs of structure {spec} but "
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
    function: Any, samples: list[Any], in_dims: tuple[int | None, ...], count: int
) -> Any:
    pairs = list(zip(samples, in_dims, strict=True))
    rows = [function.apply(*(s if dim is None else s[i] for s, dim in pairs)) for i in range(count)]
    spec = tree_flatten(rows[0])[1]
    columns = zip(*(tree_flatten(row)[0] for row in rows), strict=True)
    return tree_unflatten([fb.stack(list(column)) for column in columns], spec)

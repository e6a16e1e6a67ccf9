"""Checks of a recorded program with inputs of other sizes.

A size that leaves as a plain number (``range(x.shape[0])``, ``len(x)``, ``if x.shape[0] > 4``) is
built into a recording, which may be right for other sizes all the same: only another run can tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._recording.sizes import unchecked_decisions
from flambeau.utils._pytree import tree_leaves

__all__: list[str] = []

_MOST_ELEMENTS = 1 << 22  # of an input that is only tried out

Place = tuple[int, int]  # of an input by its number, one of its dimensions


def varied(value: Any) -> Any:
    """A tensor near another one, all of whose elements might be alike and so hide a difference."""
    is_real = isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())
    return value.detach() + pattern(value.shape).to(value.dtype) if is_real else value


def pattern(shape: Iterable[int]) -> Tensor:
    """A tensor of seven different numbers above one."""
    count = math.prod(shape)
    return (fb.arange(count) % 7 + 1).mul(1.125).reshape(tuple(shape))


def resized(tensors: list[Tensor], places: Iterable[Place], size: int) -> list[Tensor]:
    """The same tensors with another size in these dimensions; elements repeat if it is larger."""
    made = list(tensors)
    for number, dim in places:
        index = fb.arange(size) % max(made[number].shape[dim], 1)
        made[number] = made[number].index_select(dim, index)
    return made


def candidates(size: int, compared: Iterable[int]) -> list[int]:
    """Sizes worth a try: neighbours of ``size`` and of what it is compared to, and a far one."""
    near = {number + step for number in compared for step in (-1, 0, 1)}
    far = 3 * size + 1
    ordered = [size + 1, size - 1, *sorted(near), far]
    return [each for each in dict.fromkeys(ordered) if each > 0 and each != size]


def variants(tensors: list[Tensor], compared: Iterable[int]) -> Iterator[list[Tensor]]:
    """Inputs in which one size differs: in all dimensions that share it, and in each alone."""
    by_size: dict[int, list[Place]] = {}
    for number, tensor in enumerate(tensors):
        for dim, size in enumerate(tensor.shape):
            by_size.setdefault(int(size), []).append((number, dim))
    for size, places in by_size.items():
        groups = [places, *([place] for place in places if len(places) > 1)]
        for other in candidates(size, compared):
            for group in groups:
                if _is_small(tensors, group, other):
                    yield resized(tensors, group, other)


def _is_small(tensors: list[Tensor], places: Iterable[Place], size: int) -> bool:
    return all(
        tensors[number].numel() // max(tensors[number].shape[dim], 1) * size <= _MOST_ELEMENTS
        for number, dim in places
    )


def same_results(one: Any, other: Any) -> bool:
    """Whether two results have the same leaves, up to rounding."""
    leaves, others = tree_leaves(one), tree_leaves(other)
    return len(leaves) == len(others) and all(map(_same, leaves, others))


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return type(one) is type(other) and bool(one == other)
    try:
        fb.testing.assert_close(one, other, equal_nan=True)
    except AssertionError:
        return False
    return True


def outcome(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[bool, Any]:
    """Whether a call succeeds, and its result; every call draws the same random numbers."""
    with fb.random.fork_rng(), fb.no_grad(), unchecked_decisions():
        fb.manual_seed(0)
        try:
            return True, function(*args, **kwargs)
        except Exception:
            return False, None

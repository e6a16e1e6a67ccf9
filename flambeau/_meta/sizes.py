"""What operators return for tensors that are too large to be computed with: sizes alone.

An operator says by its results what it returns, so it is called on smaller tensors that stand for
the large ones. A large size is stood for by a small one, wherever it is found: in the shapes of
tensors and among the numbers of a call. It leaves the same remainder when divided by a period, of
which the strides of windows are divisors, so that sizes of results grow as much with each period.
From how they grow with each large size follows how large they are for those that are meant. That
holds where sizes are passed on, added and divided, which more calls, with other sizes, tell.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.utils._pytree import tree_flatten, tree_map

__all__: list[str] = []

# Larger sizes and numbers are stood for by smaller ones.
_LARGEST = 16
_PERIODS = 12, 200  # the least, and the most
_FAR = 84  # from the first sizes to those that are tried last, or two periods
_MOST_TIMES = 16
# What is computed for its shape alone: up to so many elements.
_MOST_ELEMENTS = 1 << 22


def is_large(given: Sequence[Tensor], numbers: Sequence[int]) -> bool:
    """Whether a call may make more elements than anybody wants to wait for."""
    counts = sorted((each.numel() for each in given), reverse=True)
    return math.prod([*counts[:2], *(each for each in numbers if each > _LARGEST)]) > _MOST_ELEMENTS


def numbers_in(leaves: Sequence[Any]) -> list[int]:
    return [each for each in leaves if type(each) is int]


class Sketch:
    """What a call on small tensors that stand for large ones gave.

    ``stand_ins`` has a small tensor and the one it stands for in turn, ``shapes`` the shape that
    each tensor of the result is meant to have.
    """

    def __init__(self, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
        self._func = func
        self._call = args, kwargs
        leaves = tree_flatten(self._call)[0]
        sizes = [n for each in leaves if isinstance(each, Tensor) for n in each.shape]
        numbers = numbers_in(leaves)
        large = sorted({n for n in [*sizes, *numbers] if n > _LARGEST})
        self._most = max([n for n in [*sizes, *numbers] if n <= _LARGEST], default=0)
        self._strides = _period(numbers)
        try:
            self._draw({n: (n, 1) for n in large})
        except RuntimeError as error:
            self._draw_related(large, error)

    def _draw_related(self, large: list[int], error: RuntimeError) -> None:
        """Perhaps a size is not below another one, or a multiple: as of the gates of an LSTM."""
        try:
            self._draw({n: (n, 1) for n in large}, gap=2)
        except RuntimeError:
            try:
                self._draw({n: _root(n, large) for n in large})
            except RuntimeError:
                text = f"{error} (of smaller tensors, which stand for those on meta)"
                raise type(error)(text) from None

    def _draw(self, roots: dict[int, tuple[int, int]], gap: int = 0, strided: Any = ()) -> None:
        """Make the calls; each large size is one of the roots, times a factor.

        There is a gap of so many periods between what stands for sizes of different length. Those
        that windows are ``strided`` along have a longer period.
        """
        bases = sorted({n for n, _ in roots.values()})
        period = {n: self._strides if n in strided else _PERIODS[0] for n in bases}
        small = {
            n: n % each + each * (max(math.ceil(self._most / each), 1) + gap * i)
            for i, (n, each) in enumerate(period.items())
        }

        def called(growth: dict[int, int]) -> Any:
            sizes = {n: size + growth.get(n, 0) * period[n] for n, size in small.items()}
            return self._called({n: sizes[root] * times for n, (root, times) in roots.items()})

        self.result = called({})
        self.stand_ins = self._made
        self.changes = any(each._version > version for each, version in self._versions)
        first = _shapes(self.result)
        steps = {n: _difference(_shapes(called({n: 1})), first) for n in small}
        strides = []
        for n in small:
            far = {n: max(_FAR // period[n], 2)}
            with contextlib.suppress(RuntimeError):  # one alone may be too long
                if _shapes(called(far)) != _grown(first, steps, far):
                    strides.append(n)
        if strides and not strided and self._strides != _PERIODS[0]:
            return self._draw(roots, gap, strides)
        once = dict.fromkeys(small, 1)
        if strides or _shapes(called(once)) != _grown(first, steps, once):
            raise NotImplementedError(
                f"{getattr(self._func, '__name__', self._func)}: how large its result is cannot be "
                "told for tensors on meta of this size; use smaller ones"
            )
        self.shapes = _grown(
            first, steps, {n: (n - size) // period[n] for n, size in small.items()}
        )
        return None

    def _called(self, small: dict[int, int]) -> Any:
        self._made: list[tuple[Tensor, Tensor]] = []
        args, kwargs = tree_map(lambda each: self._stand_in(each, small), self._call)
        self._versions = [(each, each._version) for each, _ in self._made]
        return self._func(*args, **kwargs)

    def _stand_in(self, value: Any, small: dict[int, int]) -> Any:
        if type(value) is int:
            return small.get(value, value)
        if not isinstance(value, Tensor):
            return value
        shape = [small.get(size, size) for size in value.shape]
        made = fb.zeros((), dtype=value.dtype).expand(shape)
        if 0 not in value.stride():  # of an expanded tensor, no order is kept
            made = fb.empty_strided(shape, dense_strides(shape, value.stride()), dtype=value.dtype)
            made.zero_()
        _C._promise(made)  # nobody is to take a number from it
        self._made.append((made.requires_grad_(value.requires_grad), value))
        return made


def _shapes(result: Any) -> list[tuple[int, ...]]:
    return [tuple(each.shape) for each in tree_flatten(result)[0] if isinstance(each, Tensor)]


def _root(size: int, others: list[int]) -> tuple[int, int]:
    """The smallest size that a large one is a small multiple of, and how many times."""
    for factor in range(_MOST_TIMES, 1, -1):
        if size % factor == 0 and size // factor in others:
            root, times = _root(size // factor, others)
            if times * factor <= _MOST_TIMES:
                return root, times * factor
    return size, 1


def dense_strides(shape: Sequence[int], like: Sequence[int]) -> list[int]:
    """Strides without gaps in which dimensions lie in the order that other strides have."""
    strides, step = [0] * len(shape), 1
    for dim in sorted(range(len(shape)), key=lambda dim: (like[dim], -dim)):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return strides


def _difference(shapes: list[tuple[int, ...]], before: list[tuple[int, ...]]) -> list[list[int]]:
    if [len(each) for each in shapes] != [len(each) for each in before]:
        raise NotImplementedError("the number of results depends on how large tensors on meta are")
    return [
        [new - old for new, old in zip(*pair, strict=True)]
        for pair in zip(shapes, before, strict=True)
    ]


def _grown(
    shapes: list[tuple[int, ...]], steps: dict[int, list[list[int]]], periods: dict[int, int]
) -> list[tuple[int, ...]]:
    """Shapes after their large sizes have grown by so many periods, each with its own steps."""
    made = [list(shape) for shape in shapes]
    for size, count in periods.items():
        for shape, step in zip(made, steps[size], strict=True):
            shape[:] = [old + count * new for old, new in zip(shape, step, strict=True)]
    return [tuple(each) for each in made]


def _period(numbers: Sequence[int]) -> int:
    """A multiple of the small numbers of a call, such as the strides of windows."""
    least, most = _PERIODS
    for number in sorted({each for each in numbers if 1 < each <= _LARGEST}):
        if math.lcm(least, number) <= most:
            least = math.lcm(least, number)
    return least

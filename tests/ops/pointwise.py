"""What the samples of element-wise operators have in common."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.ops.make import Make
from tests.ops.registry import forward_only, inf, nan, samples

# Where floating functions tend to differ.
SPECIAL = (0.0, -0.0, 1.0, -1.0, inf, -inf, nan)
LARGE = 1031  # more than one vector, and a tail


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reference for operators of which integers become floating point numbers."""

    def reference(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_widened, args), **kwargs)

    return reference


def _widened(value: Any) -> Any:
    exact = isinstance(value, np.ndarray) and value.dtype.kind in "biu"
    return value.astype(np.float64) if exact else value


def unary(
    name: str,
    reference: Callable[..., Any],
    *,
    special: tuple[float, ...] = SPECIAL,
    low: float | None = None,
    high: float | None = None,
    domain: tuple[float, float] | None = None,
    **options: Any,
) -> None:
    """Declare the samples of an operator of one tensor, with values in [low, high).

    domain: where a real function has values and derivatives, if that is less; one sample is there.
    """

    @samples(name, reference=reference, **options)
    def calls(make: Make) -> Iterator[Any]:
        least, most = domain if domain is not None and make.is_floating else (low, high)
        yield make(3, 4, low=least, high=most)
        yield make(LARGE, low=low, high=high)
        if make.is_floating:
            yield forward_only(make.of(*special))


def binary(
    name: str,
    reference: Callable[..., Any],
    *,
    number: float | None = None,
    special: tuple[float, ...] = SPECIAL,
    mixed: bool = True,
    divisor: bool = False,
    positive: bool = False,
    **options: Any,
) -> None:
    """Declare the samples of an operator of two tensors.

    number: what the second operand may be instead of a tensor.
    mixed: whether the tensors may be of two types.
    divisor: whether the second operand must not be zero.
    positive: whether the second operand must be positive.
    """

    @samples(name, reference=reference, **options)
    def calls(make: Make) -> Iterator[Any]:
        other = make.positive if positive else make.nonzero if divisor else make
        yield make(3, 4), other(3, 4)
        yield make(3, 1), other(1, 4)
        yield make(LARGE), other(LARGE)
        yield make(2, 3), other()
        if number is not None:
            yield make(3, 4), number
        if mixed:
            yield make(2, 3), other(2, 3, dtype="int32")
            # PyTorch rounds a zero-dimensional operand to the 16-bit type first, in some operators.
            yield make(2, 3), other(dtype="int64" if make.is_half else "float64")
            yield make.positive(dtype="int64"), other(4)
        if make.is_floating and special:
            first, second = np.meshgrid(special, special)
            yield forward_only(make.of(first.tolist()), make.of(second.tolist()))

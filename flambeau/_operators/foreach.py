"""``torch._foreach_add`` and the others: an operator applied to each tensor of a list.

Optimisers of other packages use them. Each is made from the operator of that name on first access;
those that end in an underscore change their tensors in place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import flambeau
from flambeau import Tensor

__all__ = ["foreach"]

# Names as words of a text: operators of one, two and three tensors.
_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 "
    "neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)
_BINARY = "add sub mul div clamp_min clamp_max maximum minimum pow"
_TERNARY = "addcdiv addcmul"

_Many = Callable[..., Any]


def foreach(name: str) -> _Many:
    """The function ``_foreach_<name>``; KeyError if there is none."""
    plain = name.removesuffix("_")
    if name in _OTHERS:
        function = _OTHERS[name]
    elif plain in _UNARY.split():
        function = functools.partial(_unary, name)
    elif plain in _BINARY.split():
        function = functools.partial(_binary, name)
    elif plain in _TERNARY.split():
        function = functools.partial(_ternary, name)
    elif plain == "lerp":
        function = functools.partial(_lerp, name)
    else:
        raise KeyError(name)
    function.__doc__ = f"``{plain}`` of each tensor of a list."
    return function


def _unary(name: str, self: Sequence[Tensor]) -> Any:
    return _each(name, [getattr(tensor, name)() for tensor in _tensors(name, self)])


def _binary(name: str, self: Any, other: Any, **options: Any) -> Any:
    if name == "pow" and not isinstance(self, (list, tuple)):
        return tuple(self**exponent for exponent in _tensors(name, other))
    tensors = _tensors(name, self)
    others = _paired(name, tensors, other)
    # Operators that take two tensors only meet numbers here as well.
    operator = {"maximum": "clamp_min", "minimum": "clamp_max"}.get(name.removesuffix("_"))
    method = operator + name[len("maximum") :] if operator else name
    return _each(
        name,
        [getattr(one, method)(by, **options) for one, by in zip(tensors, others, strict=True)],
    )


def _ternary(
    name: str,
    self: Sequence[Tensor],
    tensor1: Sequence[Tensor],
    tensor2: Sequence[Tensor],
    scalars: Any = None,
    *,
    value: Any = 1,
) -> Any:
    tensors = _tensors(name, self)
    values = scalars if scalars is not None else value
    if isinstance(values, Tensor):
        values = values.tolist()
    factors = values if isinstance(values, (list, tuple)) else [values] * len(tensors)
    given = (tensors, _same(name, tensors, tensor1), _same(name, tensors, tensor2))
    return _each(
        name,
        [
            getattr(one, name)(first, second, value=factor)
            for one, first, second, factor in zip(
                *given, _same(name, tensors, factors), strict=True
            )
        ],
    )


def _lerp(name: str, self: Sequence[Tensor], tensors1: Sequence[Tensor], weight: Any) -> Any:
    tensors = _tensors(name, self)
    ends, weights = _same(name, tensors, tensors1), _paired(name, tensors, weight)
    return _each(
        name,
        [
            getattr(one, name)(end, share)
            for one, end, share in zip(tensors, ends, weights, strict=True)
        ],
    )


def _clone(self: Sequence[Tensor]) -> Any:
    return tuple(tensor.clone() for tensor in _tensors("clone", self))


def _copy_(self: Any, src: Sequence[Tensor], non_blocking: bool = False) -> Any:
    for tensor, source in zip(_tensors("copy_", self), _same("copy_", self, src), strict=True):
        tensor.copy_(source, non_blocking)
    return self


def _zero_(self: Sequence[Tensor]) -> None:
    for tensor in _tensors("zero_", self):
        tensor.zero_()


def _max(self: Sequence[Tensor]) -> Any:
    return tuple(tensor.max() for tensor in _tensors("max", self))


def _mm(self: Sequence[Tensor], mat2: Sequence[Tensor]) -> Any:
    pairs = zip(_tensors("mm", self), _same("mm", self, mat2), strict=True)
    return tuple(one.mm(other) for one, other in pairs)


def _norm(self: Sequence[Tensor], ord: Any = 2, dtype: flambeau.dtype | None = None) -> Any:
    norm = flambeau.linalg.vector_norm
    return tuple(norm(tensor, ord, dtype=dtype) for tensor in _tensors("norm", self))


def _powsum(self: Sequence[Tensor], ord: Any = 2, dtype: flambeau.dtype | None = None) -> Any:
    tensors = _tensors("powsum", self)
    return tuple(tensor.abs().to(dtype or tensor.dtype).pow(ord).sum() for tensor in tensors)


_OTHERS: dict[str, _Many] = {
    "clone": _clone,
    "copy_": _copy_,
    "max": _max,
    "mm": _mm,
    "norm": _norm,
    "powsum": _powsum,
    "zero_": _zero_,
}


def _each(name: str, results: list[Tensor]) -> Any:
    return results if name.endswith("_") else tuple(results)


def _tensors(name: str, given: Any) -> Sequence[Tensor]:
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, Tensor) for one in given):
        raise TypeError(f"_foreach_{name}(): expected a list of tensors, not {given!r:.80}")
    if not given:
        raise RuntimeError(f"_foreach_{name}(): the list must have at least one tensor")
    return given


def _paired(name: str, tensors: Sequence[Tensor], given: Any) -> Sequence[Any]:
    """The arguments for each tensor: from a list, or the same for all."""
    if isinstance(given, (list, tuple)):
        return _same(name, tensors, given)
    if isinstance(given, Tensor) and given.dim() > 0:
        raise RuntimeError(
            f"_foreach_{name}(): one tensor for all must have no dimensions, "
            f"got shape {list(given.shape)}"
        )
    return [given] * len(tensors)


def _same(name: str, tensors: Sequence[Any], given: Sequence[Any]) -> Sequence[Any]:
    if len(tensors) != len(given):
        raise RuntimeError(
            f"_foreach_{name}(): the lists must have the same length, "
            f"got {len(tensors)} and {len(given)}"
        )
    return given

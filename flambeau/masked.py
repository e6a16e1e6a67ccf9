"""``torch.masked``: reductions and normalisations of the elements at which a mask is True.

Elsewhere an element counts as what changes nothing: 0 in a sum, minus infinity in a maximum. Over
nothing at all a sum is 0, a mean NaN.
"""

from __future__ import annotations

from typing import Any, NoReturn

import flambeau as fb
from flambeau import Tensor
from flambeau._limits.refusing import refusal

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "as_masked_tensor",
    "cumprod",
    "cumsum",
    "is_masked_tensor",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "masked_tensor",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

_Dims = int | tuple[int, ...] | list[int] | None
_DType = fb.dtype | None
_Mask = Tensor | None


def _prepared(input: Tensor, mask: _Mask, elsewhere: Any, dtype: _DType = None) -> Tensor:
    """The elements in the type of the result, and ``elsewhere`` where the mask is False."""
    values = input if dtype is None else input.to(dtype)
    if mask is None:
        return values
    return fb.where(mask.to(fb.bool).expand(input.shape), values, elsewhere)


def _dims(input: Tensor, dim: _Dims) -> list[int]:
    if dim is None:
        return list(range(input.dim()))
    return [dim] if isinstance(dim, int) else list(dim)


def _count(input: Tensor, dim: _Dims, keepdim: bool, mask: _Mask) -> Tensor:
    """How many elements are meant."""
    meant = fb.ones((), dtype=fb.bool) if mask is None else mask.to(fb.bool)
    return meant.expand(input.shape).sum(_dims(input, dim), keepdim=keepdim)


def _least(dtype: fb.dtype) -> float | int:
    if dtype.is_floating_point:
        return float("-inf")
    return 0 if dtype == fb.bool else fb.iinfo(dtype).min


def _largest(dtype: fb.dtype) -> float | int:
    if dtype.is_floating_point:
        return float("inf")
    return 1 if dtype == fb.bool else fb.iinfo(dtype).max


def sum(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the sum; 0 of nothing."""
    return _prepared(input, mask, 0, dtype).sum(_dims(input, dim), keepdim=keepdim)


def prod(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the product; 1 of nothing."""
    result = _prepared(input, mask, 1, dtype)
    for each in sorted((d % max(input.dim(), 1) for d in _dims(input, dim)), reverse=True):
        result = result.prod(each, keepdim=keepdim)
    return result


def amax(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the maximum; the least number of the type of nothing."""
    elsewhere = _least(dtype or input.dtype)
    return _prepared(input, mask, elsewhere, dtype).amax(_dims(input, dim), keepdim)


def amin(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the minimum; the largest number of the type of nothing."""
    elsewhere = _largest(dtype or input.dtype)
    return _prepared(input, mask, elsewhere, dtype).amin(_dims(input, dim), keepdim)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return where the maximum is, as a number of the type of the elements."""
    found = _prepared(input, mask, _least(input.dtype)).argmax(dim, keepdim)
    return found.to(dtype or input.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return where the minimum is, as a number of the type of the elements."""
    found = _prepared(input, mask, _largest(input.dtype)).argmin(dim, keepdim)
    return found.to(dtype or input.dtype)


def mean(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the mean; NaN of nothing."""
    kind = dtype or input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or "
            f"complex dtype. Got: {kind}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask)
    return total / _count(input, dim, keepdim, mask)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the median, the lower of two; NaN of nothing."""
    values = _prepared(input, mask, float("nan"), dtype)
    return values.nanmedian(dim, keepdim)[0]


def var(
    input: Tensor,
    dim: _Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the variance; NaN of nothing."""
    if unbiased is not None and correction is not None:
        raise ValueError("var: expected only one of unbiased and correction, got both")
    if correction is None:
        correction = 0 if unbiased is False else 1
    has_fractions = input.dtype.is_floating_point or input.dtype.is_complex
    kind = dtype or (input.dtype if has_fractions else fb.get_default_dtype())
    values = input.to(kind)
    distance = values - mean(values, dim, keepdim=True, mask=mask)
    squares = distance * distance.conj() if kind.is_complex else distance.square()
    total = sum(squares, dim, keepdim=keepdim, mask=mask)
    count = _count(input, dim, keepdim, mask)
    share = (count - correction).clamp(min=0).to(total.dtype)
    return fb.where(count > 0, total, float("nan")) / share


def std(
    input: Tensor,
    dim: _Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the standard deviation; NaN of nothing."""
    return var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    ).sqrt()


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the norm; 0 of nothing, and infinity where it is of order minus infinity."""
    order = 2.0 if ord is None else ord
    elsewhere = float("inf") if order == float("-inf") else 0
    values = _prepared(input, mask, elsewhere, dtype)
    return fb.linalg.vector_norm(values, order, _dims(input, dim), keepdim=keepdim)


def logsumexp(
    input: Tensor,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return ``log(sum(exp(input)))``, of whole numbers as a whole one; -inf of nothing."""
    sums = _prepared(input, mask, float("-inf"), dtype).logsumexp(_dims(input, dim), keepdim)
    return sums.to(dtype or input.dtype)


def softmax(input: Tensor, dim: int, *, dtype: _DType = None, mask: _Mask = None) -> Tensor:
    """Return shares that sum to 1, 0 where the mask is False; NaN of nothing."""
    return _prepared(input, mask, float("-inf"), dtype).softmax(dim)


def log_softmax(input: Tensor, dim: int, *, dtype: _DType = None, mask: _Mask = None) -> Tensor:
    """Return the logarithm of `softmax`."""
    return _prepared(input, mask, float("-inf"), dtype).log_softmax(dim)


def softmin(input: Tensor, dim: int, *, dtype: _DType = None, mask: _Mask = None) -> Tensor:
    """Return `softmax` of the negated elements."""
    return softmax(-input, dim, dtype=dtype, mask=mask)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: _DType = None,
    mask: _Mask = None,
) -> Tensor:
    """Return the elements over their norm along ``dim``, 0 where the mask is False."""
    values = _prepared(input, mask, 0, dtype)
    return values / norm(values, ord, dim, keepdim=True, mask=mask).clamp(min=eps)


def cumsum(input: Tensor, dim: int, *, dtype: _DType = None, mask: _Mask = None) -> Tensor:
    """Return the sums so far along ``dim``."""
    return _prepared(input, mask, 0, dtype).cumsum(dim)


def cumprod(input: Tensor, dim: int, *, dtype: _DType = None, mask: _Mask = None) -> Tensor:
    """Return the products so far along ``dim``."""
    return _prepared(input, mask, 1, dtype).cumprod(dim)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: _DType = None,
    input_mask: _Mask = None,
    other_mask: _Mask = None,
) -> Tensor:
    """Return ``log(exp(input) + exp(other))``, where a mask that is False leaves its part out."""
    return fb.logaddexp(
        _prepared(input, input_mask, float("-inf"), dtype),
        _prepared(other, other_mask, float("-inf"), dtype),
    )


def is_masked_tensor(a: Any, /) -> bool:
    """Whether a tensor carries its mask with it: none does."""
    return False


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> NoReturn:
    """Raise: the functions of this module take the mask as an argument."""
    raise refusal("masked.masked_tensor")


as_masked_tensor = masked_tensor

"""Covariance and small constructions over samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import flambeau as fb
from flambeau import Tensor
from flambeau._operators.unrecorded import unrecorded


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance matrix of variables (rows) over observations (columns).

    ``fweights`` counts how often each observation was seen, ``aweights`` says how much it matters;
    the sum of products is divided by the number of observations less ``correction``.
    """
    if input.dim() > 2:
        raise RuntimeError(f"cov: expected at most 2 dimensions, got {tuple(input.shape)}")
    if input.dtype == fb.bool:
        raise RuntimeError("cov: bool is not supported")
    samples = input.reshape(1, -1) if input.dim() < 2 else input
    if not (samples.is_floating_point() or samples.is_complex()):
        samples = samples.to(fb.get_default_dtype())
    count = samples.size(1)
    weights = _observation_weights(count, fweights, aweights)
    if weights is None:
        centred = samples - samples.mean(1, keepdim=True)
        weighted = centred
        divisor: Tensor | int = max(count - correction, 0)
    else:
        total = weights.sum()
        centred = samples - (samples * weights).sum(1, keepdim=True) / total
        weighted = centred * weights
        lost = 1 if aweights is None else (weights * aweights).sum() / total
        divisor = (total - correction * lost).clamp(min=0)
    return (weighted @ centred.t().conj() / divisor).squeeze()


def _observation_weights(
    count: int, fweights: Tensor | None, aweights: Tensor | None
) -> Tensor | None:
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        if weights.dim() > 1 or weights.numel() != count:
            raise RuntimeError(f"cov: expected {count} {name}, got {tuple(weights.shape)}")
        if weights.is_floating_point() != (name == "aweights"):
            kind = "floating-point" if name == "aweights" else "integral"
            raise RuntimeError(f"cov: expected {name} of {kind} dtype, got {weights.dtype}")
        with unrecorded():
            if weights.numel() and weights.min().item() < 0:
                raise RuntimeError(f"cov: {name} cannot be negative")
    if fweights is None or aweights is None:
        return fweights if aweights is None else aweights
    return fweights * aweights


def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients of variables (rows); NaN for a constant variable."""
    if input.dim() > 2:
        raise RuntimeError(f"corrcoef: expected at most 2 dimensions, got {tuple(input.shape)}")
    covariance = cov(input)
    if covariance.dim() == 0:
        return covariance / covariance
    deviation = (covariance.diag().real if covariance.is_complex() else covariance.diag()).sqrt()
    result = covariance / deviation.unsqueeze(1) / deviation
    return result if result.is_complex() else result.clamp(-1, 1)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of ``x``, one row per element; the highest power comes first unless ``increasing``."""
    if x.dim() != 1:
        raise RuntimeError(f"vander: expected a 1-d tensor, got {tuple(x.shape)}")
    columns = x.numel() if N is None else N
    if columns < 0:
        raise RuntimeError(f"vander: expected N >= 0, got {columns}")
    first = x.new_ones(x.numel(), min(columns, 1))
    rest = x.unsqueeze(1).expand(-1, max(columns - 1, 0))
    powers = fb.cat([first, rest], 1).cumprod(1)
    return powers if increasing else powers.flip(1)


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Coordinates in a tensor of ``shape`` from indices into its flattened form."""
    if not isinstance(indices, Tensor) or indices.is_floating_point() or indices.is_complex():
        kind = indices.dtype if isinstance(indices, Tensor) else type(indices).__name__
        raise TypeError(f"expected 'indices' to be integer dtype, but got {kind}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    # A size of 0 has no coordinates; 1 in its place keeps the arithmetic defined.
    extents = fb.tensor([max(size, 1) for size in sizes], dtype=fb.int64, device=indices.device)
    steps = [math.prod(sizes[dim + 1 :]) or 1 for dim in range(len(sizes))]
    strides = fb.tensor(steps, dtype=fb.int64, device=indices.device)
    rows = indices.to(fb.int64).unsqueeze(-1)
    return (rows.div(strides, rounding_mode="floor") % extents).unbind(-1)

"""``Tensor.describe``: a one-line summary of a tensor."""

from __future__ import annotations

from dataclasses import dataclass

import flambeau as fb
from flambeau import Tensor

__all__ = ["Description", "describe", "readable_bytes"]


@dataclass(frozen=True)
class Description:
    """The statistics of a tensor. Range, mean and deviation are those of its finite elements."""

    shape: tuple[int, ...]
    dtype: fb.dtype
    device: fb.device
    nbytes: int
    requires_grad: bool
    min: float | None  # None where there is no finite element, or no order
    max: float | None
    mean: complex | float | None
    std: float | None  # exact, not estimated from a sample
    nan: int
    inf: int
    zeros: int

    @property
    def numel(self) -> int:
        count = 1
        for size in self.shape:
            count *= size
        return count

    def __repr__(self) -> str:
        parts = [f"{str(self.dtype).removeprefix('torch.')} {_by(self.shape)}"]
        if self.min is not None and self.max is not None:
            parts.append(f"range {_short(self.min)} .. {_short(self.max)}")
        if self.mean is not None and self.std is not None:
            parts.append(f"mean {_short(self.mean)}, std {_short(self.std)}")
        if self.numel:
            parts.append(f"zero {100 * self.zeros / self.numel:.3g} %")
        parts.append(f"nan {self.nan}, inf {self.inf}")
        parts.append(readable_bytes(self.nbytes))
        if self.device.type != "cpu":
            parts.append(str(self.device))
        if self.requires_grad:
            parts.append("requires grad")
        return " | ".join(parts)


def describe(self: Tensor) -> Description:
    """Range, mean, deviation and the number of NaN, infinite and zero elements, in one line."""
    with fb.no_grad():
        elements = self.detach()
        nan, inf = int(elements.isnan().sum()), int(elements.isinf().sum())
        finite = elements[elements.isfinite()] if nan or inf else elements
        low = high = std = None
        mean: complex | float | None = None
        if finite.numel():
            wide = finite.to(fb.complex128 if finite.is_complex() else fb.float64)
            mean, std = wide.mean().item(), float(wide.std(correction=0))
            if not finite.is_complex():
                low, high = float(wide.min()), float(wide.max())
        return Description(
            shape=tuple(self.shape),
            dtype=self.dtype,
            device=self.device,
            nbytes=self.numel() * self.element_size(),
            requires_grad=self.requires_grad,
            min=low,
            max=high,
            mean=mean,
            std=std,
            nan=nan,
            inf=inf,
            zeros=int((elements == 0).sum()),
        )


def readable_bytes(count: float) -> str:
    """Format a number of bytes."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _by(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) if shape else "scalar"


def _short(value: complex) -> str:
    return f"{value:.4g}"

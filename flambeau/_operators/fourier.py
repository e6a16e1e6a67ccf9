"""Fourier transforms: arguments, norms and dtypes, then one of three kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor


class _Plan:
    """Dimensions and lengths of a transform; the last one may be half of a spectrum."""

    def __init__(
        self,
        name: str,
        input: Tensor,
        s: int | Sequence[int] | None,
        dim: int | Sequence[int] | None,
        halved_input: bool,
    ) -> None:
        self.name = name
        self.shape = input.shape
        given = [s] if isinstance(s, int) else None if s is None else list(s)
        self.dims = self._dims(given, dim)
        self.is_whole = given is None
        self.sizes = self._sizes(given, halved_input)

    def _error(self, message: str) -> RuntimeError:
        return RuntimeError(f"fft.{self.name}: {message}")

    def _dims(self, given: list[int] | None, dim: int | Sequence[int] | None) -> list[int]:
        count = len(self.shape)
        if dim is None:
            chosen = count if given is None else len(given)
            if chosen > count:
                raise self._error(f"got {chosen} lengths for the shape {tuple(self.shape)}")
            return list(range(count - chosen, count))
        dims = [dim] if isinstance(dim, int) else list(dim)
        for d in dims:
            if count == 0:
                raise IndexError(f"fft.{self.name}: input has no dimensions, got dim {d}")
            if not -count <= d < count:
                raise IndexError(
                    f"fft.{self.name}: Dimension out of range (expected to be in range of "
                    f"[{-count}, {count - 1}], but got {d})"
                )
        wrapped = [d % count for d in dims]
        if len(wrapped) > 1 and len(set(wrapped)) < len(wrapped):
            raise self._error(f"expected different dimensions, got {dims}")
        if given is not None and len(given) != len(wrapped):
            raise self._error(f"got {len(given)} lengths for {len(wrapped)} dimensions")
        return wrapped

    def _sizes(self, given: list[int] | None, halved_input: bool) -> list[int]:
        shape = self.shape
        result = [shape[d] for d in self.dims]
        if halved_input and result:
            result[-1] = 2 * (result[-1] - 1)
        for i, size in enumerate(given or ()):
            if size != -1:
                result[i] = size
        for size in result:
            if size < 1:
                raise self._error(f"expected at least one data point, got lengths {result}")
        return result

    def scale(self, norm: str | None, forward: bool) -> float:
        """The factor of the transform: 1, 1/n or 1/sqrt(n) with n the number of points."""
        if norm is None and forward:
            return 1.0
        if not isinstance(norm, str | None):
            raise TypeError(
                f"fft.{self.name}: argument 'norm' must be str, not {type(norm).__name__}"
            )
        points = math.prod(self.sizes)
        if norm == "ortho":
            return 1 / math.sqrt(points)
        if norm not in (None, "backward", "forward"):
            raise self._error(f"expected norm 'backward', 'forward' or 'ortho', got {norm!r}")
        return 1 / points if (norm == "forward") == forward else 1.0

    def fitted(self, input: Tensor, halved_input: bool) -> Tensor:
        """The input, cropped or zero-padded to the lengths of the transform."""
        if self.is_whole:
            return input
        wanted = list(self.sizes)
        if halved_input and wanted:
            wanted[-1] = wanted[-1] // 2 + 1
        missing = [0] * input.dim()
        for d, size in zip(self.dims, wanted, strict=True):
            if size < input.size(d):
                input = input.narrow(d, 0, size)
            missing[d] = size - input.size(d)
        if not any(missing):
            return input
        return _C.constant_pad_nd(input, [n for d in reversed(missing) for n in (0, d)])


def _supported(name: str, input: Tensor, allow_complex: bool = True) -> Tensor:
    """The input in a dtype that has transforms: integers become the default float."""
    if input.dtype in (fb.float16, fb.bfloat16):
        raise RuntimeError(f"fft.{name}: unsupported dtype {input.dtype}")
    if input.is_complex():
        if not allow_complex:
            raise RuntimeError(f"fft.{name}: expected a real input tensor, got {input.dtype}")
        return input
    return input if input.is_floating_point() else input.to(fb.get_default_dtype())


def _as_complex(input: Tensor) -> Tensor:
    if input.is_complex():
        return input
    return input.to(fb.complex128 if input.dtype == fb.float64 else fb.complex64)


def _complex_to_complex(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    input = _supported(name, input)
    plan = _Plan(name, input, s, dim, halved_input=False)
    scale = plan.scale(norm, forward)
    fitted = plan.fitted(input, halved_input=False)
    if plan.dims and not fitted.is_complex():
        result = _C._fft_r2c(fitted, plan.dims, scale, False)
        # Of real input, the backward transform is the conjugate of the forward one.
        return result if forward else result.conj()
    return _C._fft_c2c(_as_complex(fitted), plan.dims, scale, forward)


def _real_to_complex(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    input = _supported(name, input, allow_complex=False)
    plan = _Plan(name, input, s, dim, halved_input=False)
    if not plan.dims:
        raise RuntimeError(f"fft.{name}: must transform at least one axis")
    fitted = plan.fitted(input, halved_input=False)
    scale = plan.scale(norm, forward)
    if forward:
        return _C._fft_r2c(fitted, plan.dims, scale, True)
    # Backward is forward with the opposite sign in the exponent: for real input, the conjugate.
    result = _C._fft_r2c(fitted, plan.dims[-1:], scale, True).conj()
    if len(plan.dims) > 1:
        result = _C._fft_c2c(result, plan.dims[:-1], 1.0, False)
    return result


def _complex_to_real(
    name: str, input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool
) -> Tensor:
    input = _as_complex(_supported(name, input))
    plan = _Plan(name, input, s, dim, halved_input=True)
    if not plan.dims:
        raise RuntimeError(f"fft.{name}: must transform at least one axis")
    fitted = plan.fitted(input, halved_input=True)
    fitted = fitted.conj() if forward else fitted
    return _C._fft_c2r(fitted, plan.dims, plan.scale(norm, forward), plan.sizes[-1])


_Kernel = Callable[[str, Tensor, Any, Any, "str | None", bool], Tensor]


def _one_dimensional(name: str, kernel: _Kernel, forward: bool) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        n: int | None = None,
        dim: int = -1,
        norm: str | None = None,
    ) -> Tensor:
        if n == -1:  # which means the whole dimension only in the transforms of several
            raise RuntimeError(f"fft.{name}: expected at least one data point, got lengths [-1]")
        return kernel(name, input, n, dim, norm, forward)

    function.__name__ = name
    return function


def _several_dimensional(
    name: str, kernel: _Kernel, forward: bool, default: tuple[int, ...] | None
) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        s: Sequence[int] | None = None,
        dim: Sequence[int] | None = default,
        norm: str | None = None,
    ) -> Tensor:
        if dim is None and default is not None:
            raise TypeError(f"fft.{name}: argument 'dim' must be tuple of ints, not NoneType")
        return kernel(name, input, s, dim, norm, forward)

    function.__name__ = name
    return function


fft = _one_dimensional("fft", _complex_to_complex, True)
ifft = _one_dimensional("ifft", _complex_to_complex, False)
rfft = _one_dimensional("rfft", _real_to_complex, True)
irfft = _one_dimensional("irfft", _complex_to_real, False)
hfft = _one_dimensional("hfft", _complex_to_real, True)
ihfft = _one_dimensional("ihfft", _real_to_complex, False)

fft2 = _several_dimensional("fft2", _complex_to_complex, True, (-2, -1))
ifft2 = _several_dimensional("ifft2", _complex_to_complex, False, (-2, -1))
rfft2 = _several_dimensional("rfft2", _real_to_complex, True, (-2, -1))
irfft2 = _several_dimensional("irfft2", _complex_to_real, False, (-2, -1))
hfft2 = _several_dimensional("hfft2", _complex_to_real, True, (-2, -1))
ihfft2 = _several_dimensional("ihfft2", _real_to_complex, False, (-2, -1))

fftn = _several_dimensional("fftn", _complex_to_complex, True, None)
ifftn = _several_dimensional("ifftn", _complex_to_complex, False, None)
rfftn = _several_dimensional("rfftn", _real_to_complex, True, None)
irfftn = _several_dimensional("irfftn", _complex_to_real, False, None)
hfftn = _several_dimensional("hfftn", _complex_to_real, True, None)
ihfftn = _several_dimensional("ihfftn", _real_to_complex, False, None)


def _frequency_unit(name: str, n: int, d: float, options: dict[str, Any]) -> float:
    """Fill in the dtype and return the distance of two frequencies."""
    dtype = options.setdefault("dtype", fb.get_default_dtype())
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"fft.{name}: expected a floating point or complex dtype, got {dtype}")
    length = n * d
    return 1.0 / length if length != 0 else math.copysign(math.inf, length)


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Frequencies of fft's result: those from the middle on are negative."""
    unit = _frequency_unit("fftfreq", n, d, options)
    order = fb.arange(n, **options)
    half = (n + 1) // 2
    order[half:] -= n
    return order * unit


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Frequencies of rfft's result."""
    unit = _frequency_unit("rfftfreq", n, d, options)
    return fb.arange(n // 2 + 1, **options) * unit


def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Roll each dimension by half of its size, so that frequency zero is in the middle."""
    dims = _shifted_dims(input, dim)
    return input.roll([input.size(d) // 2 for d in dims], dims)


def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Undo fftshift."""
    dims = _shifted_dims(input, dim)
    return input.roll([(input.size(d) + 1) // 2 for d in dims], dims)


def _shifted_dims(input: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    if dim is None:
        return list(range(input.dim()))
    return [dim] if isinstance(dim, int) else list(dim)

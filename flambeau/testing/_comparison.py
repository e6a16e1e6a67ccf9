"""``assert_close``: compare tensors, numbers and nested containers of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import flambeau as fb
from flambeau import Tensor

# (rtol, atol) by element type; every other type is compared exactly.
_TOLERANCES = {
    "torch.float16": (1e-3, 1e-5),
    "torch.bfloat16": (1.6e-2, 1e-5),
    "torch.float32": (1.3e-6, 1e-5),
    "torch.float64": (1e-7, 1e-7),
    "torch.complex64": (1.3e-6, 1e-5),
    "torch.complex128": (1e-7, 1e-7),
}
# Those of assert_allclose.
_OLDER_TOLERANCES = {
    "torch.float16": (1e-3, 1e-3),
    "torch.float32": (1e-4, 1e-5),
    "torch.float64": (1e-5, 1e-8),
}


@dataclass(frozen=True)
class _Options:
    rtol: float | None
    atol: float | None
    equal_nan: bool
    allow_subclasses: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise unless |actual - expected| <= atol + rtol |expected| for every element.

    Compares tensors, NumPy arrays, numbers, None, and sequences and mappings of them.

    Args:
        actual: What was computed.
        expected: What it should be.
        allow_subclasses: Whether subclasses of tensor may be compared. Default: True.
        rtol: Relative tolerance. Default: by the element type.
        atol: Absolute tolerance. Default: by the element type; both or none are given.
        equal_nan: Whether NaN equals NaN. Default: False.
        check_device: Whether devices must be the same. Default: True.
        check_dtype: Whether element types must be the same. Default: True.
        check_layout: Whether layouts must be the same. Default: True.
        check_stride: Whether strides must be the same. Default: False.
        msg: Message of the error, or function of the usual one. Default: None.

    Raises:
        AssertionError: They differ; the message tells where and by how much.

    Example:
        >>> torch.testing.assert_close(torch.tensor(1.0), torch.tensor(1.0 + 1e-7))
        >>> torch.testing.assert_close([1, 2], [1, 2])

    See also:
        `torch.allclose`.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
        )
    options = _Options(
        rtol,
        atol,
        equal_nan,
        allow_subclasses,
        check_device,
        check_dtype,
        check_layout,
        check_stride,
    )
    try:
        _compare(actual, expected, options, "")
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(actual: Any, expected: Any, options: _Options, path: str) -> None:
    try:
        if _are_sequences(actual, expected):
            _compare_sequences(actual, expected, options, path)
        elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
            _compare_mappings(actual, expected, options, path)
        else:
            _compare_leaves(actual, expected, options)
    except _Mismatch as mismatch:
        where = f"\n\nThe failure occurred for item {path}" if path else ""
        raise AssertionError(f"{mismatch}{where}") from None


class _Mismatch(Exception):
    """A difference, before the place of it in the containers is known."""


def _are_sequences(actual: Any, expected: Any) -> bool:
    return all(
        isinstance(value, Sequence) and not isinstance(value, str) for value in (actual, expected)
    )


def _compare_sequences(
    actual: Sequence[Any], expected: Sequence[Any], options: _Options, path: str
) -> None:
    if len(actual) != len(expected):
        raise _Mismatch(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
    for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
        _compare(one, other, options, f"{path}[{i}]")


def _compare_mappings(
    actual: Mapping[Any, Any], expected: Mapping[Any, Any], options: _Options, path: str
) -> None:
    missing = [key for key in expected if key not in actual]
    additional = [key for key in actual if key not in expected]
    if missing or additional:
        raise _Mismatch(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {missing}\n"
            f"Additional keys in the actual mapping: {additional}"
        )
    for key in expected:
        _compare(actual[key], expected[key], options, f"{path}[{key!r}]")


def _compare_leaves(actual: Any, expected: Any, options: _Options) -> None:
    if actual is None or expected is None:
        if actual is not expected:
            raise _Mismatch(f"None mismatch: {actual} is not {expected}")
    elif isinstance(actual, bool) and isinstance(expected, bool):
        if actual is not expected:
            raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}")
    elif _are_numbers(actual, expected):
        if options.check_dtype and type(actual) is not type(expected):
            raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
        _compare_tensors(_as_tensor(actual), _as_tensor(expected), options, check_kind=False)
    elif _are_tensor_like(actual, expected, options):
        _compare_tensors(_as_tensor(actual), _as_tensor(expected), options, check_kind=True)
    else:
        raise TypeError(
            "No comparison pair was able to handle inputs of type "
            f"{type(actual)} and {type(expected)}."
        )


def _are_numbers(actual: Any, expected: Any) -> bool:
    return all(isinstance(value, (int, float, complex)) for value in (actual, expected))


def _are_tensor_like(actual: Any, expected: Any, options: _Options) -> bool:
    if not options.allow_subclasses and type(actual) is not type(expected):
        return False
    kinds = [
        "tensor" if isinstance(value, Tensor) else hasattr(value, "__array__") and type(value)
        for value in (actual, expected)
    ]
    return bool(kinds[0]) and kinds[0] == kinds[1]


def _as_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, float):
        return fb.tensor(value, dtype=fb.float64)
    if isinstance(value, complex):
        return fb.tensor(value, dtype=fb.complex128)
    return fb.as_tensor(value)


def _compare_tensors(actual: Tensor, expected: Tensor, options: _Options, check_kind: bool) -> None:
    if check_kind:
        _compare_attributes(actual, expected, options)
    rtol, atol = _tolerances(actual.dtype, expected.dtype, options)
    if actual.dtype != expected.dtype:
        dtype = fb.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(dtype), expected.to(dtype)
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    actual, expected = actual.to_dense(), expected.to_dense()
    close = fb.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if not close.all():
        raise _Mismatch(_difference(actual, expected, close, rtol, atol))


def _compare_attributes(actual: Tensor, expected: Tensor, options: _Options) -> None:
    checks = [
        (True, "shape", actual.shape, expected.shape),
        (options.check_layout, "layout", actual.layout, expected.layout),
        (options.check_stride, "stride()", actual.stride(), expected.stride()),
        (options.check_device, "device", actual.device, expected.device),
        (options.check_dtype, "dtype", actual.dtype, expected.dtype),
    ]
    for is_checked, name, one, other in checks:
        if is_checked and one != other:
            raise _Mismatch(f"The values for attribute '{name}' do not match: {one} != {other}.")


def _tolerances(one: fb.dtype, other: fb.dtype, options: _Options) -> tuple[float, float]:
    """Given ones, or the wider of those that belong to the two types."""
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    pairs = [_TOLERANCES.get(str(dtype), (0.0, 0.0)) for dtype in (one, other)]
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def _difference(actual: Tensor, expected: Tensor, close: Tensor, rtol: float, atol: float) -> str:
    is_exact = rtol == atol == 0
    verdict = "equal" if is_exact else "close"
    allowed_absolute = "" if is_exact else f" (up to {atol} allowed)"
    allowed_relative = "" if is_exact else f" (up to {rtol} allowed)"
    if actual.dim() == 0:
        one, other = actual.item(), expected.item()
        absolute = abs(one - other)
        relative = absolute / abs(other) if other else math.inf
        return (
            f"Scalars are not {verdict}!\n\n"
            f"Expected {other} but got {one}.\n"
            f"Absolute difference: {absolute}{allowed_absolute}\n"
            f"Relative difference: {relative}{allowed_relative}"
        )
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        actual, expected = actual.to(fb.int64), expected.to(fb.int64)
    absolute_of_all = (actual - expected).abs()
    # Elements that are close (infinities, say) must not hide the greatest of those that are not.
    absolute_of_all[close] = 0
    relative_of_all = absolute_of_all / expected.abs()
    relative_of_all[close] = 0
    mismatched, total = int((~close).sum().item()), close.numel()
    greatest_absolute, absolute_index = _greatest(absolute_of_all)
    greatest_relative, relative_index = _greatest(relative_of_all)
    return (
        f"Tensor-likes are not {verdict}!\n\n"
        f"Mismatched elements: {mismatched} / {total} ({mismatched / total:.1%})\n"
        f"Greatest absolute difference: {greatest_absolute} at index {absolute_index}"
        f"{allowed_absolute}\n"
        f"Greatest relative difference: {greatest_relative} at index {relative_index}"
        f"{allowed_relative}"
    )


def _greatest(values: Tensor) -> tuple[Any, tuple[int, ...]]:
    flat = int(values.argmax().item())
    value = values.reshape(-1)[flat].item()
    index = []
    for size in reversed(values.shape):
        flat, position = divmod(flat, size)
        index.append(position)
    return value, tuple(reversed(index))


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older `assert_close`, which compares values alone; numbers and lists become tensors."""
    warnings.warn(
        "torch.testing.assert_allclose is deprecated since 1.12; use torch.testing.assert_close",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, Tensor):
        actual = fb.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = fb.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        both = (_OLDER_TOLERANCES.get(str(each.dtype), (0.0, 0.0)) for each in (actual, expected))
        rtol, atol = map(max, zip(*both, strict=True))
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_device=True,
        check_dtype=False,
        msg=msg or None,
    )

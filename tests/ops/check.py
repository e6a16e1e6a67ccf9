"""Turning results into NumPy and comparing them, with both values in the message."""

from typing import Any

import numpy as np

from tests.ops import dtypes
from tests.ops.registry import Sample, Samples


def dtype_name(value: Any) -> str:
    """`float32` for a tensor of any module."""
    return str(value.dtype).rpartition(".")[2]


def is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr")


def outputs(result: Any) -> list[Any]:
    """The parts of a result as a flat list; a Size and a list of numbers stay one value."""
    if isinstance(result, (list, tuple)) and any(is_tensor(part) for part in result):
        return [leaf for part in result for leaf in outputs(part)]
    return [result]


def to_numpy(value: Any) -> np.ndarray:
    """A tensor's values, in the carrier of its dtype."""
    if not is_tensor(value):
        return np.asarray(value)
    if dtype_name(value) == "bfloat16":
        value = value.float()
    # A conjugated view of torch has no NumPy form; a copy of its values has.
    value = getattr(value, "resolve_conj", lambda: value)()
    value = getattr(value, "resolve_neg", lambda: value)()
    return value.detach().numpy()


def assert_values(
    actual: np.ndarray, expected: np.ndarray, tolerance: tuple[float, float], what: str
) -> None:
    """Equal shapes and values up to `tolerance`; NaN equals NaN."""
    assert actual.shape == expected.shape, (
        f"{what}: shape {actual.shape}, expected {expected.shape}"
    )
    if np.array_equal(actual, expected):
        return
    if actual.dtype.kind in "fc":
        rtol, atol = tolerance
        np.testing.assert_allclose(actual, expected, rtol, atol, equal_nan=True, err_msg=what)
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=what)


def assert_identical(actual: Any, expected: Any, what: str) -> None:
    """Two results of the same computation: same structure, dtype, shape and bits."""
    left, right = outputs(actual), outputs(expected)
    assert len(left) == len(right), f"{what}: {len(left)} outputs, expected {len(right)}"
    for a, b in zip(left, right, strict=True):
        if is_tensor(b):
            assert dtype_name(a) == dtype_name(b), f"{what}: {a.dtype}, expected {b.dtype}"
            a, b = to_numpy(a), to_numpy(b)
            assert a.shape == b.shape, f"{what}: shape {a.shape}, expected {b.shape}"
            np.testing.assert_array_equal(a, b, err_msg=what)
        else:
            assert _equal(a, b), f"{what}: {a!r}, expected {b!r}"


def assert_matches_reference(result: Any, expected: Any, owner: Samples, sample: Sample) -> None:
    """A result of Flambeau against what the reference gave in double precision."""
    actual = outputs(result)
    wanted = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    if not is_tensor(actual[0]):
        wanted = [expected]
    what = f"{owner.operator}{sample!r}"
    tolerances = [
        owner.tolerance_for(sample, dtype_name(a)) if is_tensor(a) else (1e-6, 1e-6) for a in actual
    ]
    if owner.through is not None:
        assert_through(actual, wanted, tolerances, owner, what)
        return
    assert len(actual) == len(wanted), f"{what}: {len(actual)} outputs, expected {len(wanted)}"
    for a, b, tolerance in zip(actual, wanted, tolerances, strict=True):
        if not is_tensor(a):
            assert _equal(a, b, tolerance), f"{what}: {a!r}, expected {b!r}"
            continue
        name, b = dtype_name(a), np.asarray(b)
        assert _same_category(name, b), f"{what}: {a.dtype}, expected a type like {b.dtype}"
        _assert_precision(name, owner, sample, what)
        assert_values(to_numpy(a), dtypes.rounded(b, name), tolerance, what)


def assert_through(
    actual: list[Any],
    wanted: list[Any],
    tolerances: list[tuple[float, float]],
    owner: Samples,
    what: str,
) -> None:
    """Compare what `owner.through` makes of both results, as the results are not unique."""
    assert owner.through is not None
    seen = owner.through(*(to_numpy(a) for a in actual))
    expected = owner.through(*(to_numpy(b) for b in wanted))
    seen, expected = (each if isinstance(each, tuple) else (each,) for each in (seen, expected))
    assert len(seen) == len(expected), f"{what}: {len(seen)} outputs, expected {len(expected)}"
    for a, b in zip(seen, expected, strict=True):
        assert_values(np.asarray(a), np.asarray(b), max(tolerances), what)


def _equal(a: Any, b: Any, tolerance: tuple[float, float] = (0.0, 0.0)) -> bool:
    """Whether two results that are no tensors agree: numbers, arrays, sizes, names."""
    if isinstance(b, (np.ndarray, float, complex)):
        return bool(np.allclose(a, b, *tolerance, equal_nan=True))
    return bool(a == b)


def _same_category(name: str, expected: np.ndarray) -> bool:
    kinds = {"bool": "b", "integral": "iu", "floating": "f", "complex": "c"}
    return expected.dtype.kind in kinds[dtypes.category(name)]


def _assert_precision(name: str, owner: Samples, sample: Sample, what: str) -> None:
    """A floating result of floating inputs of one precision has that precision."""
    if not owner.keeps_precision or sample.kwargs.get("dtype") is not None:
        return
    used = {dtypes.precision(each.dtype) for each in sample.inputs()} - {None}
    got = dtypes.precision(name)
    if got is not None and len(used) == 1:
        assert {got} == used, f"{what}: result is {name}, inputs are {used.pop()}"

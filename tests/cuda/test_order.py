"""Sorting, selection, scans, searches, counts and sparse positions against the CPU."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from tests.cuda.moving import CUDA, to_host

NAN = float("nan")
# Of a warp, a block, a row that one block sorts, and more than one tile of a radix sort.
LENGTHS = (1, 31, 33, 257, 1000, 2500)
REALS = ("float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8", "bool")


def values(dtype: str, *shape: int) -> Any:
    """Few different values, with NaN and both zeros where the type has them."""
    fb.manual_seed(sum(shape))
    x = (fb.randn(*shape) * 20).round()
    if "float" in dtype:
        x = fb.where(fb.rand(*shape) < 0.05, NAN, x)
        x = fb.where(fb.rand(*shape) < 0.05, -0.0, x)
    else:
        x = x.abs()
    return x.to(getattr(fb, dtype))


def parts(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def assert_equal(function: Callable[..., Any], *args: Any, close: bool = False) -> None:
    """The function gives on the device what it gives on the CPU."""
    expected = parts(function(*args))
    there = [a.to(CUDA) if isinstance(a, fb.Tensor) else a for a in args]
    found = parts(function(*there))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.device.type == "cuda"
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        a, b = (t.float() if t.dtype == fb.bfloat16 else t for t in (to_host(ours), theirs))
        tolerance = 0 if not close else 1e-2 if theirs.dtype == fb.bfloat16 else 1e-5
        np.testing.assert_allclose(a.numpy(), b.numpy(), tolerance, tolerance)


@pytest.mark.parametrize("dtype", REALS)
def test_rows_are_sorted(dtype: str) -> None:
    for n in LENGTHS:
        x = values(dtype, 3, n)
        for descending in (False, True):
            assert_equal(lambda t, down=descending: t.sort(-1, down), x)
        assert_equal(lambda t: t.mode(-1), x)
    assert_equal(lambda t: t.argsort(0), values(dtype, 4, 3))
    assert_equal(lambda t: t.t().sort(1), values(dtype, 7, 5))
    assert_equal(lambda t: t.sort(-1), values(dtype, 2, 0))


@pytest.mark.parametrize("dtype", [d for d in REALS if d != "bool"])
def test_elements_are_selected(dtype: str) -> None:
    for n in LENGTHS:
        x = values(dtype, 2, n)
        for k in {1, n // 9 + 1, n}:
            assert_equal(lambda t, k=k: t.topk(k), x)
            assert_equal(lambda t, k=k: t.topk(k, largest=False), x)
            assert_equal(lambda t, k=k: t.kthvalue(k), x)
        assert_equal(lambda t: t.median(-1), x)
        assert_equal(lambda t: t.nanmedian(-1), x)


def test_a_long_row_is_cut_into_parts() -> None:
    fb.manual_seed(0)
    x = fb.randint(-300, 300, (20000,))
    assert_equal(lambda t: t.sort(), x)
    assert_equal(lambda t: t.topk(50), x)
    assert_equal(lambda t: t.kthvalue(7000), x)
    assert_equal(lambda t: t.mode(), x)
    assert_equal(lambda t: t.cumsum(0), x)
    assert_equal(lambda t: t.cummax(0), x)
    assert_equal(lambda t: (t > 200).nonzero(), x)
    assert_equal(lambda t: t.unique(return_inverse=True, return_counts=True), x)


# Elements of a tile of a radix sort, by their bytes.
SORT_TILE = {1: 5120, 2: 5120, 4: 5120, 8: 2560}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int64", "uint8"])
def test_tiles_are_sorted(dtype: str) -> None:
    tile = SORT_TILE[values(dtype, 1).element_size()]
    for n in (tile - 1, tile, tile + 1, 3 * tile + 7):
        x = values(dtype, n)
        assert_equal(lambda t: t.sort(stable=True), x)
        assert_equal(lambda t: t.sort(descending=True)[0], x)
    rows = values(dtype, 3, tile + 5)
    assert_equal(lambda t: t.sort(-1), rows)
    assert_equal(lambda t: t.t().argsort(0), rows)
    assert_equal(lambda t: t.topk(tile // 2), rows)
    assert_equal(lambda t: t.unique(), rows)


def test_bytes_that_are_alike_are_left_out() -> None:
    fb.manual_seed(0)
    x = fb.randint(0, 256, (6000,))
    assert_equal(lambda t: t.sort(), fb.full((6000,), 7))
    assert_equal(lambda t: t.sort(), fb.full((6000,), NAN))
    assert_equal(lambda t: t.sort(), x << 40)
    assert_equal(lambda t: t.sort(), (x << 56) + (x.flip(0) << 8))
    assert_equal(lambda t: t.sort(), (x << 56 | 5 << 30) + (x.flip(0) << 16) + (x % 3))
    # Each row is of one value: nothing is to be done, and rows differ.
    assert_equal(lambda t: t.sort(-1), x[:3, None].expand(3, 3000).contiguous())
    assert_equal(lambda t: t.sort(-1), x.reshape(2, 3000) + (fb.arange(2)[:, None] << 33))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bfloat16", "complex64"])
def test_scans(dtype: str) -> None:
    fb.manual_seed(0)
    for shape in ((1,), (3, 31), (33, 3), (1, 257), (2, 1000), (300, 2), (2, 2, 2)):
        x = (fb.randn(*shape) * 0.1 + 1).to(getattr(fb, dtype))
        for dim in range(len(shape)):
            assert_equal(lambda t, d=dim: t.cumsum(d), x, close=True)
            assert_equal(lambda t, d=dim: t.cumprod(d), x, close=True)
            if dtype == "int64":
                continue
            assert_equal(lambda t, d=dim: t.logcumsumexp(d), x, close=True)
            if dtype == "complex64":
                continue
            with_nan = fb.where(x > 1.25, fb.tensor(NAN, dtype=x.dtype), (x * 9).round())
            assert_equal(lambda t, d=dim: t.cummax(d), with_nan)
            assert_equal(lambda t, d=dim: t.cummin(d), with_nan)
    assert_equal(lambda t: t.cumsum(1), fb.zeros(3, 0).to(getattr(fb, dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex128"])
def test_long_rows_are_scanned(dtype: str) -> None:
    """Rows for a warp, for a block, and rows that are cut into chunks."""
    fb.manual_seed(0)
    for shape in ((9, 2047), (3, 2048), (2, 2049), (2, 9003), (16384,), (3, 16388), (2, 20001)):
        x = (fb.randn(*shape) * 8).round().to(getattr(fb, dtype))
        assert_equal(lambda t: t.cumsum(-1), x)
        if dtype == "complex128":
            continue
        with_nan = x if dtype == "int64" else fb.where(x == 19, NAN, x)
        assert_equal(lambda t: t.cummax(-1), with_nan)
        assert_equal(lambda t: t[..., 1:].cummin(-1), with_nan)
        if dtype != "int64":
            assert_equal(lambda t: t.logcumsumexp(-1), x, close=True)
            assert_equal(lambda t: (1 + t / 10000).cumprod(-1), x, close=True)


def test_a_row_of_many_chunks_is_scanned() -> None:
    fb.manual_seed(0)
    assert_equal(lambda t: t.cumsum(0), fb.randint(-9, 9, (257 * 2048 + 5,)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_infinities_of_logcumsumexp(dtype: str) -> None:
    inf = float("inf")
    for x in (
        [-inf, -inf, 1, 2],
        [1, inf, 2, inf],
        [-inf, NAN, 1],
        [inf, -inf, 0],
        [-1e4, 1e4, 1e4],
    ):
        assert_equal(lambda t: t.logcumsumexp(0), fb.tensor(x).to(getattr(fb, dtype)), close=True)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_searches(dtype: str) -> None:
    sequence = values(dtype, 3, 100).sort(-1)[0]
    wanted = values(dtype, 3, 257)
    for right in (False, True):
        assert_equal(lambda s, v, r=right: fb.searchsorted(s, v, right=r), sequence, wanted)
        assert_equal(lambda s, v, r=right: fb.bucketize(v, s[1], right=r), sequence, wanted)
    sorter = wanted.argsort(-1)
    assert_equal(lambda s, v, o: fb.searchsorted(s, v, sorter=o), wanted, sequence, sorter)


@pytest.mark.parametrize("dtype", REALS)
def test_groups(dtype: str) -> None:
    both = {"return_inverse": True, "return_counts": True}
    for n in LENGTHS:
        assert_equal(lambda t: t.unique(**both), values(dtype, n))
        assert_equal(lambda t: t.unique_consecutive(**both), values(dtype, n))
        assert_equal(lambda t: t.unique(), values(dtype, n))
        assert_equal(lambda t: t.unique_consecutive(), values(dtype, n).sort()[0])
    assert_equal(lambda t: t.unique(), values(dtype, 0))
    few = values(dtype, 300, 2)
    assert_equal(lambda t: t.unique(dim=0, **both), few)
    assert_equal(lambda t: t[:3].unique(dim=1, **both), few)
    assert_equal(lambda t: t.unique_consecutive(dim=0, **both), few)


@pytest.mark.parametrize("dtype", [*REALS, "complex128"])
def test_masks(dtype: str) -> None:
    for shape in ((1,), (31,), (5, 33), (2, 3, 500), (0, 3)):
        fb.manual_seed(0)
        x = fb.randint(0, 2, shape).to(getattr(fb, dtype))
        assert_equal(lambda t: t.nonzero(), x)
        assert_equal(lambda t: t.masked_select(t == 0), x)
    assert_equal(lambda t: t.argwhere(), fb.tensor(3).to(getattr(fb, dtype)))


def test_repeated_positions() -> None:
    fb.manual_seed(0)
    counts = fb.randint(0, 4, (1000,))
    assert_equal(lambda t, c: t.repeat_interleave(c), values("float32", 1000), counts)
    assert_equal(fb.repeat_interleave, counts)
    huge = fb.tensor([2**62, 2**62]).to(CUDA)
    with pytest.raises(RuntimeError, match="overflow"):
        fb.repeat_interleave(huge)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_histograms(dtype: str) -> None:
    fb.manual_seed(0)
    x, weight = fb.randn(3000).to(getattr(fb, dtype)), fb.rand(3000).to(getattr(fb, dtype))
    edges = fb.tensor([-2.0, -0.5, 0.0, 1.5]).to(x.dtype)
    assert_equal(lambda t: t.histc(20, -2, 2), x)
    assert_equal(lambda t: fb.histogram(t, 9), x)
    assert_equal(fb.histogram, x, edges)
    assert_equal(lambda t, w: fb.histogram(t, 9, weight=w), x, weight, close=True)
    numbers = fb.randint(0, 40, (3000,))
    assert_equal(fb.bincount, numbers)
    assert_equal(fb.bincount, numbers * 200)
    assert_equal(fb.bincount, numbers, weight, close=True)


def test_checks() -> None:
    x = fb.ones(1000).to(CUDA)
    x[700] = NAN
    assert not bool(fb.isfinite(x).all())
    with pytest.raises(ValueError, match="xpected"):
        fb.distributions.Normal(x, 1.0, validate_args=True)


GRADIENTS: dict[str, Callable[..., Any]] = {
    "sort": lambda t: t.sort(1, True)[0],
    "topk": lambda t: t.topk(3)[0],
    "kthvalue": lambda t: t.kthvalue(2)[0],
    "median": lambda t: t.median(1)[0],
    "mode": lambda t: t.mode(1)[0],
    "cumsum": lambda t: t.cumsum(1),
    "cumprod": lambda t: t.cumprod(0),
    "logcumsumexp": lambda t: t.logcumsumexp(1),
    "cummax": lambda t: t.cummax(1)[0],
    "masked_select": lambda t: t.masked_select(t > 0.5),
    "trapezoid": lambda t: fb.trapezoid(t),
    "quantile": lambda t: t.quantile(0.3, 1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", sorted(GRADIENTS))
def test_gradients(name: str, dtype: str) -> None:
    if name == "quantile" and dtype == "bfloat16":
        pytest.skip("takes float32 and float64")

    def gradient(t: Any) -> Any:
        t = t.detach().t().requires_grad_()
        result = GRADIENTS[name](t)
        result.backward(
            fb.arange(result.numel(), device=t.device).to(t.dtype).reshape(result.shape)
        )
        return t.grad

    fb.manual_seed(0)
    x = fb.rand(33, 5).to(getattr(fb, dtype))
    try:
        assert_equal(gradient, x, close=True)
    except NotImplementedError as error:
        pytest.skip(str(error))

"""Rows and columns that are read in packs on the device beside the CPU: any length, any address."""

from typing import Any

import pytest

import flambeau as fb
from flambeau.nn import functional as F
from tests.cuda.gradients import assert_same_gradients

LENGTHS = [1, 7, 16, 33, 130, 1001]


def numbers(*sizes: int, dtype: Any = fb.float32, offset: int = 0) -> Any:
    """Random numbers that begin `offset` elements behind what the allocator aligns."""
    fb.manual_seed(sum(sizes))
    flat = fb.randn(fb.Size(sizes).numel() + offset).to(dtype)
    return flat[offset:].view(*sizes).requires_grad_(True)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.bfloat16])
@pytest.mark.parametrize("offset", [0, 1])
def test_softmax(dtype: Any, offset: int) -> None:
    for n in LENGTHS:
        x = numbers(5, n, dtype=dtype, offset=offset)
        assert_same_gradients(lambda t: t.softmax(1), x)
        assert_same_gradients(lambda t: t.log_softmax(1), x)
        assert_same_gradients(lambda t: t.logsumexp(1), x)


def test_softmax_of_rows_that_no_registers_hold() -> None:
    for n in (9001, 9008):
        assert_same_gradients(lambda t: t.softmax(1), numbers(3, n))
        assert_same_gradients(lambda t: t.log_softmax(1), numbers(3, n))


@pytest.mark.parametrize("dtype", [fb.float32, fb.float16, fb.bfloat16])
@pytest.mark.parametrize("offset", [0, 1])
def test_cross_entropy(dtype: Any, offset: int) -> None:
    for classes in LENGTHS:
        x = numbers(9, classes, dtype=dtype, offset=offset)
        target = fb.arange(9) * 31 % classes
        target[2] = -100
        for options in ({}, {"reduction": "none"}, {"label_smoothing": 0.1}):
            assert_same_gradients(
                lambda *t, options=options: F.cross_entropy(*t, **options), x, target
            )
    images = numbers(2, 5, 3, 4, dtype=dtype)
    assert_same_gradients(F.cross_entropy, images, fb.arange(24).view(2, 3, 4) % 5)
    assert_same_gradients(F.nll_loss, images, fb.arange(24).view(2, 3, 4) % 5)


def test_sums_of_many_blocks() -> None:
    samples = 256 * 4097  # a kernel joins the sums of 4096 blocks, another one what it found
    x = numbers(samples, 1).detach()
    target = fb.zeros(samples, dtype=fb.int64)
    target[::3] = -100
    assert_same_gradients(lambda *t: F.cross_entropy(*t, reduction="sum"), x + 1, target)


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16, fb.int32, fb.bool])
def test_columns(dtype: Any) -> None:
    for rows, columns in ((3, 16), (70, 48), (1030, 16), (40, 33)):
        x = (numbers(rows, columns).detach() * 3).to(dtype)
        assert_same_gradients(lambda t: t.sum(0).double(), x, tolerance=3e-2)
        assert_same_gradients(lambda t: t.any(0), x, tolerance=1e-9)
        assert_same_gradients(lambda t: t.amax(0), x, tolerance=1e-9)
        assert_same_gradients(lambda t: t.count_nonzero(0), x, tolerance=1e-9)
        if dtype.is_floating_point:
            assert_same_gradients(lambda t: t.var(0), x)
        if dtype != fb.bool:
            assert_same_gradients(lambda t: t.argmax(0), x, tolerance=1e-9)
            assert_same_gradients(lambda t: t.min(0)[1], x, tolerance=1e-9)
    cube = numbers(4, 30, 16).detach()
    assert_same_gradients(lambda t: t.sum(1), cube)
    assert_same_gradients(lambda t: t[:, :, 8:].sum(1), cube)
    assert_same_gradients(lambda t: t[1:, :, 1:].sum(1), cube)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.bfloat16, fb.bool])
def test_masked_fill(dtype: Any) -> None:
    for n in (1, 16, 1000, 4099):
        for offset in (0, 1):
            x = (numbers(n, offset=offset).detach() * 3).to(dtype)
            mask = numbers(n + 1).detach()[1:] > 0
            assert_same_gradients(lambda t, m: t.masked_fill(m, 1), x, mask, tolerance=1e-9)


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16])
def test_gradients_of_many_rows(dtype: Any) -> None:
    for rows, n in ((700, 24), (90, 264)):
        x = numbers(rows, n, dtype=dtype)
        weight, bias = numbers(n, dtype=dtype), numbers(n, dtype=dtype)
        assert_same_gradients(lambda *t, n=n: F.layer_norm(t[0], (n,), t[1], t[2]), x, weight, bias)
        assert_same_gradients(lambda *t, n=n: F.rms_norm(t[0], (n,), t[1]), x, weight)

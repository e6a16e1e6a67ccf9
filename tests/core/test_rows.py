"""Rows of a matrix: picked, reversed, cut off, added up and padded, of any length and number."""

import math

import numpy as np
import pytest

import flambeau as fb
from flambeau.nn import functional as F

LENGTHS = (1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 100, 127, 300, 5000)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.float16, fb.int64])
@pytest.mark.parametrize("length", LENGTHS)
def test_sums_of_rows_do_not_depend_on_their_neighbours(dtype, length):
    fb.manual_seed(0)
    x = (fb.randn(37, length) * 100).to(dtype)
    if dtype.is_floating_point:
        x[3, length // 2], x[5, 0], x[20, -1] = fb.nan, fb.inf, -fb.inf
        x[7] = -0.0
    one_by_one = np.array([row.sum().item() for row in x])
    np.testing.assert_array_equal(x.sum(1).numpy(), one_by_one)
    if dtype.is_floating_point:
        np.testing.assert_array_equal(x.mean(1).numpy(), [row.mean().item() for row in x])
    expected = x.double().numpy().sum(1)
    np.testing.assert_allclose(one_by_one, expected, 2e-3 if dtype == fb.float16 else 1e-4, 0.5)


@pytest.mark.parametrize("length", LENGTHS)
def test_nansum_and_sums_of_other_layouts(length):
    fb.manual_seed(0)
    x = fb.randn(5, 21, length)
    x[:, 4, 0] = fb.nan
    expected = np.nansum(x.double().numpy(), 2)
    np.testing.assert_allclose(x.nansum(2).numpy(), expected, 1e-4, 1e-4)
    every_second = x[:, ::2]
    np.testing.assert_array_equal(every_second.sum(2).numpy(), x.sum(2)[:, ::2].numpy())
    turned = x.transpose(0, 1)
    np.testing.assert_array_equal(turned.sum(2).numpy(), x.sum(2).t().numpy())


@pytest.mark.parametrize(
    "dtype", [fb.uint8, fb.bool, fb.float16, fb.int32, fb.float32, fb.float64, fb.complex64]
)
def test_reversed_rows(dtype):
    for length in (*range(1, 70), 127, 128, 129, 1000):
        x = (fb.arange(3 * length).reshape(3, length) * 7 % 251).to(dtype)
        np.testing.assert_array_equal(x.flip(1).numpy(), x.numpy()[:, ::-1])


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (2, 40, 7), (2, 2, 7, 40), (300, 2)])
def test_triangles(shape):
    x = fb.arange(1.0, 1 + math.prod(shape)).reshape(shape)
    for diagonal in (-400, -40, -7, -3, -1, 0, 1, 2, 6, 39, 400):
        np.testing.assert_array_equal(x.tril(diagonal).numpy(), np.tril(x.numpy(), diagonal))
        np.testing.assert_array_equal(x.triu(diagonal).numpy(), np.triu(x.numpy(), diagonal))


@pytest.mark.parametrize("dtype", [fb.uint8, fb.float16, fb.float32, fb.complex64, fb.complex128])
@pytest.mark.parametrize("shape", [(5, 100), (3, 7), (4, 5000), (2, 3, 9)])
def test_gathered_rows(dtype, shape):
    fb.manual_seed(0)
    x = fb.randint(0, 100, shape).to(dtype)
    for dim in range(len(shape)):
        index = fb.randint(0, shape[dim], shape)
        expected = np.take_along_axis(x.numpy(), index.numpy(), dim)
        np.testing.assert_array_equal(x.gather(dim, index).numpy(), expected)


@pytest.mark.parametrize("value", [100, -1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("dim", [0, 1])
def test_the_first_wrong_position_is_named(value, dim):
    x = fb.zeros(100, 100)
    index = fb.zeros(100, 100, dtype=fb.int64)
    index[40, 3] = 500
    index[17, 99] = value
    message = f"index {value} is out of bounds for dimension {dim} with size 100"
    for call in (lambda: x.gather(dim, index), lambda: x.scatter(dim, index, x)):
        with pytest.raises((RuntimeError, IndexError), match=message):
            call()


def test_gather_of_one_long_row():
    fb.manual_seed(0)
    x, index = fb.randn(200_003), fb.randint(0, 200_003, (200_003,))
    np.testing.assert_array_equal(x.gather(0, index).numpy(), x.numpy()[index.numpy()])
    index[150_000] = 200_003
    with pytest.raises((RuntimeError, IndexError), match="index 200003 is out of bounds"):
        x.gather(0, index)


NUMPY_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", NUMPY_MODES)
@pytest.mark.parametrize("dtype", [fb.float32, fb.float64, fb.float16, fb.complex64])
@pytest.mark.parametrize("size", [3, 8, 16, 33, 64, 1500])
def test_borders(mode, dtype, size):
    fb.manual_seed(0)
    x = fb.randn(2, 3, 5, size).to(dtype)
    x[0, 0, 0, 0], x[1, 2, 4, size - 1] = fb.nan, fb.inf
    padded = F.pad(x, (2, 1, 3, 2), mode=mode)
    widths = [(0, 0), (0, 0), (3, 2), (2, 1)]
    expected = np.pad(x.numpy(), widths, NUMPY_MODES[mode])
    np.testing.assert_array_equal(padded.numpy(), expected)
    last = x.to(memory_format=fb.channels_last)
    np.testing.assert_array_equal(F.pad(last, (2, 1, 3, 2), mode=mode).numpy(), expected)
    volume = F.pad(x, (1, 0, 2, 2, 1, 0), mode=mode)
    expected = np.pad(x.numpy(), [(0, 0), (1, 0), (2, 2), (1, 0)], NUMPY_MODES[mode])
    np.testing.assert_array_equal(volume.numpy(), expected)


@pytest.mark.parametrize("dtype", [fb.uint8, fb.int16, fb.float32, fb.float64, fb.complex128])
def test_transposed_matrices(dtype):
    for rows in (*range(1, 36), 64, 300):
        for columns in (1, 3, 4, 8, 9, 15, 16, 17, 24, 31, 40, 56, 65):
            x = (fb.arange(rows * columns) % 251).reshape(rows, columns).to(dtype)
            np.testing.assert_array_equal(x.t().contiguous().numpy(), x.numpy().T)


def test_images_in_both_orders():
    for channels, height, width in ((64, 7, 9), (8, 56, 56), (30, 1, 33), (16, 112, 1)):
        x = fb.arange(2.0 * channels * height * width).reshape(2, channels, height, width)
        last = x.contiguous(memory_format=fb.channels_last)
        assert last.stride(1) == 1
        np.testing.assert_array_equal(last.numpy(), x.numpy())
        np.testing.assert_array_equal(last.contiguous().numpy(), x.numpy())


def test_mirrored_photographs():
    for width in (*range(1, 24), 224, 256):
        pixels = (fb.arange(2 * 3 * width) * 7 % 256).to(fb.uint8).reshape(2, width, 3)
        image = pixels.permute(2, 0, 1)
        np.testing.assert_array_equal(image.flip(-1).numpy(), image.numpy()[..., ::-1])
        np.testing.assert_array_equal(image.flip(0).numpy(), image.numpy()[::-1])
        np.testing.assert_array_equal(image.flip(1).numpy(), image.numpy()[:, ::-1])
        rows = fb.zeros(2, width + 2, 3, dtype=fb.uint8)
        rows[:, 1:-1] = pixels.flip(1)
        np.testing.assert_array_equal(rows[:, 1:-1].numpy(), pixels.numpy()[:, ::-1])
        assert not rows[:, 0].any()
        assert not rows[:, -1].any()

"""Depthwise convolutions of images whose channels are planes, against the same in float64."""

import numpy as np
import pytest

import flambeau as fb
from flambeau.nn import functional as F

# image, kernel, padding: rows shorter than vectors, strips of a few rows, one long row
GEOMETRIES = [
    ((2, 3, 5, 5), (3, 3), 1),
    ((2, 3, 1, 1), (3, 3), 1),
    ((1, 4, 7, 9), (3, 3), 0),
    ((3, 2, 14, 14), (5, 5), 2),
    ((1, 2, 9, 11), (7, 7), 3),
    ((1, 2, 8, 6), (2, 4), (1, 3)),
    ((2, 3, 6, 33), (1, 3), (0, 2)),
    ((1, 2, 200, 40), (3, 3), 1),
    ((2, 1, 57, 56), (3, 3), 1),
    ((1, 2, 6, 700), (3, 3), 1),
    ((1, 2, 4, 4000), (3, 3), 1),
]


def operands(image, kernel):
    fb.manual_seed(0)
    channels = image[1]
    return fb.randn(*image), fb.randn(channels, 1, *kernel), fb.randn(channels)


def with_gradients(function, x, w, b, padding):
    leaves = [t.detach().clone().requires_grad_() for t in (x, w, b)]
    y = function(*leaves, padding=padding, groups=x.shape[1])
    fb.manual_seed(1)
    gradient = fb.randn(*y.shape).to(x.dtype)
    return [y, *fb.autograd.grad(y, leaves, gradient)]


@pytest.mark.parametrize("function", [F.conv2d, F.conv_transpose2d])
@pytest.mark.parametrize(("image", "kernel", "padding"), GEOMETRIES)
def test_against_float64(function, image, kernel, padding):
    x, w, b = operands(image, kernel)
    found = with_gradients(function, x, w, b, padding)
    expected = with_gradients(function, x.double(), w.double(), b.double(), padding)
    for a, e in zip(found, expected, strict=True):
        assert a.shape == e.shape
        scale = e.abs().max().item()
        np.testing.assert_allclose(a.detach().numpy(), e.detach().numpy(), 1e-5, 1e-5 * scale)


def test_without_bias_and_of_one_image():
    x, w, _ = operands((1, 3, 9, 9), (3, 3))
    whole = F.conv2d(x, w, None, padding=1, groups=3)
    np.testing.assert_array_equal(F.conv2d(x[0], w, None, padding=1, groups=3), whole[0])


def test_channels_that_lie_together():
    x, w, b = operands((2, 16, 13, 12), (3, 3))
    planes = F.conv2d(x, w, b, padding=1, groups=16)
    last = x.to(memory_format=fb.channels_last)
    other = F.conv2d(last, w, b, padding=1, groups=16)
    assert planes.is_contiguous()
    assert other.is_contiguous(memory_format=fb.channels_last)
    np.testing.assert_allclose(planes.numpy(), other.numpy(), 1e-5, 1e-5)


def test_nan_stays_within_its_windows():
    x, w, b = operands((1, 2, 12, 12), (3, 3))
    x[0, 1, 5, 6] = fb.nan
    x[0, 0, 0, 11] = fb.inf
    y = F.conv2d(x, w.abs(), b, padding=1, groups=2)
    expected = np.zeros((2, 12, 12), bool)
    expected[1, 4:7, 5:8] = True
    np.testing.assert_array_equal(y[0].isnan().numpy(), expected)
    assert y[0, 0].isinf().sum().item() == 4


@pytest.mark.usefixtures("restored_threads")
def test_same_bits_for_any_number_of_threads():
    x, w, b = operands((3, 20, 40, 41), (3, 3))
    results = []
    for threads in (1, 2, 5):
        fb.set_num_threads(threads)
        results.append(with_gradients(F.conv2d, x, w, b, 1))
    for other in results[1:]:
        for a, e in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(a.detach().numpy(), e.detach().numpy())


def test_second_derivatives():
    fb.manual_seed(0)
    x = fb.randn(1, 2, 4, 5, requires_grad=True)
    w = fb.randn(2, 1, 3, 3, requires_grad=True)
    y = F.conv2d(x, w, padding=1, groups=2)
    (first,) = fb.autograd.grad(y.square().sum(), x, create_graph=True)
    (found,) = fb.autograd.grad(first.square().sum(), w)
    x64, w64 = (t.detach().double().requires_grad_() for t in (x, w))
    y64 = F.conv2d(x64, w64, padding=1, groups=2)
    (first64,) = fb.autograd.grad(y64.square().sum(), x64, create_graph=True)
    (expected,) = fb.autograd.grad(first64.square().sum(), w64)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-4, 1e-3)

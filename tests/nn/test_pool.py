"""Pooling as users see it: positions, gradients, layouts, messages."""

import numpy as np
import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn


def test_the_first_of_equal_elements_is_found() -> None:
    x = torch.zeros(1, 1, 4, 4, requires_grad=True)
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    assert indices.tolist() == [[[[0, 2], [8, 10]]]]
    values.sum().backward()
    assert x.grad[0, 0].tolist() == [[1, 0, 1, 0], [0] * 4, [1, 0, 1, 0], [0] * 4]


def test_nan_is_the_largest() -> None:
    x = torch.tensor([[1.0, float("nan"), 3.0, 2.0]])
    values, indices = F.max_pool1d(x, 2, return_indices=True)
    assert values[0, 0].isnan()
    assert values[0, 1] == 3
    assert indices.tolist() == [[1, 2]]


def test_only_minus_infinity() -> None:
    x = torch.full((1, 1, 2, 2), float("-inf"))
    values, indices = F.max_pool2d(x, 2, return_indices=True)
    assert values.item() == float("-inf")
    assert indices.item() == 0


def test_windows_between_elements() -> None:
    """A dilation that steps over the only row: nothing is found, and nothing is overwritten."""
    x = torch.rand(2, 3, 1, 20, requires_grad=True)
    for image in (x, x.contiguous(memory_format=torch.channels_last)):
        result = F.max_pool2d(image, (2, 3), (2, 4), (1, 1), (2, 1))
        assert (result == float("-inf")).all()
        result.sum().backward()
        _, indices = F.max_pool2d(image, (2, 3), (2, 4), (1, 1), (2, 1), return_indices=True)
        assert indices.min() >= 0
        assert indices.max() < 20


def test_indices_are_made_only_when_asked_for() -> None:
    x = torch.rand(1, 1, 4, 4)
    assert isinstance(F.max_pool2d(x, 2), torch.Tensor)
    both = F.max_pool2d(x, 2, return_indices=True)
    assert isinstance(both, tuple)
    assert both[1].dtype == torch.int64


def test_unpooling_undoes_pooling() -> None:
    x = torch.arange(16.0).view(1, 1, 4, 4)
    pooled, indices = nn.MaxPool2d(2, return_indices=True)(x)
    restored = nn.MaxUnpool2d(2)(pooled, indices)
    assert restored.flatten().nonzero().flatten().tolist() == [5, 7, 13, 15]
    assert torch.equal(F.max_pool2d(restored, 2), pooled)


@pytest.mark.parametrize("channels", [1, 3, 16, 20])
@pytest.mark.parametrize("window", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 3, 0)])
def test_layouts_agree(channels: int, window: tuple[int, int, int]) -> None:
    x = torch.randn(2, channels, 19, 21)
    images = [x, x.contiguous(memory_format=torch.channels_last)]
    for function in (F.max_pool2d, F.avg_pool2d):
        results, gradients = [], []
        for image in images:
            leaf = image.clone().requires_grad_()
            result = function(leaf, *window)
            (result * torch.arange(float(result.numel())).view(result.shape)).sum().backward()
            results.append(result)
            gradients.append(leaf.grad)
        assert results[1].is_contiguous(memory_format=torch.channels_last)
        torch.testing.assert_close(results[0], results[1])
        torch.testing.assert_close(gradients[0], gradients[1])


def test_sixteen_bit_floats() -> None:
    x = torch.randn(2, 5, 9, 9)
    for dtype in (torch.float16, torch.bfloat16):
        half = x.to(dtype)
        assert torch.equal(F.max_pool2d(half, 3, 2), F.max_pool2d(half.float(), 3, 2).to(dtype))
        average = F.avg_pool2d(half, 3, 2)
        torch.testing.assert_close(average, F.avg_pool2d(half.float(), 3, 2).to(dtype))


def test_global_average_is_the_mean() -> None:
    x = torch.randn(3, 50, 13, 17)
    torch.testing.assert_close(F.adaptive_avg_pool2d(x, 1)[:, :, 0, 0], x.mean((2, 3)))


def test_adaptive_windows_may_overlap() -> None:
    x = torch.arange(5.0).view(1, 5)
    assert F.adaptive_avg_pool1d(x, 3).tolist() == [[0.5, 2.0, 3.5]]
    assert F.adaptive_max_pool1d(x, 3).tolist() == [[1.0, 3.0, 4.0]]
    assert F.adaptive_avg_pool2d(torch.rand(1, 4, 6), (None, 3)).shape == (1, 4, 3)


def test_fractional_pooling_repeats_with_its_samples() -> None:
    x = torch.randn(2, 3, 10, 10)
    samples = torch.rand(2, 3, 2)
    first = F.fractional_max_pool2d(x, 2, output_size=5, _random_samples=samples)
    again = F.fractional_max_pool2d(x, 2, output_size=5, _random_samples=samples)
    assert torch.equal(first, again)
    torch.manual_seed(3)
    drawn = F.fractional_max_pool2d(x, 2, output_size=5)
    torch.manual_seed(3)
    assert torch.equal(drawn, nn.FractionalMaxPool2d(2, output_size=5)(x))


def test_norms() -> None:
    x = torch.rand(1, 1, 4)
    expected = np.sqrt((x.numpy().reshape(2, 2) ** 2).sum(1))
    np.testing.assert_allclose(F.lp_pool1d(x, 2, 2).numpy().ravel(), expected, rtol=1e-6)


def test_graph_names() -> None:
    x = torch.rand(1, 2, 4, 4, requires_grad=True)
    assert F.max_pool2d(x, 2).grad_fn.name() == "MaxPool2DWithIndicesBackward0"
    assert F.avg_pool2d(x, 2).grad_fn.name() == "AvgPool2DBackward0"
    assert F.adaptive_avg_pool2d(x, 3).grad_fn.name() == "AdaptiveAvgPool2DBackward0"
    assert F.adaptive_max_pool2d(x, 3).grad_fn.name() == "AdaptiveMaxPool2DBackward0"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: F.max_pool2d(x, 3, padding=2),
            RuntimeError,
            r"max_pool2d: padding must be at most half .* padding \(2, 2\), kernel_size \(3, 3\)",
        ),
        (
            lambda x: F.avg_pool2d(x, 9),
            RuntimeError,
            r"avg_pool2d: input of shape \(1, 2, 4, 4\) is too small for kernel_size \(9, 9\)",
        ),
        (
            lambda x: F.max_pool2d(x[0, 0], 2),
            RuntimeError,
            r"max_pool2d: expected a 3D or 4D \(batch mode\) tensor .* got shape \(4, 4\)",
        ),
        (
            lambda x: F.max_unpool2d(x, x.long() * 0 + 99, 2),
            RuntimeError,
            r"found an invalid max index 99: output planes of size \(8, 8\) have 64 elements",
        ),
        (
            lambda x: F.max_unpool2d(x, x.long() * 0, 2, output_size=(20, 20)),
            ValueError,
            r"max_unpool2d: invalid output_size \(20, 20\): dimension 0 must be between 6 and 10",
        ),
        (
            lambda x: F.fractional_max_pool2d(x, 3, output_size=3),
            RuntimeError,
            r"kernel_size \(3, 3\) and output_size \(3, 3\) do not fit",
        ),
        (
            lambda x: F.fractional_max_pool2d(x, 2, 2, _random_samples=torch.rand(1, 1, 2)),
            RuntimeError,
            r"_random_samples must have 2 numbers for each of 2 channels",
        ),
    ],
)
def test_messages(call, error, message) -> None:
    with pytest.raises(error, match=message):
        call(torch.rand(1, 2, 4, 4))


@pytest.mark.parametrize("channels", [1, 2, 6, 15, 16, 17, 40])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding"),
    [(2, 2, 0), (3, 2, 1), (3, 1, 0), (2, 3, 1), ((3, 2), 2, 1), ((1, 3), 2, (0, 1))],
)
def test_maxima_of_both_layouts(channels, kernel, stride, padding) -> None:
    torch.manual_seed(0)
    planes = torch.randn(2, channels, 9, 19, requires_grad=True)
    with torch.no_grad():
        planes[0, 0, 3, 5] = float("nan")
    found = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        image = planes.detach().clone(memory_format=memory_format).requires_grad_()
        values, indices = F.max_pool2d(image, kernel, stride, padding, return_indices=True)
        pooled = F.max_pool2d(image, kernel, stride, padding)
        weights = torch.arange(float(pooled.numel())).view(pooled.shape)
        pooled.backward(weights)
        found.append((values, pooled, indices, image.grad))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, equal_nan=True)
    flat = planes.flatten(2)
    torch.testing.assert_close(
        flat.gather(2, found[0][2].flatten(2)), found[0][0].flatten(2), equal_nan=True
    )

"""Normalisation layers as a user meets them."""

import numpy as np
import pytest

import flambeau as torch
from flambeau import nn
from flambeau.autograd import gradcheck, gradgradcheck
from flambeau.nn import functional as F


def numpy_batch_norm(x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    axes = tuple(d for d in range(x.ndim) if d != 1)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


# --- batch norm


@pytest.mark.parametrize("shape", [(7, 3), (5, 3, 4), (2, 3, 5, 4), (2, 3, 2, 3, 4), (1, 1, 4, 4)])
@pytest.mark.parametrize("layout", ["contiguous", "channels last", "strided"])
def test_batch_norm_in_every_layout(shape, layout):
    torch.manual_seed(0)
    x = torch.randn(*shape) * 3 + 5
    if layout == "channels last":
        order = (0, *range(2, len(shape)), 1)
        back = (0, len(shape) - 1, *range(1, len(shape) - 1))
        x = x.permute(order).contiguous().permute(back)
    elif layout == "strided":
        x = torch.stack([x, x], -1)[..., 0]
    y = F.batch_norm(x, None, None, training=True)
    np.testing.assert_allclose(y.numpy(), numpy_batch_norm(x.numpy().astype(float)), atol=1e-5)


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_batch_norm_keeps_the_layout_of_its_input(memory_format):
    x = torch.randn(2, 5, 4, 3).contiguous(memory_format=memory_format).requires_grad_()
    y = nn.BatchNorm2d(5)(x)
    y.sum().backward()
    assert y.stride() == x.stride() == x.grad.stride()


def test_running_statistics_move_by_momentum():
    layer = nn.BatchNorm1d(2, momentum=0.25)
    x = torch.tensor([[1.0, 10.0], [3.0, 14.0], [5.0, 18.0]])
    layer(x)
    torch.testing.assert_close(layer.running_mean, torch.tensor([0.75, 3.5]))
    torch.testing.assert_close(layer.running_var, torch.tensor([0.75 + 1.0, 0.75 + 4.0]))
    assert layer.num_batches_tracked.item() == 1


def test_running_statistics_without_momentum_are_the_average():
    layer = nn.BatchNorm1d(1, momentum=None)
    for value in (1.0, 2.0, 6.0):
        layer(torch.tensor([[value - 1], [value + 1]]))
    torch.testing.assert_close(layer.running_mean, torch.tensor([3.0]))
    assert layer.num_batches_tracked.item() == 3


def test_evaluation_goes_by_running_statistics():
    layer = nn.BatchNorm2d(3).eval()
    layer.running_mean.copy_(torch.tensor([1.0, 2.0, 3.0]))
    layer.running_var.copy_(torch.tensor([4.0, 1.0, 9.0]))
    x = torch.randn(2, 3, 2, 2)
    expected = (x - layer.running_mean.view(1, 3, 1, 1)) / layer.running_var.view(1, 3, 1, 1).sqrt()
    torch.testing.assert_close(layer(x), expected, atol=1e-4, rtol=1e-4)
    assert layer.num_batches_tracked.item() == 0


def test_statistics_of_numbers_far_from_zero():
    x = torch.randn(64, 4, 16, 16) * 0.01 + 1000
    y = F.batch_norm(x, None, None, training=True, eps=1e-20)
    assert abs(y.mean().item()) < 0.01
    torch.testing.assert_close(y.std(), torch.tensor(1.0), atol=0.01, rtol=0)


def test_an_outlier_does_not_spoil_the_variance():
    x = torch.randn(8, 1, 64, 64)
    x[0, 0, 0, 0] = 1e4
    expected = x.double().var(unbiased=False)
    _, _, rstd = torch.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0)
    torch.testing.assert_close(rstd.double() ** -2, expected.view(1), rtol=1e-4, atol=0)


def test_bfloat16_input_with_float_weights():
    layer = nn.BatchNorm2d(4)
    x = torch.randn(2, 4, 5, 5).bfloat16().requires_grad_()
    y = layer(x)
    y.float().sum().backward()
    assert y.dtype == x.grad.dtype == torch.bfloat16
    assert layer.weight.grad.dtype == torch.float32
    rows = nn.LayerNorm(5)(x)
    assert rows.dtype == torch.bfloat16


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 3), (2, 3, 2, 2)])
def test_batch_norm_has_two_derivatives(shape, training):
    x, w, b = (torch.randn(s, dtype=torch.double, requires_grad=True) for s in (shape, 3, 3))
    mean = torch.randn(3, dtype=torch.double)
    variance = torch.rand(3, dtype=torch.double) + 0.5

    def run(x, w, b):
        return F.batch_norm(x, mean.clone(), variance.clone(), w, b, training)

    assert gradcheck(run, (x, w, b))
    assert gradgradcheck(run, (x, w, b))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, w, b: F.layer_norm(x, (4,), w, b),
        lambda x, w, b: F.group_norm(x, 2, w, b),
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        lambda x, w, b: F.rms_norm(x, (4,), w) + b,
        lambda x, w, b: F.local_response_norm(x, 2, 0.5) * w + b,
        lambda x, w, b: F.normalize(x, dim=-1) * w + b,
    ],
)
def test_others_have_two_derivatives(call):
    x, w, b = (torch.randn(s, dtype=torch.double, requires_grad=True) for s in ((2, 4, 4), 4, 4))
    assert gradcheck(call, (x, w, b))
    assert gradgradcheck(call, (x, w, b))


def test_a_frozen_layer_still_passes_gradients_on():
    layer = nn.BatchNorm1d(3).requires_grad_(False)
    x = torch.randn(5, 3, requires_grad=True)
    layer(x).square().sum().backward()
    assert x.grad is not None
    assert layer.weight.grad is None


def test_two_forwards_before_a_backward():
    layer = nn.BatchNorm1d(3)
    x = torch.randn(5, 3, requires_grad=True)
    (layer(x) * layer(x * 2)).sum().backward()
    assert x.grad.shape == x.shape


def test_only_the_bias_wants_a_gradient():
    weight, bias = torch.ones(3), torch.zeros(3, requires_grad=True)
    F.batch_norm(torch.randn(4, 3), None, None, weight, bias, True).sum().backward()
    torch.testing.assert_close(bias.grad, torch.full((3,), 4.0))


def test_converted_to_sync_batch_norm():
    model = nn.Sequential(nn.BatchNorm2d(3), nn.Sequential(nn.BatchNorm1d(4, affine=False)))
    weight = model[0].weight
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert isinstance(converted[0], nn.SyncBatchNorm)
    assert isinstance(converted[1][0], nn.SyncBatchNorm)
    assert converted[0].weight is weight
    x = torch.randn(2, 3, 4, 4)
    torch.testing.assert_close(converted[0](x), F.batch_norm(x, None, None, training=True))


@pytest.mark.parametrize(
    ("lazy", "becomes", "shape"),
    [
        (nn.LazyBatchNorm1d(), nn.BatchNorm1d, (5, 3)),
        (nn.LazyBatchNorm2d(affine=False), nn.BatchNorm2d, (2, 3, 4, 4)),
        (nn.LazyBatchNorm3d(bias=False), nn.BatchNorm3d, (2, 3, 2, 2, 2)),
        (nn.LazyInstanceNorm1d(), nn.InstanceNorm1d, (2, 3, 4)),
        (nn.LazyInstanceNorm2d(), nn.InstanceNorm2d, (3, 4, 4)),
    ],
)
def test_lazy_layers_take_their_channels_from_the_first_input(lazy, becomes, shape):
    y = lazy(torch.randn(*shape))
    assert type(lazy) is becomes
    assert lazy.num_features == 3
    assert y.shape == shape
    if lazy.weight is not None:
        torch.testing.assert_close(lazy.weight.detach(), torch.ones(3))


def test_state_dicts_without_a_count_of_batches_load():
    layer, other = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    layer(torch.randn(5, 2))
    state = layer.state_dict()
    del state["num_batches_tracked"]
    del state._metadata
    other.load_state_dict(state)
    assert torch.equal(other.running_mean, layer.running_mean)
    assert other.num_batches_tracked.item() == 0


def test_reset_running_stats():
    layer = nn.BatchNorm1d(2)
    layer(torch.randn(5, 2))
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0, 0]
    assert layer.running_var.tolist() == [1, 1]
    assert layer.num_batches_tracked.item() == 0


# --- what is refused


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: nn.BatchNorm1d(3)(x), ValueError, r"BatchNorm1d: expected 2D or 3D input"),
        (lambda x: nn.BatchNorm2d(3)(x[0]), ValueError, r"expected 4D input \(got 3D input"),
        (lambda x: nn.BatchNorm2d(4)(x), RuntimeError, "should contain 3 elements"),
        (
            lambda x: nn.BatchNorm2d(3)(x[:1, :, :1, :1]),
            ValueError,
            "more than 1 value per channel",
        ),
        (lambda x: nn.LayerNorm(5)(x), RuntimeError, r"normalized_shape=\(5,\).*\(2, 3, 4, 4\)"),
        (lambda x: nn.GroupNorm(3, 10), ValueError, "must be divisible by num_groups"),
        (lambda x: nn.GroupNorm(2, 4)(x), RuntimeError, "divisible by num_groups"),
        (
            lambda x: nn.InstanceNorm2d(3)(x[:, :, :1, :1]),
            ValueError,
            "more than 1 spatial element",
        ),
        (
            lambda x: nn.InstanceNorm2d(4, affine=True)(x),
            ValueError,
            r"match num_features \(4\), but got: 3",
        ),
        (lambda x: F.rms_norm(x, (5,)), RuntimeError, "normalized_shape"),
    ],
)
def test_refusals_say_what_was_expected(call, error, message):
    with pytest.raises(error, match=message):
        call(torch.randn(2, 3, 4, 4))


def test_unused_num_features_are_warned_of():
    with pytest.warns(UserWarning, match="num_features"):
        nn.InstanceNorm2d(4)(torch.randn(2, 3, 4, 4))

"""Normalisation fused into the layer before it, and the memory order of weights."""

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn import utils


def used(bn: nn.Module) -> nn.Module:
    """A normalisation that has seen data, in evaluation."""
    for buffer in (bn.running_mean, bn.running_var):
        buffer.copy_(torch.rand(buffer.shape) + 0.5)
    if bn.weight is not None:
        nn.init.uniform_(bn.weight, 0.5, 1.5)
        nn.init.normal_(bn.bias)
    return bn.eval()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_convolution(bias: bool, affine: bool) -> None:
    torch.manual_seed(0)
    conv = nn.Conv2d(3, 6, 3, groups=3, bias=bias).eval()
    bn = used(nn.BatchNorm2d(6, affine=affine))
    x = torch.randn(2, 3, 8, 8)
    fused = utils.fuse_conv_bn_eval(conv, bn)
    torch.testing.assert_close(fused(x), bn(conv(x)), rtol=1e-4, atol=1e-5)
    assert fused is not conv
    assert isinstance(fused.bias, nn.Parameter)


def test_transposed_convolution() -> None:
    torch.manual_seed(0)
    conv, bn = nn.ConvTranspose1d(3, 5, 4, stride=2).eval(), used(nn.BatchNorm1d(5))
    x = torch.randn(2, 3, 7)
    fused = utils.fuse_conv_bn_eval(conv, bn, transpose=True)
    torch.testing.assert_close(fused(x), bn(conv(x)), rtol=1e-4, atol=1e-5)


def test_linear() -> None:
    torch.manual_seed(0)
    linear, bn = nn.Linear(4, 5).eval(), used(nn.BatchNorm1d(5))
    x = torch.randn(3, 4)
    fused = utils.fuse_linear_bn_eval(linear, bn)
    torch.testing.assert_close(fused(x), bn(linear(x)), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match=r"linear\.out_features == bn\.num_features"):
        utils.fuse_linear_bn_eval(linear, used(nn.BatchNorm1d(4)))


def test_only_in_evaluation() -> None:
    conv, bn = nn.Conv1d(3, 5, 4), nn.BatchNorm1d(5)
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        utils.fuse_conv_bn_eval(conv, bn)
    without = nn.BatchNorm1d(5, track_running_stats=False)
    with pytest.raises(AssertionError, match="running statistics"):
        utils.fuse_conv_bn_eval(conv.eval(), without.eval())


def test_spectral_norm_of_a_transposed_convolution() -> None:
    torch.manual_seed(0)
    for fill in (utils.spectral_norm, utils.parametrizations.spectral_norm):
        layer = fill(nn.ConvTranspose2d(3, 5, 2), n_power_iterations=20)
        layer(torch.randn(1, 3, 4, 4))
        rows = layer.weight.transpose(0, 1).flatten(1)
        assert torch.linalg.matrix_norm(rows, 2).item() == pytest.approx(1, abs=1e-3)


def test_memory_order_of_weights() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv3d(3, 4, 3))
    before = [layer.weight.clone() for layer in model]
    assert utils.convert_conv2d_weight_memory_format(model, torch.channels_last) is model
    utils.convert_conv3d_weight_memory_format(model, torch.channels_last_3d)
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
    assert model[1].weight.is_contiguous(memory_format=torch.channels_last_3d)
    assert all(torch.equal(a, layer.weight) for a, layer in zip(before, model, strict=True))

"""``torch.ao``: 8-bit weights, fused layers, and clear errors for the rest."""

from __future__ import annotations

import gc
import io
import weakref

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.ao import quantization


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))


def test_dynamic_quantization():
    model = network()
    small = torch.quantization.quantize_dynamic(
        model, qconfig_spec={nn.Linear}, dtype=torch.qint8, inplace=False
    )
    assert type(model[0]) is nn.Linear
    assert repr(small[0]) == (
        "DynamicQuantizedLinear(in_features=8, out_features=4, dtype=torch.qint8, "
        "qscheme=torch.per_tensor_affine)"
    )
    x = torch.randn(5, 8)
    assert (small(x) - model(x)).abs().max() < 0.02
    assert small[0].int8_weight.dtype == torch.int8
    assert (small[0].weight() - model[0].weight).abs().max() < 0.002
    assert small[0](torch.zeros(0, 8)).shape == (0, 4)


def test_quantized_in_place_and_by_name():
    model = network()
    assert quantization.quantize_dynamic(model, {"2"}, inplace=True) is model
    assert type(model[0]) is nn.Linear
    assert type(model[2]) is not nn.Linear
    half = quantization.quantize_dynamic(network(), dtype=torch.float16)
    assert half[0].half_weight.dtype == torch.float16


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(3, 3)
        self.body = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))


def kinds(spec):
    """The types of the weights of all linear layers, None where they stay float32."""
    model = quantization.quantize_dynamic(Model(), spec)
    layers = [model.head, model.body[0], model.body[2]]
    return [getattr(layer, "dtype", None) for layer in layers]


def test_settings_of_a_dictionary():
    int8, half = quantization.default_dynamic_qconfig, quantization.float16_dynamic_qconfig
    assert kinds({nn.Linear: None}) == [None, None, None]
    assert kinds({"body": int8, "body.2": None}) == [None, torch.qint8, None]
    assert kinds({nn.Linear: half, "head": int8}) == [torch.qint8, torch.float16, torch.float16]
    assert kinds({nn.Sequential: int8}) == [None, torch.qint8, torch.qint8]
    assert kinds({"": half}) == [torch.float16] * 3
    assert kinds({"body"}) == [None, torch.qint8, torch.qint8]
    with pytest.raises(NotImplementedError, match=r"expected default_dynamic_qconfig, .* got 3"):
        kinds({"head": 3})


@pytest.mark.parametrize("kind", [nn.Linear, nn.LSTM, nn.GRU])
def test_weights_in_float32_are_not_kept(kind):
    model = nn.Sequential(kind(64, 64))
    count = sum(each.numel() for each in model.parameters() if each.dim() == 2)
    watched = [weakref.ref(each) for each in model.parameters() if each.dim() == 2]
    quantization.quantize_dynamic(model, inplace=True)
    gc.collect()
    assert not any(reference() is not None for reference in watched)
    file = io.BytesIO()
    torch.save(model, file)
    assert len(file.getvalue()) < 1.3 * count + 4096


def test_quantized_layers_in_checkpoints(tmp_path):
    small = quantization.quantize_dynamic(network())
    torch.save(small.state_dict(), tmp_path / "small.pt")
    other = quantization.quantize_dynamic(
        nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 3))
    )
    other.load_state_dict(torch.load(tmp_path / "small.pt"))
    x = torch.randn(2, 8)
    assert torch.equal(other(x), small(x))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers(kind):
    torch.manual_seed(0)
    model = nn.ModuleDict({"rnn": kind(4, 3, num_layers=2)})
    small = quantization.quantize_dynamic(model)
    x = torch.randn(5, 2, 4)
    expected, _ = model["rnn"](x)
    result, _ = small["rnn"](x)
    assert (result - expected).abs().max() < 0.01
    assert repr(small["rnn"]).startswith(f"DynamicQuantized{kind.__name__}(4, 3")


def test_what_cannot_be_quantized():
    with pytest.raises(
        RuntimeError, match=r"expected torch\.qint8 or torch\.float16, got torch\.flo"
    ):
        quantization.quantize_dynamic(network(), dtype=torch.float32)
    with pytest.raises(NotImplementedError, match=r"expected nn\.Linear, .* got Conv2d"):
        quantization.quantize_dynamic(network(), {nn.Conv2d})
    for function in (quantization.prepare, quantization.convert, quantization.prepare_qat):
        with pytest.raises(NotImplementedError, match="quantize_dynamic keeps the weights"):
            function(network())


def test_stubs():
    model = quantization.QuantWrapper(network())
    x = torch.randn(2, 8)
    assert torch.equal(model(x), model.module(x))
    assert repr(quantization.DeQuantStub()) == "DeQuantStub()"
    assert quantization.get_default_qconfig("fbgemm").weight == torch.qint8
    with pytest.raises(AssertionError, match="expected a backend of fbgemm"):
        quantization.get_default_qconfig("abacus")


def test_functions_as_modules():
    function = torch.nn.quantized.FloatFunctional()
    x = torch.tensor([1.0, -2.0])
    assert function.add(x, x).tolist() == [2, -4]
    assert function.add_relu(x, x).tolist() == [2, 0]
    assert function.mul_scalar(x, 3).tolist() == [3, -6]
    assert function.cat([x, x], dim=0).shape == (4,)
    with pytest.raises(RuntimeError, match="use one of its methods"):
        function(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.bn = nn.BatchNorm2d(2)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


def test_fused_layers():
    torch.manual_seed(0)
    block = Block()
    block.bn.running_mean.uniform_()
    x = torch.randn(2, 1, 5, 5)
    block.eval()
    fused = quantization.fuse_modules(block, [["conv", "bn", "relu"]])
    assert repr(fused.bn) == "Identity()"
    assert type(fused.conv).__name__ == "ConvReLU2d"
    torch.testing.assert_close(fused(x), block(x))
    pair = quantization.fuse_modules(block, ["conv", "bn"])
    assert type(pair.conv) is nn.Conv2d
    torch.testing.assert_close(pair(x), block(x))
    block.train()
    trained = quantization.fuse_modules_qat(block, [["conv", "bn"]])
    assert type(trained.conv).__name__ == "ConvBn2d"
    linear = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    assert type(quantization.fuse_modules(linear, ["0", "1"])[0]).__name__ == "LinearReLU"


def test_layers_that_cannot_be_fused():
    block = Block().eval()
    with pytest.raises(NotImplementedError, match="ReLU, Conv2d cannot be fused"):
        quantization.fuse_modules(block, ["relu", "conv"])
    block.bn.train()
    with pytest.raises(AssertionError, match="some of the layers are in training"):
        quantization.fuse_modules(block, ["conv", "bn"])
    with pytest.raises(TypeError, match="LinearReLU: expected Linear, ReLU, got ReLU, ReLU"):
        torch.nn.intrinsic.LinearReLU(nn.ReLU(), nn.ReLU())

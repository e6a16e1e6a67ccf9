"""Quantisable networks: they work with floating-point numbers, and say what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

import flambeau as fb
from flambeau.vision import models
from flambeau.vision.models import quantization


def _vary_norms(model: fb.nn.Module) -> None:
    """Statistics and factors that change values: new ones could be left out unnoticed."""
    for module in model.modules():
        if isinstance(module, fb.nn.BatchNorm2d):
            for positive in (module.weight, module.running_var):
                fb.nn.init.uniform_(positive, 0.5, 1.5)
            for any_sign in (module.bias, module.running_mean):
                fb.nn.init.normal_(any_sign, std=0.2)


@pytest.mark.parametrize(
    "name", ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2_x0_5"]
)
def test_fused_layers_return_the_same(name: str) -> None:
    model = models.get_model(f"quantized_{name}", num_classes=4).eval()
    assert list(model.state_dict()) == list(models.get_model(name).state_dict())
    fb.manual_seed(0)
    _vary_norms(model)
    image = fb.randn(1, 3, 64, 64)
    with fb.no_grad():
        expected = model(image)
        model.fuse_model()
        # The factors of normalisations are rounded once more, into weights, in every layer.
        fb.testing.assert_close(
            model(image), expected, rtol=1e-3, atol=1e-3 * expected.abs().max().item()
        )
    assert not any(isinstance(module, fb.nn.BatchNorm2d) for module in model.modules())


def test_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    plain = models.ResNet18_Weights.IMAGENET1K_V1
    state = models.resnet18().state_dict()
    fb.save(state, tmp_path / plain.url.rpartition("/")[2])
    loaded = quantization.resnet18(weights="DEFAULT").state_dict()
    assert (loaded["fc.weight"] == state["fc.weight"]).all()
    smaller = models.get_model_weights("quantized_resnet18").DEFAULT
    assert smaller is quantization.ResNet18_QuantizedWeights.IMAGENET1K_FBGEMM_V1
    assert smaller.meta["unquantized"] is plain
    assert smaller.meta["backend"] == "fbgemm"


def test_integers_are_not_there_yet() -> None:
    with pytest.raises(NotImplementedError, match=r"no kernels.*Leave out quantize=True"):
        quantization.resnet18(quantize=True)
    weights = quantization.MobileNet_V2_QuantizedWeights.DEFAULT
    with pytest.raises(NotImplementedError, match="'qnnpack'"):
        quantization.mobilenet_v2(weights=weights, quantize=True)
    with pytest.raises(TypeError, match="expected ResNet18_Weights"):
        quantization.resnet18(weights=quantization.ResNet18_QuantizedWeights.DEFAULT)

"""`vision.models` against torchvision: names, initial weights of a seed, results, text."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from flambeau.vision import models as ours
from tests.conformance import vision_oracle

theirs = vision_oracle.load("models")
# Twice as much memory as is reasonable here; their parts are those of smaller models.
HEAVY = {"regnet_y_128gf", "vit_h_14"}
NAMES = [name for name in ours.list_models(module=ours) if name not in HEAVY]
SMALLEST = {"inception_v3": 96}


def _made(package: Any, name: str, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about initial weights that will change some day
        return package.get_model(name, **options)


@pytest.mark.parametrize("name", NAMES)
def test_state_and_results(name: str) -> None:
    """Ten classes: the same initial state dict, and nearly the same logits."""
    flambeau.manual_seed(7)
    torch.manual_seed(7)
    mine, other = _made(ours, name, num_classes=10), _made(theirs, name, num_classes=10)
    state, expected = mine.state_dict(), other.state_dict()
    assert list(state) == list(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(state[key].numpy(), value.numpy(), rtol=1e-6, atol=1e-7)
    side = 224 if "vit" in name else SMALLEST.get(name, 64)
    image = np.random.default_rng(0).standard_normal((1, 3, side, side), dtype=np.float32)
    with flambeau.no_grad(), torch.no_grad():
        results = mine.eval()(flambeau.from_numpy(image)), other.eval()(torch.from_numpy(image))
    scale = max(np.abs(results[1].numpy()).max(), 1e-3)
    np.testing.assert_allclose(results[0].numpy() / scale, results[1].numpy() / scale, atol=2e-4)


@pytest.mark.parametrize("name", ["alexnet", "resnet18", "resnet50", "vgg11_bn"])
def test_text(name: str) -> None:
    assert repr(_made(ours, name)) == repr(_made(theirs, name))


def test_weights() -> None:
    """All that is known about published weights."""
    for name in ours.list_models():
        mine, other = ours.get_model_weights(name), theirs.get_model_weights(name)
        assert mine.__name__ == other.__name__
        assert list(mine.__members__) == list(other.__members__)
        for ours_, theirs_ in zip(mine, other, strict=True):
            assert repr(ours_) == repr(theirs_)
            assert ours_.url == theirs_.url
            assert repr(ours_.transforms()) == repr(theirs_.transforms())
            known = {key: value for key, value in theirs_.meta.items() if key != "_docs"}
            metrics = known.pop("_metrics")
            assert str(ours_.meta["_metrics"]) == str(metrics)  # some are NaN
            assert {**known, "_metrics": ours_.meta["_metrics"]} == ours_.meta
        assert mine.DEFAULT.name == other.DEFAULT.name


def test_names() -> None:
    builder = ours.resnet18
    assert list(inspect.signature(builder).parameters) == list(
        inspect.signature(theirs.resnet18).parameters
    )
    assert set(ours.list_models()) <= set(theirs.list_models())
    assert set(ours.list_models(module=ours)) <= set(theirs.list_models(module=theirs))
    assert ours.list_models(module=ours.segmentation) == theirs.list_models(
        module=theirs.segmentation
    )
    assert ours.list_models(include="resnet*", exclude="*5*") == theirs.list_models(
        module=theirs, include="resnet*", exclude="*5*"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.resnet18(weights="nope"),
        lambda m: m.resnet18(weights=m.VGG16_Weights.DEFAULT),
        lambda m: m.get_model("nope"),
        lambda m: m.get_weight("Nope.X"),
        lambda m: m.resnet18(weights=m.ResNet18_Weights.DEFAULT, num_classes=3),
        lambda m: m.resnet18(replace_stride_with_dilation=[True]),
        lambda m: m.resnet18(replace_stride_with_dilation=[True] * 3),
        lambda m: m.resnet18(width_per_group=128),
    ],
)
def test_refusals(call: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError, NotImplementedError)) as expected:
        call(theirs)
    with pytest.raises(expected.type):
        call(ours)


def _extraction(package: Any) -> Any:
    oracle = package is theirs
    name = "models.feature_extraction"
    return (
        vision_oracle.load(name) if oracle else importlib.import_module(f"flambeau.vision.{name}")
    )


@pytest.mark.parametrize("name", ["resnet18", "vgg11", "mobilenet_v2", "densenet121"])
def test_names_of_nodes(name: str) -> None:
    """Of modules: the operators between them are written in another way."""
    lists = []
    for package in (ours, theirs):
        nodes, _ = _extraction(package).get_graph_node_names(
            _made(package, name), suppress_diff_warning=True
        )
        modules = dict(_made(package, name).named_modules())
        lists.append([node for node in nodes if node in modules])
    assert lists[0] == lists[1]


def test_features() -> None:
    image = np.random.default_rng(0).standard_normal((2, 3, 64, 64), dtype=np.float32)
    results, states = [], []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(0)
        wanted = {"layer1": "low", "layer3.0.add": "sum", "layer3.1.relu_1": "high"}
        body = _extraction(package).create_feature_extractor(package.resnet18(), wanted).eval()
        with t.no_grad():
            results.append({key: value.numpy() for key, value in body(t.from_numpy(image)).items()})
        states.append(list(body.state_dict()))
    assert states[0] == states[1]
    assert list(results[0]) == list(results[1])
    for key, value in results[1].items():
        np.testing.assert_allclose(results[0][key], value, rtol=1e-3, atol=1e-4)
    for package in (ours, theirs):
        with pytest.raises(ValueError, match="nowhere"):
            _extraction(package).create_feature_extractor(package.resnet18(), ["nowhere"])

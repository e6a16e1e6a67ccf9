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


def _made(package: Any, name: str, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about initial weights that will change some day
        return package.get_model(name, **options)


@pytest.mark.parametrize(
    "name",
    ["alexnet", "efficientnet_b0", "maxvit_t", "regnet_x_400mf", "resnet50", "s3d", "swin_t"],
)
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
            assert sorted(ours_.meta) == sorted(known)
            for key, value in known.items():
                # By their text: some metrics are NaN, and some weights are made of others.
                assert str(ours_.meta[key]) == str(value)
        assert mine.DEFAULT.name == other.DEFAULT.name


def test_names() -> None:
    builder = ours.resnet18
    assert list(inspect.signature(builder).parameters) == list(
        inspect.signature(theirs.resnet18).parameters
    )
    assert ours.list_models() == theirs.list_models()
    for name in ("detection", "optical_flow", "quantization", "segmentation", "video"):
        assert ours.list_models(module=getattr(ours, name)) == theirs.list_models(
            module=getattr(theirs, name)
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


SAME_NODES = [
    "resnet18",
    "vgg11",
    "mobilenet_v2",
    "densenet121",
    "convnext_tiny",
    "efficientnet_b0",
    "swin_t",
    "r3d_18",
    "s3d",
    "lraspp_mobilenet_v3_large",
]


def _nodes(package: Any, name: str) -> list[str]:
    options = {"weights_backbone": None} if "lraspp" in name else {}
    names: list[str] = _extraction(package).get_graph_node_names(
        _made(package, name, **options), suppress_diff_warning=True
    )[1]
    return names


@pytest.mark.parametrize("name", SAME_NODES)
def test_names_of_nodes(name: str) -> None:
    assert _nodes(ours, name) == _nodes(theirs, name)


@pytest.mark.parametrize("name", ["vit_b_32", "googlenet", "maxvit_t", "mvit_v1_b", "swin3d_t"])
def test_names_of_modules_among_nodes(name: str) -> None:
    """The operators between them are written in another way."""
    parts = dict(_made(ours, name).named_modules())
    mine, other = ([n for n in _nodes(package, name) if n in parts] for package in (ours, theirs))
    assert mine == other


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

"""Every network by what is published about it: parameters, sizes of images, shapes of results."""

from __future__ import annotations

import csv
import importlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau.vision import models

TABLE = Path(__file__).with_name("facts.tsv")
LARGEST = 100_000_000  # parameters; the parts of larger networks are those of smaller ones
# Smaller than what a network is made for, where its shape says so; the result is the same.
SMALLER: dict[str, tuple[dict[str, Any], str]] = {
    "maxvit_t": ({"input_size": (32, 32), "partition_size": 1}, "1x3x32x32"),
    "vit_b_16": ({"image_size": 32}, "1x3x32x32"),
    "vit_b_32": ({"image_size": 32}, "1x3x32x32"),
    "mvit_v1_b": ({"spatial_size": (32, 32), "temporal_size": 4}, "1x3x4x32x32"),
    "mvit_v2_s": ({"spatial_size": (32, 32), "temporal_size": 4}, "1x3x4x32x32"),
}


def _facts() -> dict[str, dict[str, str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader((line for line in lines if line[0] != "#"), delimiter="\t")
    return {row["model"]: row for row in rows}


FACTS = _facts()


def _made(name: str, **options: Any) -> fb.nn.Module:
    """A network without numbers, which takes neither time nor memory."""
    if FACTS[name]["package"] in ("detection", "segmentation"):
        options["weights_backbone"] = None
    with warnings.catch_warnings(), fb.device("meta"):
        warnings.simplefilter("ignore", FutureWarning)
        return models.get_model(name, **options)


def _count(model: fb.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize("package", sorted({fact["package"] for fact in FACTS.values()}))
def test_names(package: str) -> None:
    module = importlib.import_module(f"flambeau.vision.models.{package}".rstrip("."))
    known = [name for name, fact in FACTS.items() if fact["package"] == package]
    assert models.list_models(module=module) == sorted(known)


def test_all_names() -> None:
    assert models.list_models() == sorted(FACTS)


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(side) for side in text.split("x"))


def _text(result: Any) -> str:
    if isinstance(result, Mapping):
        return " ".join(f"{key}={_text(value)}" for key, value in result.items())
    if isinstance(result, (list, tuple)):
        return " ".join(_text(value) for value in result)
    return "x".join(map(str, result.shape))


@pytest.mark.parametrize("name", models.list_models())
def test_facts(name: str) -> None:
    fact = FACTS[name]
    weights = models.get_model_weights(name).DEFAULT
    assert weights.meta["num_params"] == int(fact["published"])
    if fact["side"]:
        assert weights.transforms().crop_size == [int(fact["side"])]
    model = _made(name)
    assert _count(model) == int(fact["parameters"])
    if not fact["output"] or int(fact["parameters"]) > LARGEST:
        return
    options, size = SMALLER.get(name, ({}, fact["input"]))
    model = _made(name, **options) if options else model
    image = fb.empty(_shape(size), device="meta")
    pair = {"num_flow_updates": 1, "image2": image} if fact["package"] == "optical_flow" else {}
    with fb.no_grad():
        assert _text(model.eval()(image, **pair)) == fact["output"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("vit_h_14", {"image_size": 518}),
        ("googlenet", {"aux_logits": False, "init_weights": False}),
        ("fcn_resnet50", {"aux_loss": True}),
        ("deeplabv3_mobilenet_v3_large", {"aux_loss": True}),
    ],
)
def test_published_parameters(name: str, options: dict[str, Any]) -> None:
    """Of weights for another size, and for more or fewer parts, than a network has by itself."""
    assert FACTS[name]["parameters"] != FACTS[name]["published"]
    assert _count(_made(name, **options)) == int(FACTS[name]["published"])

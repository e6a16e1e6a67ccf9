"""Published weights as torchvision and PyTorch's hub have them: names, preparation, files."""

from __future__ import annotations

import hashlib
import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import flambeau
from flambeau.vision import models as ours
from tests.conformance import vision_oracle

theirs = vision_oracle.load("models")
SETTINGS = ("crop_size", "resize_size", "mean", "std", "antialias")
# One of each family whose files need something of their own: auxiliary parts, older names, a size.
FAMILIES = [
    "resnet18",
    "mobilenet_v3_small",
    "densenet121",
    "googlenet",
    "vit_b_32",
    "convnext_tiny",
]


def _picture() -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 256, (37, 50, 3), dtype=np.uint8)
    return Image.fromarray(pixels).resize((400, 300))


@pytest.mark.parametrize("name", ours.list_models(module=ours))
def test_preparation(name: str) -> None:
    """The settings of every member."""
    mine, other = ours.get_model_weights(name), theirs.get_model_weights(name)
    for member in mine.__members__:
        a, b = mine[member].transforms(), other[member].transforms()
        assert {key: getattr(a, key) for key in SETTINGS} == {
            key: getattr(b, key) for key in SETTINGS
        }
        assert str(a.interpolation) == str(b.interpolation)
        assert ours.get_weight(f"{mine.__name__}.{member}") is mine[member]
        assert mine.verify(member) is mine[member]


@pytest.mark.parametrize("name", ["resnet18", "resnet50", "vit_b_16", "efficientnet_b1"])
def test_prepared_pictures(name: str) -> None:
    """The pixels that a network sees."""
    for member in ours.get_model_weights(name).__members__:
        prepared = [
            np.asarray(package.get_model_weights(name)[member].transforms()(_picture()))
            for package in (ours, theirs)
        ]
        np.testing.assert_allclose(*prepared, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"include": "resnet*"},
        {"include": ["*18*", "vgg*"], "exclude": "*bn"},
        {"exclude": ["*e*", "*a*"]},
        {"include": "nothing*"},
        {"include": []},
    ],
)
def test_lists(options: dict[str, Any]) -> None:
    known = set(ours.list_models())
    other = [name for name in theirs.list_models(module=theirs, **options) if name in known]
    assert ours.list_models(module=ours, **options) == other


def test_functions() -> None:
    assert ours.get_model_builder("ResNet18") is ours.resnet18
    assert ours.get_model_weights(ours.resnet18) is ours.ResNet18_Weights
    for name in (
        "get_model",
        "get_model_builder",
        "get_model_weights",
        "get_weight",
        "list_models",
    ):
        assert list(inspect.signature(getattr(ours, name)).parameters) == list(
            inspect.signature(getattr(theirs, name)).parameters
        )


def _published(name: str, folder: Path) -> Any:
    """A network of torchvision with random weights, saved under the name of its published file."""
    torch.manual_seed(0)
    weights = theirs.get_model_weights(name).DEFAULT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about initial weights that will change some day
        network = theirs.get_model(name)
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():  # heads that begin with nothing
                parameter.normal_(0, 0.02)
    torch.save(network.state_dict(), folder / weights.url.rpartition("/")[2])
    return network.eval()


@pytest.mark.parametrize("name", FAMILIES)
def test_files_of_torchvision(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    other = _published(name, tmp_path)
    weights = ours.get_model_weights(name)["DEFAULT"]
    mine = ours.get_model(name, weights=weights).eval()
    image = weights.transforms()(_picture())[None]
    if name == "googlenet":
        other.transform_input = True  # as with weights
    with flambeau.no_grad(), torch.no_grad():
        results = mine(image).numpy(), other(torch.from_numpy(image.numpy())).numpy()
    scale = np.abs(results[1]).max()
    np.testing.assert_allclose(results[0] / scale, results[1] / scale, atol=1e-4)


def test_files_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One cache for both."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.delenv("FLAMBEAU_WEIGHTS", raising=False)
    assert flambeau.hub.get_dir() == torch.hub.get_dir()
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    state = _published("squeezenet1_1", folder).state_dict()
    for package in (ours, theirs):
        loaded = package.squeezenet1_1(weights="DEFAULT").state_dict()
        assert list(loaded) == list(state)
        assert all((loaded[key].numpy() == value.numpy()).all() for key, value in state.items())


@pytest.mark.parametrize(
    "name",
    [
        "load",
        "list",
        "help",
        "load_state_dict_from_url",
        "download_url_to_file",
        "set_dir",
        "get_dir",
    ],
)
def test_signatures_of_the_hub(name: str) -> None:
    mine, other = (
        inspect.signature(getattr(package.hub, name)).parameters for package in (flambeau, torch)
    )
    assert [(p.name, p.kind) for p in mine.values()] == [(p.name, p.kind) for p in other.values()]
    # Files are loaded without their code unless one asks for it.
    safe = {"weights_only"}
    assert {p.name: p.default for p in mine.values() if p.name not in safe} == {
        p.name: p.default for p in other.values() if p.name not in safe
    }


def test_files_by_address(tmp_path: Path) -> None:
    source = tmp_path / "net.pt"
    torch.save({"x": torch.arange(3)}, source)
    digits = hashlib.sha256(source.read_bytes()).hexdigest()[:8]
    for package, folder in ((flambeau, tmp_path / "a"), (torch, tmp_path / "b")):
        state = package.hub.load_state_dict_from_url(
            source.as_uri(),
            str(folder),
            "cpu",
            progress=False,
            check_hash=True,
            file_name=f"mine-{digits}.pt",
        )
        assert state["x"].tolist() == [0, 1, 2]
        assert [path.name for path in folder.iterdir()] == [f"mine-{digits}.pt"]
        with pytest.raises(RuntimeError, match=r'invalid hash value \(expected "0000"'):
            package.hub.download_url_to_file(
                source.as_uri(), str(folder / "wrong"), "0000", progress=False
            )
        assert not (folder / "wrong").exists()

"""Networks by published facts: their parameters, the shapes they return, weights from files."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.error import URLError

import pytest

import flambeau as fb
from flambeau.vision import models
from flambeau.vision.models import _utils, feature_extraction


def test_a_step_of_training() -> None:
    model = models.resnet18(num_classes=4)
    optimizer = fb.optim.SGD(model.parameters(), lr=0.01)
    images, labels = fb.randn(4, 3, 64, 64), fb.tensor([0, 1, 2, 3])
    loss = fb.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    assert model(images).shape == (4, 4)


def _file(weights: models.WeightsEnum, folder: Path) -> dict[str, fb.Tensor]:
    state = models.resnet18().state_dict()
    fb.save(state, folder / weights.url.rpartition("/")[2])
    return state


def test_weights_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    state = _file(models.ResNet18_Weights.IMAGENET1K_V1, tmp_path)
    for choice in ("DEFAULT", "IMAGENET1K_V1", models.ResNet18_Weights.DEFAULT):
        loaded = models.resnet18(weights=choice).state_dict()
        assert (loaded["fc.weight"] == state["fc.weight"]).all()
    with pytest.warns(
        UserWarning, match="'pretrained' is deprecated|Arguments other than a weight"
    ):
        loaded = models.resnet18(pretrained=True).state_dict()
    assert (loaded["conv1.weight"] == state["conv1.weight"]).all()


def test_offline_says_where_to_put_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.delenv("FLAMBEAU_WEIGHTS", raising=False)
    weights = models.ResNet18_Weights.DEFAULT
    monkeypatch.setattr(weights.value, "url", "http://127.0.0.1:1/resnet18-f37072fd.pth")
    with pytest.raises(URLError, match=r"checkpoints.resnet18-f37072fd\.pth.*FLAMBEAU_WEIGHTS"):
        models.resnet18(weights=weights)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_weights_know_their_transform() -> None:
    weights = models.get_weight("ResNet50_Weights.IMAGENET1K_V2")
    assert weights is models.ResNet50_Weights.DEFAULT
    assert weights.transforms()(fb.zeros(3, 300, 400, dtype=fb.uint8)).shape == (3, 224, 224)
    assert weights.meta["categories"][:2] == ["tench", "goldfish"]
    assert len(weights.meta["categories"]) == 1000


def test_layers_of_a_network() -> None:
    body = _utils.IntermediateLayerGetter(models.resnet18(), {"layer1": "low", "layer3": "high"})
    results = body(fb.randn(1, 3, 64, 64))
    assert {name: value.shape for name, value in results.items()} == {
        "low": (1, 64, 16, 16),
        "high": (1, 256, 4, 4),
    }
    assert "layer4" not in body
    with pytest.raises(ValueError, match="layer9"):
        _utils.IntermediateLayerGetter(models.resnet18(), {"layer9": "0"})


def test_features_by_name() -> None:
    model = models.resnet18().eval()
    body = feature_extraction.create_feature_extractor(model, {"layer2": "a", "avgpool": "b"})
    image = fb.randn(1, 3, 64, 64)
    results = body(image)
    assert {name: value.shape for name, value in results.items()} == {
        "a": (1, 128, 8, 8),
        "b": (1, 512, 1, 1),
    }
    fb.testing.assert_close(model.fc(results["b"].flatten(1)), model(image))
    assert "fc.weight" not in body.state_dict()
    train, evaluation = feature_extraction.get_graph_node_names(model)
    assert train == evaluation
    assert train[:2] + train[-2:] == ["x", "conv1", "flatten", "fc"]
    with pytest.raises(ValueError, match="layer9"):
        feature_extraction.create_feature_extractor(model, ["layer9"])


def test_auxiliary_classifiers_may_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    name = models.GoogLeNet_Weights.DEFAULT.url.rpartition("/")[2]
    fb.save(models.googlenet(init_weights=False).state_dict(), tmp_path / name)
    assert models.googlenet(weights="DEFAULT").aux1 is None
    assert models.googlenet(weights="DEFAULT", aux_logits=True).aux1 is not None


def test_published_names_of_dense_layers() -> None:
    """Their files are older than the names."""
    model = models.densenet121()
    old = {
        re.sub(r"(denselayer\d+\.(?:norm|conv))([12])\.", r"\1.\2.", name): value
        for name, value in model.state_dict().items()
    }
    assert old.keys() != model.state_dict().keys()
    model.load_state_dict(old)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"Unknown model resnet19: .*resnet18"):
        models.get_model("resnet19")
    with pytest.raises(TypeError, match="expected ResNet18_Weights"):
        models.resnet18(weights=models.VGG16_Weights.DEFAULT)
    with pytest.raises(ValueError, match=r"num_classes.*1000 but got 3"):
        models.resnet18(weights="DEFAULT", num_classes=3)

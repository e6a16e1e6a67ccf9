"""Networks by published facts: their parameters, the shapes they return, weights from files."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from urllib.error import URLError

import pytest

import flambeau as fb
from flambeau.vision import models
from flambeau.vision.models import _api, _meta, _utils, feature_extraction


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
    assert weights.meta["categories"] is _meta._IMAGENET_CATEGORIES
    for each in (weights, models.segmentation.FCN_ResNet50_Weights.DEFAULT):
        assert pickle.loads(pickle.dumps(each)) is each
    assert _meta._VOC_CATEGORIES[-1] == "tvmonitor"


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


def test_features_of_transformers() -> None:
    transformers = {
        models.VisionTransformer(32, 8, 1, 2, 8, 8): [
            "encoder.layers.encoder_layer_0",
            "encoder.ln",
        ],
        models.SwinTransformer([4, 4], 8, [2, 2], [2, 2], [3, 3]): [
            "features.1",
            "features.3.1.add_1",
        ],
    }
    image = fb.randn(1, 3, 32, 32)
    for model, nodes in transformers.items():
        body = feature_extraction.create_feature_extractor(model.eval(), nodes)
        assert list(body(image)) == nodes


def test_images_of_another_size_for_a_vision_transformer() -> None:
    options = {"num_layers": 1, "num_heads": 2, "hidden_dim": 8, "mlp_dim": 8, "num_classes": 3}
    small = models.VisionTransformer(image_size=32, patch_size=8, **options)
    large = models.VisionTransformer(image_size=48, patch_size=8, **options)
    resized = models.vision_transformer.interpolate_embeddings(48, 8, small.state_dict())
    large.load_state_dict(resized)
    fb.testing.assert_close(large.encoder.pos_embedding[:, 0], small.encoder.pos_embedding[:, 0])
    stem = [models.vision_transformer.ConvStemConfig(4, 3, 2)] * 3
    early = models.VisionTransformer(32, 8, **options, conv_stem_configs=stem)
    assert early(fb.randn(2, 3, 32, 32)).shape == (2, 3)
    with pytest.raises(AssertionError, match=r"Wrong image width!.*32 but got 40"):
        small(fb.randn(2, 3, 32, 40))
    with pytest.raises(ValueError, match="not a perfect square"):
        models.vision_transformer.interpolate_embeddings(
            48, 8, {"encoder.pos_embedding": fb.zeros(1, 13, 8)}
        )


def test_old_spellings() -> None:
    with pytest.warns(UserWarning, match="'weights' as positional"):
        models.resnet18(None)
    with (
        pytest.raises(ValueError, match="No weights available for model vit_h_14"),
        pytest.warns(UserWarning, match="'pretrained' is deprecated"),
    ):
        models.vit_h_14(pretrained=True)
    with pytest.raises(TypeError, match=r"takes at most 2 .*weights, progress.* 3 were given"):
        models.resnet18(None, True, 10)


def test_models_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_api, "_builders", dict(_api._builders))

    @_api.register_model()
    @_utils.handle_legacy_interface(weights=("pretrained", models.ResNet18_Weights.IMAGENET1K_V1))
    def tiny(*, weights: models.WeightsEnum | None = None, classes: int = 2) -> fb.nn.Module:
        return fb.nn.Linear(1 if weights is None else 2, classes)

    assert "tiny" in models.list_models()
    assert models.get_model("tiny", classes=3).weight.shape == (3, 1)
    with pytest.warns(UserWarning, match="'pretrained' is deprecated|Arguments other than"):
        assert models.get_model("tiny", pretrained=True).weight.shape == (2, 2)
    with pytest.warns(UserWarning, match="'weights', 'classes' as positional"):
        assert tiny(None, 4).weight.shape == (4, 1)
    with pytest.raises(ValueError, match="already registered"):
        _api.register_model("tiny")(tiny)


def test_stages_of_a_program() -> None:
    """Networks from the settings that other programs make."""
    stages = [models.efficientnet.MBConvConfig(1, 3, 2, 8, 16, 2, width_mult=2.0)]
    assert models.EfficientNet(stages, 0.0, num_classes=3)(fb.randn(2, 3, 32, 32)).shape == (2, 3)
    with pytest.raises(TypeError, match=r"MBConvConfig.*int"):
        models.EfficientNet([1], 0.0)
    params = models.regnet.BlockParams.from_init_params(4, 24, 24.48, 2.54, 8, se_ratio=0.25)
    assert sum(params.depths) == 4
    assert models.RegNet(params, num_classes=3)(fb.randn(2, 3, 64, 64)).shape == (2, 3)
    with pytest.raises(ValueError, match=r"Invalid RegNet settings.*w_0=20"):
        models.regnet.BlockParams.from_init_params(4, 20, 24.48, 2.54, 8)


def test_a_first_version_of_mnasnet() -> None:
    old = models.mnasnet0_5(num_classes=3)
    with pytest.warns(UserWarning, match="A new version of MNASNet"):
        old._fb_unscale_stem()
    model = models.mnasnet0_5(num_classes=3)
    with pytest.warns(UserWarning, match="A new version of MNASNet"):
        model.load_state_dict(old.state_dict())
    assert model.layers[0].weight.shape == (32, 3, 3, 3)
    image = fb.randn(1, 3, 32, 32)
    fb.testing.assert_close(model.eval()(image), old.eval()(image))


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

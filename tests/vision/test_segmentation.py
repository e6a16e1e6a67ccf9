"""Networks for segmentation: what they return, a step of training, weights from files."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pytest

import flambeau as fb
from flambeau.vision import models
from flambeau.vision.models import segmentation

IMAGE = (1, 3, 41, 53)


@pytest.mark.parametrize("name", models.list_models(module=segmentation))
def test_classes_of_every_pixel(name: str) -> None:
    model = models.get_model(name, num_classes=4, weights_backbone=None).eval()
    with fb.no_grad():
        result = model(fb.randn(IMAGE))
    assert isinstance(result, OrderedDict)
    assert {key: value.shape for key, value in result.items()} == {"out": (1, 4, 41, 53)}


def test_a_step_of_training_with_an_auxiliary_classifier() -> None:
    model = segmentation.deeplabv3_mobilenet_v3_large(
        num_classes=3, aux_loss=True, weights_backbone=None
    )
    labels = fb.randint(0, 3, (2, 41, 53))
    result = model(fb.randn(2, 3, 41, 53))
    assert list(result) == ["out", "aux"]
    loss = sum(fb.nn.functional.cross_entropy(scores, labels) for scores in result.values())
    loss.backward()
    assert all(parameter.grad is not None for parameter in model.classifier.parameters())
    assert all(parameter.grad is not None for parameter in model.aux_classifier.parameters())


def _save(model: fb.nn.Module, weights: models.WeightsEnum, folder: Path) -> None:
    fb.save(model.state_dict(), folder / weights.url.rpartition("/")[2])


def test_weights_of_the_whole_and_of_the_backbone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    whole = segmentation.lraspp_mobilenet_v3_large(weights_backbone=None)
    _save(whole, segmentation.LRASPP_MobileNet_V3_Large_Weights.DEFAULT, tmp_path)
    loaded = segmentation.lraspp_mobilenet_v3_large(weights="DEFAULT")
    assert (loaded.classifier.cbr[0].weight == whole.classifier.cbr[0].weight).all()

    body = models.mobilenet_v3_large()
    _save(body, models.MobileNet_V3_Large_Weights.IMAGENET1K_V1, tmp_path)
    # Only the file of the backbone is wanted, and it is what is loaded unless told otherwise.
    model = segmentation.lraspp_mobilenet_v3_large(num_classes=2)
    assert (model.backbone["0"][0].weight == body.features[0][0].weight).all()
    with pytest.warns(
        UserWarning, match="'pretrained_backbone' is deprecated|weights_backbone=None"
    ):
        model = segmentation.lraspp_mobilenet_v3_large(num_classes=2, pretrained_backbone=False)
    assert (model.backbone["0"][0].weight != body.features[0][0].weight).any()


def test_what_weights_know() -> None:
    weights = models.get_weight("FCN_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1")
    assert weights is segmentation.FCN_ResNet50_Weights.DEFAULT
    assert weights.meta["categories"][:2] == ["__background__", "aeroplane"]
    assert weights.meta["_metrics"] == {
        "COCO-val2017-VOC-labels": {"miou": 60.5, "pixel_acc": 91.4}
    }
    prepared = weights.transforms(resize_size=30)(fb.zeros(3, 40, 80, dtype=fb.uint8))
    assert prepared.shape == (3, 30, 60)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"num_classes.*21 but got 5"):
        segmentation.fcn_resnet50(weights="DEFAULT", num_classes=5)
    with pytest.raises(ValueError, match=r"aux_loss.*True but got False"):
        segmentation.fcn_resnet50(weights="DEFAULT", aux_loss=False)
    with pytest.raises(TypeError, match="expected ResNet50_Weights but received VGG16_Weights"):
        segmentation.fcn_resnet50(weights_backbone=models.VGG16_Weights.DEFAULT)

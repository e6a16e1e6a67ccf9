"""The second interface: samples of images, masks and labels in any nesting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau.vision import tv_tensors
from flambeau.vision.transforms import v2
from flambeau.vision.transforms.v2 import functional as F


def _sample() -> dict[str, Any]:
    mask = tv_tensors.Mask(fb.arange(64).view(8, 8) % 3)
    image = tv_tensors.Image(mask.repeat(3, 1, 1).float() / 2)
    return {"image": image, "masks": [mask], "label": 7}


def test_masks_follow_their_image() -> None:
    fb.manual_seed(0)
    steps = v2.Compose([v2.RandomCrop(6), v2.RandomHorizontalFlip(1.0), v2.RandomRotation(30)])
    out = steps(_sample())
    assert out["label"] == 7
    assert isinstance(out["masks"][0], tv_tensors.Mask)
    assert (out["image"][0] * 2 == out["masks"][0]).all()


def test_colors_leave_masks_alone() -> None:
    sample = _sample()
    out = v2.Compose([v2.RandomInvert(1.0), v2.ToDtype(fb.uint8, scale=True)])(sample)
    assert out["image"].dtype == fb.uint8
    assert (out["masks"][0] == sample["masks"][0]).all()
    assert out["masks"][0].dtype == fb.int64


def test_meaning_does_not_spread() -> None:
    image = v2.ToImage()(Image.new("RGB", (4, 3), "red"))
    assert isinstance(image, tv_tensors.Image)
    assert type(image + 1) is fb.Tensor
    assert type(v2.ToPureTensor()(image)) is fb.Tensor
    assert isinstance(tv_tensors.wrap(image + 1, like=image), tv_tensors.Image)
    assert v2.ToImage()(np.zeros((4, 5, 3), dtype=np.uint8)).shape == (3, 4, 5)
    assert tv_tensors.Image(fb.zeros(4, 5)).shape == (1, 4, 5)


def test_only_the_first_plain_tensor_is_an_image() -> None:
    first, (second, text) = v2.Resize(4)(fb.zeros(3, 8, 8), (fb.zeros(3, 8, 8), "x"))
    assert first.shape == (3, 4, 4)
    assert second.shape == (3, 8, 8)
    assert text == "x"


def test_own_transforms() -> None:
    class Shift(v2.Transform):
        def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
            return {"by": len(flat_inputs)}

        def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
            return inpt + params["by"]

    shifted = Shift()(fb.zeros(3, 2, 2), 5)
    assert shifted[0].eq(1).all()
    assert shifted[1] == 5


def test_functions() -> None:
    image = fb.rand(3, 8, 6)
    assert F.resize(inpt=image, size=[4, 3], antialias=True).shape == (3, 4, 3)
    assert F.pad(image, padding=[1], fill=None).shape == (3, 10, 8)
    assert F.to_dtype_image(image, dtype=fb.uint8, scale=True).dtype == fb.uint8
    assert F.grayscale_to_rgb(image[:1]).shape == (3, 8, 6)
    assert F.get_size(image) == [8, 6]


def test_mixtures_need_batches() -> None:
    images, labels = v2.MixUp(num_classes=4)(fb.rand(3, 3, 4, 4), fb.tensor([0, 1, 2]))
    assert images.shape == (3, 3, 4, 4)
    fb.testing.assert_close(labels.sum(1), fb.ones(3))
    with pytest.raises(ValueError, match="after the DataLoader"):
        v2.CutMix(num_classes=4)(fb.rand(3, 4, 4), fb.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match="num_classes"):
        v2.MixUp()(fb.rand(3, 3, 4, 4), fb.tensor([0, 1, 2]))


def test_refusals() -> None:
    with pytest.raises(TypeError, match="ToImage"):
        v2.Normalize([0.5], [0.5])(Image.new("RGB", (4, 3)))
    with pytest.raises(TypeError, match="Mask"):
        v2.RandAugment()(_sample())
    with pytest.raises(TypeError, match="No image"):
        v2.RandomCrop(4)({"label": 3})

"""Transforms on images small enough to work out by hand, and what they refuse."""

from __future__ import annotations

import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau import nn
from flambeau.vision import transforms as T
from flambeau.vision.transforms import functional as F


def _bytes(*shape: int) -> fb.Tensor:
    return (fb.arange(math.prod(shape)) % 256).to(fb.uint8).view(*shape)


def test_to_tensor_scales_bytes() -> None:
    picture = Image.fromarray(np.array([[[0, 51, 255], [102, 204, 153]]], dtype=np.uint8))
    tensor = T.ToTensor()(picture)
    assert tensor.shape == (3, 1, 2)
    fb.testing.assert_close(tensor, fb.tensor([[[0.0, 0.4]], [[0.2, 0.8]], [[1.0, 0.6]]]))
    assert F.to_tensor(np.zeros((4, 5))).shape == (1, 4, 5)


def test_sixteen_bits() -> None:
    picture = Image.new("I;16", (4, 3), 300)
    assert F.to_tensor(picture).dtype == fb.int16
    assert F.pil_to_tensor(picture).unique().tolist() == [300]


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "CMYK", "HSV", "F", "I", "1"])
def test_pil_and_back(mode: str) -> None:
    picture = Image.fromarray(np.arange(60, dtype=np.uint8).reshape(4, 5, 3) * 4).convert(mode)
    tensor = F.pil_to_tensor(picture)
    assert tensor.shape == (len(picture.getbands()), 4, 5)
    if mode != "1":
        again = F.to_pil_image(tensor, mode=mode)
        assert again.mode == mode
        assert again.tobytes() == picture.tobytes()


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("sides", [1, (2, 1), (0, 1, 2, 3)])
def test_tensors_and_pil_images_agree(mode: str, sides: Any) -> None:
    image = _bytes(3, 5, 6)
    padded = F.pil_to_tensor(F.pad(F.to_pil_image(image), sides, 7, mode))
    assert (F.pad(image, sides, 7, mode) == padded).all()


def test_crop_outside_is_black() -> None:
    image = _bytes(1, 4, 4) + 1
    assert F.crop(image, -1, 2, 3, 4).tolist() == [[[0, 0, 0, 0], [3, 4, 0, 0], [7, 8, 0, 0]]]
    assert F.crop(image, 10, -20, 2, 3).tolist() == [[[0, 0, 0], [0, 0, 0]]]


def test_sizes() -> None:
    image = fb.zeros(3, 40, 60)
    assert F.resize(image, 20).shape == (3, 20, 30)
    assert F.resize(image, 39, max_size=45).shape == (3, 30, 45)
    assert F.resize(image, 40) is image
    assert F.rotate(image, 90, expand=True).shape == (3, 60, 40)
    assert F.center_crop(image, [50, 50]).shape == (3, 50, 50)
    assert len(F.ten_crop(image, 10)) == 10


def test_turn_by_right_angles() -> None:
    image = _bytes(1, 4, 4).float()
    assert (F.rotate(image, 90) == fb.rot90(image, 1, (1, 2))).all()
    assert (F.affine(image, 0, [1, 0], 1.0, 0.0)[:, :, 1:] == image[:, :, :-1]).all()


def test_colors() -> None:
    red = fb.tensor([255, 0, 0], dtype=fb.uint8).view(3, 1, 1)
    assert F.adjust_hue(red, 1 / 3).flatten().tolist() == [0, 255, 0]
    assert F.rgb_to_grayscale(red).flatten().tolist() == [76]
    assert F.invert(red).flatten().tolist() == [0, 255, 255]
    assert F.adjust_saturation(red, 0.0).flatten().tolist() == [76, 76, 76]
    assert F.solarize(red, 128).flatten().tolist() == [0, 0, 0]


def test_equalize_spreads_shades() -> None:
    image = fb.tensor([[10, 10, 11, 12]], dtype=fb.uint8).repeat(64, 64)[None]
    assert sorted(set(F.equalize(image).flatten().tolist())) == [0, 171, 255]


def test_pipelines_as_modules() -> None:
    steps = nn.Sequential(T.Resize(8), T.CenterCrop(4), T.Normalize([0.5], [0.5]))
    assert steps(fb.rand(2, 1, 20, 30)).shape == (2, 1, 4, 4)
    pipeline = T.Compose([T.RandomCrop(4, padding=1), T.RandomErasing(1.0)])
    assert repr(pickle.loads(pickle.dumps(pipeline))) == repr(pipeline)


def test_a_seed_repeats_a_pipeline() -> None:
    pipeline = T.Compose(
        [T.RandomResizedCrop(8), T.ColorJitter(0.4, 0.4, 0.4, 0.1), T.RandomErasing()]
    )
    results = []
    for _ in range(2):
        fb.manual_seed(5)
        results.append(fb.stack([pipeline(fb.ones(3, 12, 12) * 0.3) for _ in range(4)]))
    assert (results[0] == results[1]).all()


def test_inplace_is_in_place() -> None:
    image = fb.rand(3, 4, 4)
    assert F.normalize(image, 0.5, 0.5, inplace=True) is image
    kept = image.clone()
    F.normalize(image, 0.5, 0.5)
    F.erase(image, 0, 0, 2, 2, 0.0)
    assert (image == kept).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: F.resize("x", 3), TypeError, "PIL Image or Tensor"),
        (lambda: F.hflip(fb.zeros(3)), TypeError, r"shape \(3,\)"),
        (lambda: F.resize(fb.zeros(3, 4, 4), [1, 2, 3]), ValueError, "1 or 2 element"),
        (lambda: F.normalize(_bytes(3, 4, 4), 0.5, 0.5), TypeError, "float tensor"),
        (lambda: F.normalize(fb.zeros(3, 4, 4), 0.5, 0.0), ValueError, "division by zero"),
        (lambda: F.adjust_brightness(fb.zeros(5, 4, 4), 1.0), TypeError, "found 5"),
        (lambda: F.adjust_hue(fb.zeros(3, 4, 4), 0.7), ValueError, "0.7"),
        (lambda: T.RandomCrop(9)(fb.zeros(3, 4, 4)), ValueError, "larger than input image"),
        (lambda: F.to_pil_image(fb.zeros(7, 4, 4)), ValueError, "7 channels"),
        (lambda: F.gaussian_blur(fb.zeros(3, 4, 4), 4), ValueError, "odd"),
        (lambda: F.elastic_transform(fb.zeros(3, 4, 4), fb.zeros(1)), ValueError, "displacement"),
    ],
)
def test_bad_input(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors work, and what needs Pillow says how to get it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "PIL"]:
        monkeypatch.setitem(sys.modules, name, None)
    assert T.Resize(4)(fb.zeros(3, 8, 8)).shape == (3, 4, 4)
    with pytest.raises(ImportError, match=r"flambeau\[vision\]"):
        F.to_pil_image(fb.zeros(3, 4, 4))


def test_images_without_a_side_have_no_aspect_ratio() -> None:
    with pytest.raises(ValueError, match="0 x 4 pixels has no aspect ratio"):
        F.resize(fb.zeros(3, 0, 4), 5)


def test_random_erasing_takes_tensors() -> None:
    with pytest.raises(TypeError, match="RandomErasing takes tensors, got Image"):
        T.RandomErasing(1.0)(Image.new("RGB", (5, 5)))

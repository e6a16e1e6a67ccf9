"""`vision.transforms.v2` against torchvision: pixels, random draws, samples with masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import flambeau
from flambeau.vision import tv_tensors as our_tensors
from flambeau.vision.transforms import v2 as ours
from tests.conformance import vision_oracle

theirs = vision_oracle.load("transforms.v2")
their_tensors = vision_oracle.load("tv_tensors")
Make = Callable[[Any, Any], Any]

_ROWS, _COLUMNS = np.mgrid[0:37, 0:51]
_SMOOTH = (127 + 120 * np.sin(_ROWS / 5 + _COLUMNS / 7)[..., None] * [1, 0.8, -0.9]).astype(
    np.uint8
)


def _image(kind: str, torch_: Any, tensors: Any) -> Any:
    if kind == "PIL":
        return Image.fromarray(_SMOOTH)
    tensor = torch_.tensor(np.ascontiguousarray(_SMOOTH.transpose(2, 0, 1)))
    if "float" in kind:
        tensor = tensor.float() / 255
    return tensors.Image(tensor) if "Image" in kind else tensor


KINDS = ("PIL", "uint8", "float", "float Image")
TENSORS = ("uint8", "float", "float Image")
FLOATS = ("float", "float Image")
BYTES = ("PIL", "uint8")

CASES: dict[str, tuple[tuple[str, ...], Make]] = {
    "Resize": (KINDS, lambda t, _: t.Resize(20)),
    "Resize max": (KINDS, lambda t, _: t.Resize(36, max_size=40)),
    "CenterCrop": (KINDS, lambda t, _: t.CenterCrop((40, 30))),
    "Pad": (KINDS, lambda t, _: t.Pad((1, 2, 3, 4), fill=9)),
    "Pad reflect": (KINDS, lambda t, _: t.Pad(3, padding_mode="reflect")),
    "RandomCrop": (KINDS, lambda t, _: t.RandomCrop((20, 30), padding=2)),
    "RandomResizedCrop": (KINDS, lambda t, _: t.RandomResizedCrop(24)),
    "RandomHorizontalFlip": (KINDS, lambda t, _: t.RandomHorizontalFlip()),
    "RandomVerticalFlip": (KINDS, lambda t, _: t.RandomVerticalFlip(0.7)),
    "FiveCrop": (KINDS, lambda t, _: t.FiveCrop(20)),
    "ColorJitter": (KINDS, lambda t, _: t.ColorJitter(0.4, 0.4, 0.4, 0.1)),
    "Grayscale": (KINDS, lambda t, _: t.Grayscale(3)),
    "RandomGrayscale": (KINDS, lambda t, _: t.RandomGrayscale(0.7)),
    "GaussianBlur": (KINDS, lambda t, _: t.GaussianBlur((5, 9))),
    "GaussianNoise": (TENSORS, lambda t, _: t.GaussianNoise(0.1, 0.2)),
    "RandomInvert": (KINDS, lambda t, _: t.RandomInvert(0.9)),
    "RandomPosterize": (BYTES, lambda t, _: t.RandomPosterize(3, 0.9)),
    "RandomSolarize": (BYTES, lambda t, _: t.RandomSolarize(100, 0.9)),
    "RandomAdjustSharpness": (KINDS, lambda t, _: t.RandomAdjustSharpness(2.5, 0.9)),
    "RandomAutocontrast": (KINDS, lambda t, _: t.RandomAutocontrast(0.9)),
    "RandomEqualize": (BYTES, lambda t, _: t.RandomEqualize(0.9)),
    "RandomRotation": (KINDS, lambda t, _: t.RandomRotation(40)),
    "RandomAffine": (KINDS, lambda t, _: t.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), 9)),
    "RandomPerspective": (KINDS, lambda t, _: t.RandomPerspective(p=0.9)),
    "ElasticTransform": (KINDS, lambda t, _: t.ElasticTransform(40.0, 3.0)),
    "RandomErasing": (TENSORS, lambda t, _: t.RandomErasing(0.9)),
    "RandomChannelPermutation": (KINDS, lambda t, _: t.RandomChannelPermutation()),
    "RandomResize": (KINDS, lambda t, _: t.RandomResize(10, 30)),
    "RandomShortestSize": (KINDS, lambda t, _: t.RandomShortestSize([10, 20, 30], 40)),
    "ScaleJitter": (KINDS, lambda t, _: t.ScaleJitter((30, 40))),
    "RandomZoomOut": (KINDS, lambda t, _: t.RandomZoomOut(fill=3)),
    "Normalize": (FLOATS, lambda t, _: t.Normalize([0.5, 0.4, 0.3], [0.2] * 3)),
    "ToImage": (KINDS, lambda t, _: t.ToImage()),
    "ToDtype": (TENSORS, lambda t, u: t.ToDtype(u.float32, scale=True)),
    "ToDtype uint8": (FLOATS, lambda t, u: t.ToDtype(u.uint8, scale=True)),
    "ToDtype unscaled": (TENSORS, lambda t, u: t.ToDtype(u.float64)),
    "ToPILImage": (TENSORS, lambda t, _: t.ToPILImage()),
    "PILToTensor": (("PIL",), lambda t, _: t.PILToTensor()),
    "RGB": (KINDS, lambda t, _: t.RGB()),
    "Compose": (KINDS, lambda t, _: t.Compose([t.CenterCrop(9), t.ToImage(), t.Pad(1)])),
    "RandomApply": (KINDS, lambda t, _: t.RandomApply([t.CenterCrop(9)])),
    "RandomChoice": (KINDS, lambda t, _: t.RandomChoice([t.CenterCrop(9), t.Pad(1)], p=[1, 3])),
    "RandomOrder": (KINDS, lambda t, _: t.RandomOrder([t.CenterCrop(9), t.Pad(1)])),
    "Identity": (KINDS, lambda t, _: t.Identity()),
}


def _array(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_array(each) for each in value]
    return np.asarray(value) if isinstance(value, Image.Image) else value.numpy()


def _same(mine: Any, other: Any) -> None:
    if isinstance(other, list):
        for pair in zip(mine, other, strict=True):
            _same(*pair)
        return
    assert mine.dtype == other.dtype
    assert mine.shape == other.shape
    difference = np.abs(mine.astype(float) - other.astype(float))
    # This interface rounds bytes in other places than the first one, which ours shares.
    limit = 3 if other.dtype == np.uint8 else 2e-5
    assert np.count_nonzero(difference > limit) <= 0.001 * difference.size


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, (ks, _) in CASES.items() for k in ks])
def test_pixels_and_draws(name: str, kind: str) -> None:
    make = CASES[name][1]
    flambeau.manual_seed(3)
    torch.manual_seed(3)
    results, kinds = [], []
    for package, torch_, tensors in ((ours, flambeau, our_tensors), (theirs, torch, their_tensors)):
        transform, image = make(package, torch_), _image(kind, torch_, tensors)
        outputs = [transform(image) for _ in range(6)]
        kinds.append([type(output).__name__ for output in outputs])
        results.append([_array(output) for output in outputs])
    assert kinds[0] == kinds[1]
    _same(results[0], results[1])
    assert flambeau.get_rng_state().tolist() == torch.get_rng_state().tolist()


@pytest.mark.parametrize("name", ["Resize", "RandomCrop", "RandomRotation", "ColorJitter", "Pad"])
def test_samples_with_masks(name: str) -> None:
    """One draw for the whole sample; labels and other tensors stay."""
    flambeau.manual_seed(5)
    torch.manual_seed(5)
    results = []
    for package, torch_, tensors in ((ours, flambeau, our_tensors), (theirs, torch, their_tensors)):
        mask = tensors.Mask(torch_.arange(37 * 51).reshape(37, 51) % 5)
        sample = {"image": _image("float Image", torch_, tensors), "mask": mask, "label": 3}
        image, out = CASES[name][1](package, torch_)(sample["image"], sample)
        assert out["label"] == 3
        assert type(out["mask"]).__name__ == "Mask"
        results.append([_array(image), _array(out["image"]), _array(out["mask"])])
    _same(results[0], results[1])


def test_only_the_first_plain_tensor() -> None:
    for package, t in ((ours, flambeau), (theirs, torch)):
        first, second = package.CenterCrop(4)(t.zeros(3, 8, 8), t.zeros(3, 8, 8))
        assert (tuple(first.shape), tuple(second.shape)) == ((3, 4, 4), (3, 8, 8))


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
def test_mixtures(name: str) -> None:
    results = []
    for package, t in ((ours, flambeau), (theirs, torch)):
        t.manual_seed(1)
        images = t.arange(2 * 3 * 8 * 8).float().view(2, 3, 8, 8)
        results.append(getattr(package, name)(num_classes=4)(images, t.tensor([1, 3])))
    for mine, other in zip(*results, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("Resize max", "RandomErasing")])
def test_text(name: str) -> None:
    make = CASES[name][1]
    assert repr(make(ours, flambeau)) == repr(make(theirs, torch))

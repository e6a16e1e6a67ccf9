"""`vision.transforms` against torchvision: pixels, random draws, text and refusals."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import flambeau
from flambeau.vision import transforms as ours
from tests.conformance import vision_oracle

theirs = vision_oracle.load("transforms")
Make = Callable[[Any, Any], Any]  # of a transform, given the package and its torch

_PIXELS = np.random.default_rng(0).integers(0, 256, (37, 51, 4), dtype=np.uint8)
# Smooth, so that a rounding of 1e-7 moves no sampled value by more than it should.
_ROWS, _COLUMNS = np.mgrid[0:37, 0:51]
_SMOOTH = (127 + 120 * np.sin(_ROWS / 5 + _COLUMNS / 7)[..., None] * [1, 0.8, -0.9]).astype(
    np.uint8
)


def _image(kind: str, torch_: Any) -> Any:
    """One picture as a PIL image or a tensor of either package."""
    if kind.startswith("PIL"):
        bands = {"PIL L": _SMOOTH[..., 0], "PIL RGB": _SMOOTH, "PIL RGBA": _PIXELS}[kind]
        return Image.fromarray(bands)
    pixels = _SMOOTH[..., :1] if "grey" in kind else _SMOOTH
    tensor = torch_.tensor(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    if "batch" in kind:
        tensor = torch_.stack([tensor, 255 - tensor])
    return tensor if "uint8" in kind else tensor.float() / 255


def _array(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_array(each) for each in value]
    return np.asarray(value) if isinstance(value, Image.Image) else value.numpy()


def _same(mine: Any, other: Any, tolerance: float) -> None:
    if isinstance(other, list):
        assert len(mine) == len(other)
        for pair in zip(mine, other, strict=True):
            _same(*pair, tolerance)
        return
    assert mine.dtype == other.dtype
    assert mine.shape == other.shape
    if tolerance == 0:
        assert (mine == other).all()
        return
    if other.dtype == np.uint8:
        difference = np.abs(mine.astype(int) - other.astype(int))
        # A value half way between two integers may go either way; none else.
        assert np.count_nonzero(difference > 1) <= 0.001 * difference.size
        assert np.count_nonzero(difference) <= max(0.01 * difference.size, 4)
        return
    # So may a place half way between two pixels.
    different = ~np.isclose(mine, other, rtol=tolerance, atol=tolerance)
    assert np.count_nonzero(different) <= 0.001 * different.size


def _seed() -> None:
    flambeau.manual_seed(3)
    torch.manual_seed(3)
    random.seed(3)


TENSORS = ("uint8", "float", "uint8 grey", "float batch", "uint8 batch")
ALL = (*TENSORS, "PIL RGB", "PIL L")
COLOR = ("uint8", "float", "uint8 batch", "PIL RGB")
BYTES = ("uint8", "uint8 grey", "uint8 batch", "PIL RGB", "PIL L")

THROUGH_TENSORS = ("GaussianBlur", "gaussian_blur", "ElasticTransform", "AugMix")

CASES: dict[str, tuple[tuple[str, ...], Make]] = {
    "ToTensor": (("PIL L", "PIL RGB", "PIL RGBA"), lambda t, _: t.ToTensor()),
    "PILToTensor": (("PIL L", "PIL RGB", "PIL RGBA"), lambda t, _: t.PILToTensor()),
    "ToPILImage": (("uint8", "float", "uint8 grey"), lambda t, _: t.ToPILImage()),
    "ToPILImage HSV": (("uint8",), lambda t, _: t.ToPILImage("HSV")),
    "to float": (("uint8",), lambda t, u: t.ConvertImageDtype(u.float32)),
    "to uint8": (("float",), lambda t, u: t.ConvertImageDtype(u.uint8)),
    "to int16": (("float", "uint8"), lambda t, u: t.ConvertImageDtype(u.int16)),
    "Normalize": (("float", "float batch"), lambda t, _: t.Normalize([0.5, 0.4, 0.3], [0.2] * 3)),
    "Resize": (ALL, lambda t, _: t.Resize(20)),
    "Resize up": (ALL, lambda t, _: t.Resize((70, 60))),
    "Resize max": (ALL, lambda t, _: t.Resize(36, max_size=40)),
    "Resize bicubic": (ALL, lambda t, _: t.Resize(20, t.InterpolationMode.BICUBIC)),
    "Resize nearest": (ALL, lambda t, _: t.Resize((21, 9), t.InterpolationMode.NEAREST)),
    "Resize exact": (ALL, lambda t, _: t.Resize((21, 9), t.InterpolationMode.NEAREST_EXACT)),
    "Resize aliased": (TENSORS, lambda t, _: t.Resize((21, 9), antialias=False)),
    "Resize lanczos": (("PIL RGB",), lambda t, _: t.Resize(20, t.InterpolationMode.LANCZOS)),
    "CenterCrop": (ALL, lambda t, _: t.CenterCrop(20)),
    "CenterCrop larger": (ALL, lambda t, _: t.CenterCrop((40, 30))),
    "Pad": (ALL, lambda t, _: t.Pad((1, 2, 3, 4), fill=9)),
    "Pad negative": (ALL, lambda t, _: t.Pad((-1, 2))),
    "Pad edge": (ALL, lambda t, _: t.Pad(3, padding_mode="edge")),
    "Pad reflect": (ALL, lambda t, _: t.Pad(3, padding_mode="reflect")),
    "Pad symmetric": (ALL, lambda t, _: t.Pad((3, 2, 1, 4), padding_mode="symmetric")),
    "Pad color": (("PIL RGB",), lambda t, _: t.Pad(3, fill=(1, 2, 3))),
    "RandomCrop": (ALL, lambda t, _: t.RandomCrop((20, 30), padding=2)),
    "RandomCrop larger": (ALL, lambda t, _: t.RandomCrop(60, pad_if_needed=True)),
    "RandomResizedCrop": (ALL, lambda t, _: t.RandomResizedCrop(24)),
    "RandomResizedCrop thin": (ALL, lambda t, _: t.RandomResizedCrop(9, (0.9, 1), (0.1, 0.2))),
    "RandomHorizontalFlip": (ALL, lambda t, _: t.RandomHorizontalFlip()),
    "RandomVerticalFlip": (ALL, lambda t, _: t.RandomVerticalFlip(p=0.7)),
    "FiveCrop": (ALL, lambda t, _: t.FiveCrop(20)),
    "TenCrop": (ALL, lambda t, _: t.TenCrop((20, 10), vertical_flip=True)),
    "ColorJitter": (COLOR, lambda t, _: t.ColorJitter(0.4, 0.4, 0.4, 0.1)),
    "ColorJitter hue": (ALL, lambda t, _: t.ColorJitter(hue=(-0.3, 0.5))),
    "ColorJitter contrast": (ALL, lambda t, _: t.ColorJitter(contrast=(0.3, 2.5))),
    "ColorJitter brightness": (ALL, lambda t, _: t.ColorJitter(brightness=0.9)),
    "Grayscale": (COLOR, lambda t, _: t.Grayscale(3)),
    "RandomGrayscale": (COLOR, lambda t, _: t.RandomGrayscale(0.7)),
    "GaussianBlur": (ALL, lambda t, _: t.GaussianBlur((5, 9), (0.1, 2.0))),
    "RandomInvert": (ALL, lambda t, _: t.RandomInvert(0.9)),
    "RandomPosterize": (BYTES, lambda t, _: t.RandomPosterize(3, 0.9)),
    "RandomSolarize": (BYTES, lambda t, _: t.RandomSolarize(100, p=0.9)),
    "RandomAdjustSharpness": (ALL, lambda t, _: t.RandomAdjustSharpness(2.5, 0.9)),
    "RandomAutocontrast": (ALL, lambda t, _: t.RandomAutocontrast(0.9)),
    "RandomEqualize": (BYTES, lambda t, _: t.RandomEqualize(0.9)),
    "RandomRotation": (ALL, lambda t, _: t.RandomRotation(40)),
    "RandomRotation smooth": (
        ALL,
        lambda t, _: t.RandomRotation((10, 80), t.InterpolationMode.BILINEAR, True, fill=7),
    ),
    "RandomRotation about": (ALL, lambda t, _: t.RandomRotation(90, center=(5, 9), fill=0.5)),
    "RandomAffine": (
        ALL,
        lambda t, _: t.RandomAffine(30, (0.2, 0.1), (0.7, 1.4), (-9, 9, -5, 20), fill=3),
    ),
    "RandomAffine smooth": (
        ALL,
        lambda t, _: t.RandomAffine(30, shear=9, interpolation=t.InterpolationMode.BILINEAR),
    ),
    "RandomAffine about": (ALL, lambda t, _: t.RandomAffine((3, 5), center=(1, 2))),
    "RandomPerspective": (ALL, lambda t, _: t.RandomPerspective(p=0.9)),
    "RandomPerspective nearest": (
        ALL,
        lambda t, _: t.RandomPerspective(0.8, 1.0, t.InterpolationMode.NEAREST, fill=4),
    ),
    "ElasticTransform": (ALL, lambda t, _: t.ElasticTransform(40.0, 3.0)),
    "RandomErasing": (TENSORS, lambda t, _: t.RandomErasing(0.9)),
    "RandomErasing noise": (("float",), lambda t, _: t.RandomErasing(1.0, value="random")),
    "RandomErasing color": (("float",), lambda t, _: t.RandomErasing(1.0, value=(0.1, 0.2, 0.3))),
    "RandomApply": (ALL, lambda t, _: t.RandomApply([t.CenterCrop(9), t.Pad(1)], p=0.5)),
    "RandomChoice": (ALL, lambda t, _: t.RandomChoice([t.CenterCrop(9), t.Pad(1)], p=[1, 3])),
    "RandomOrder": (ALL, lambda t, _: t.RandomOrder([t.CenterCrop(9), t.Pad(1)])),
    "Lambda": (("float",), lambda t, _: t.Lambda(lambda image: image * 2)),
    "LinearTransformation": (
        ("float grey",),
        lambda t, u: t.LinearTransformation(u.eye(37 * 51), u.ones(37 * 51)),
    ),
    "AutoAugment": (BYTES, lambda t, _: t.AutoAugment()),
    "AutoAugment CIFAR10": (BYTES, lambda t, _: t.AutoAugment(t.AutoAugmentPolicy.CIFAR10)),
    "AutoAugment SVHN": (BYTES, lambda t, _: t.AutoAugment(t.AutoAugmentPolicy.SVHN, fill=5)),
    "RandAugment": (BYTES, lambda t, _: t.RandAugment(3, magnitude=14)),
    "TrivialAugmentWide": (BYTES, lambda t, _: t.TrivialAugmentWide()),
    "AugMix": (BYTES, lambda t, _: t.AugMix()),
}


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, (ks, _) in CASES.items() for k in ks])
def test_pixels_and_draws(name: str, kind: str) -> None:
    """Six applications with one seed: the same pixels, and the generators left alike."""
    make = CASES[name][1]
    _seed()
    results = []
    for package, torch_ in ((ours, flambeau), (theirs, torch)):
        random.seed(3)
        transform, image = make(package, torch_), _image(kind, torch_)
        results.append([_array(transform(image)) for _ in range(6)])
    exact = kind.startswith("PIL") and name not in THROUGH_TENSORS
    _same(results[0], results[1], 0.0 if exact else 2e-5)
    assert flambeau.get_rng_state().tolist() == torch.get_rng_state().tolist()


@pytest.mark.parametrize("name", [name for name in CASES if name != "Lambda"])
def test_text(name: str) -> None:
    make = CASES[name][1]
    assert repr(make(ours, flambeau)) == repr(make(theirs, torch))


FUNCTIONS: dict[str, tuple[tuple[str, ...], Make]] = {
    "adjust_gamma": (ALL, lambda f, i: f.adjust_gamma(i, 0.7, gain=1.1)),
    "adjust_hue": (COLOR, lambda f, i: f.adjust_hue(i, -0.25)),
    "crop outside": (ALL, lambda f, i: f.crop(i, -3, 40, 30, 20)),
    "resized_crop": (ALL, lambda f, i: f.resized_crop(i, 3, 4, 20, 10, [8, 9])),
    "resize number": (ALL, lambda f, i: f.resize(i, [16], 2)),
    "rotate": (ALL, lambda f, i: f.rotate(i, 30.5)),
    "affine": (ALL, lambda f, i: f.affine(i, 12, [3, -4], 1.2, 7.0)),
    "perspective": (
        ALL,
        lambda f, i: f.perspective(
            i, [[0, 0], [50, 0], [50, 36], [0, 36]], [[2, 5], [47, 1], [40, 30], [4, 33]], fill=8
        ),
    ),
    "gaussian_blur": (ALL, lambda f, i: f.gaussian_blur(i, [5, 3])),
    "get_dimensions": (ALL, lambda f, i: np.array(f.get_dimensions(i))),
    "get_image_size": (ALL, lambda f, i: np.array(f.get_image_size(i))),
    "erase": (TENSORS, lambda f, i: f.erase(i, 1, 2, 3, 4, i[..., :1, :1])),
    "to_grayscale": (("PIL RGB",), lambda f, i: f.to_grayscale(i, 3)),
    "rgb_to_grayscale": (ALL, lambda f, i: f.rgb_to_grayscale(i)),
}


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, (ks, _) in FUNCTIONS.items() for k in ks])
def test_functions(name: str, kind: str) -> None:
    call = FUNCTIONS[name][1]
    mine, other = (
        call(ours.functional, _image(kind, flambeau)),
        call(theirs.functional, _image(kind, torch)),
    )
    if isinstance(other, np.ndarray):
        assert mine.tolist() == other.tolist()
        return
    exact = kind.startswith("PIL") and name not in THROUGH_TENSORS
    _same(_array(mine), _array(other), 0.0 if exact else 2e-5)


REFUSALS: dict[str, Make] = {
    "kind": lambda t, u: t.Resize(3)("text"),
    "rank": lambda t, u: t.functional.hflip(u.zeros(3)),
    "size": lambda t, u: t.Resize((1, 2, 3)),
    "interpolation": lambda t, u: t.functional.resize(u.zeros(3, 4, 4), [2], interpolation="x"),
    "lanczos": lambda t, u: t.Resize(3, t.InterpolationMode.LANCZOS)(u.zeros(3, 4, 4)),
    "bytes": lambda t, u: t.Normalize(0.5, 0.5)(u.zeros(3, 4, 4, dtype=u.uint8)),
    "deviation": lambda t, u: t.Normalize(0.5, 0.0)(u.zeros(3, 4, 4)),
    "two sides": lambda t, u: t.Normalize(0.5, 0.5)(u.zeros(4, 4)),
    "channels": lambda t, u: t.ColorJitter(0.5)(u.zeros(5, 4, 4)),
    "to_tensor": lambda t, u: t.ToTensor()(u.zeros(3, 4, 4)),
    "array": lambda t, u: t.ToTensor()(np.zeros((1, 2, 3, 4))),
    "to PIL": lambda t, u: t.ToPILImage()(u.zeros(7, 4, 4)),
    "mode": lambda t, u: t.ToPILImage("L")(u.zeros(3, 4, 4)),
    "crop": lambda t, u: t.RandomCrop(9)(u.zeros(3, 4, 4)),
    "five": lambda t, u: t.FiveCrop(9)(u.zeros(3, 4, 4)),
    "pad": lambda t, u: t.Pad((1, 2, 3)),
    "pad mode": lambda t, u: t.Pad(1, padding_mode="none"),
    "jitter": lambda t, u: t.ColorJitter(brightness=-1),
    "hue": lambda t, u: t.ColorJitter(hue=0.6),
    "hue factor": lambda t, u: t.functional.adjust_hue(u.zeros(3, 4, 4), 0.6),
    "blur": lambda t, u: t.GaussianBlur(4),
    "sigma": lambda t, u: t.GaussianBlur(3, sigma=(2.0, 1.0)),
    "degrees": lambda t, u: t.RandomRotation(-1),
    "shear": lambda t, u: t.RandomAffine(1, shear=(1, 2, 3)),
    "translate": lambda t, u: t.RandomAffine(1, translate=(2.0, 0.1)),
    "erasing": lambda t, u: t.RandomErasing(value="noise"),
    "erasing scale": lambda t, u: t.RandomErasing(scale=(0.5, 2)),
    "posterize": lambda t, u: t.functional.posterize(u.zeros(3, 4, 4), 3),
    "solarize": lambda t, u: t.functional.solarize(u.zeros(3, 4, 4), 3),
    "lambda": lambda t, u: t.Lambda(3),
    "int64": lambda t, u: t.ConvertImageDtype(u.int64)(u.zeros(3, 4, 4)),
    "matrix": lambda t, u: t.LinearTransformation(u.zeros(2, 3), u.zeros(2)),
    "fill": lambda t, u: t.functional.rotate(u.zeros(3, 4, 4), 10, fill=[1.0, 2.0]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError)) as expected:
        REFUSALS[name](theirs, torch)
    with pytest.raises(expected.type):
        REFUSALS[name](ours, flambeau)

"""`vision.transforms.v2` against torchvision: pixels, boxes, points, random draws, names."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
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
PACKAGES = ((ours, flambeau, our_tensors), (theirs, torch, their_tensors))

HEIGHT, WIDTH = 37, 51
_ROWS, _COLUMNS = np.mgrid[0:HEIGHT, 0:WIDTH]
_SMOOTH = (127 + 120 * np.sin(_ROWS / 5 + _COLUMNS / 7)[..., None] * [1, 0.8, -0.9]).astype(
    np.uint8
)


def _image(kind: str, torch_: Any, tensors: Any) -> Any:
    if kind == "PIL":
        return Image.fromarray(_SMOOTH)
    tensor = torch_.tensor(np.ascontiguousarray(_SMOOTH.transpose(2, 0, 1)))
    if "float" in kind:
        tensor = tensor.float() / 255
    if "Video" in kind:
        return tensors.Video(torch_.stack([tensor, tensor.flip(-1)]))
    return tensors.Image(tensor) if "Image" in kind else tensor


KINDS = ("PIL", "uint8", "float", "uint8 Image", "float Video")
TENSORS = KINDS[1:]
FLOATS = ("float", "float Video")
BYTES = ("PIL", "uint8")

PLACES: dict[str, Make] = {
    "Resize": lambda t, _: t.Resize((20, 60)),
    "Resize shorter": lambda t, _: t.Resize(36, max_size=40),
    "Resize longer": lambda t, _: t.Resize(None, max_size=40),
    "CenterCrop": lambda t, _: t.CenterCrop((40, 30)),
    "Pad": lambda t, _: t.Pad((1, 2, -3, 4), fill=9),
    "RandomCrop": lambda t, _: t.RandomCrop((20, 30), padding=2),
    "RandomCrop enlarged": lambda t, _: t.RandomCrop((45, 51), pad_if_needed=True, fill=3),
    "RandomCrop one way": lambda t, _: t.RandomCrop((37, 40)),
    "RandomResizedCrop": lambda t, _: t.RandomResizedCrop((24, 30)),
    "RandomHorizontalFlip": lambda t, _: t.RandomHorizontalFlip(),
    "RandomVerticalFlip": lambda t, _: t.RandomVerticalFlip(0.7),
    "RandomRotation": lambda t, _: t.RandomRotation(40),
    "RandomRotation center": lambda t, _: t.RandomRotation((90, 200), center=(3, 4), fill=5),
    "RandomAffine": lambda t, _: t.RandomAffine(30, (0.2, 0.1), (0.7, 1.4)),
    "RandomAffine shear": lambda t, _: t.RandomAffine(9, shear=(1, 9, 2, 8), center=(9, 8)),
    "RandomPerspective": lambda t, _: t.RandomPerspective(0.4, p=0.9),
    "ElasticTransform": lambda t, _: t.ElasticTransform([40.0, 20.0], [3.0, 2.0], fill=4),
    "RandomResize": lambda t, _: t.RandomResize(10, 30),
    "RandomShortestSize": lambda t, _: t.RandomShortestSize([10, 20, 30], 40),
    "ScaleJitter": lambda t, _: t.ScaleJitter((30, 40)),
    "RandomZoomOut": lambda t, _: t.RandomZoomOut(fill=3),
}
IMAGES: dict[str, tuple[tuple[str, ...], Make]] = {
    "Resize nearest": (KINDS, lambda t, _: t.Resize((20, 60), "nearest")),
    "Resize nearest-exact": (KINDS, lambda t, _: t.Resize((20, 60), "nearest-exact")),
    "Resize bicubic": (KINDS, lambda t, _: t.Resize((20, 60), "bicubic")),
    "Resize lanczos": (KINDS, lambda t, _: t.Resize((20, 60), "lanczos")),
    "Resize sharp": (TENSORS, lambda t, _: t.Resize((20, 60), antialias=False)),
    "Pad colour": (KINDS, lambda t, _: t.Pad((1, 2, -3, 4), fill=(1, 2, 3))),
    "Pad reflect": (KINDS, lambda t, _: t.Pad(3, padding_mode="reflect")),
    "Pad symmetric": (KINDS, lambda t, _: t.Pad((3, 2), padding_mode="symmetric")),
    "Pad edge": (KINDS, lambda t, _: t.Pad((3, 2), padding_mode="edge")),
    "FiveCrop": (KINDS, lambda t, _: t.FiveCrop(20)),
    "TenCrop": (KINDS, lambda t, _: t.TenCrop((20, 11), vertical_flip=True)),
    "ColorJitter": (KINDS, lambda t, _: t.ColorJitter(0.4, 0.4, (1, 2), 0.5)),
    "Grayscale": (KINDS, lambda t, _: t.Grayscale(3)),
    "RandomGrayscale": (KINDS, lambda t, _: t.RandomGrayscale(0.7)),
    "GaussianBlur": (KINDS, lambda t, _: t.GaussianBlur((5, 9))),
    "GaussianNoise": (TENSORS, lambda t, _: t.GaussianNoise(0.1, 0.2)),
    "GaussianNoise wraps": (TENSORS, lambda t, _: t.GaussianNoise(0.1, 0.2, clip=False)),
    "RandomInvert": (KINDS, lambda t, _: t.RandomInvert(0.9)),
    "RandomPosterize": (KINDS, lambda t, _: t.RandomPosterize(3, 0.9)),
    "RandomSolarize": (BYTES, lambda t, _: t.RandomSolarize(100, 0.9)),
    "RandomSolarize float": (FLOATS, lambda t, _: t.RandomSolarize(0.4, 0.9)),
    "RandomAdjustSharpness": (KINDS, lambda t, _: t.RandomAdjustSharpness(2.5, 0.9)),
    "RandomAutocontrast": (KINDS, lambda t, _: t.RandomAutocontrast(0.9)),
    "RandomEqualize": (KINDS, lambda t, _: t.RandomEqualize(0.9)),
    "RandomPhotometricDistort": (KINDS, lambda t, _: t.RandomPhotometricDistort(p=0.8)),
    "RandomChannelPermutation": (KINDS, lambda t, _: t.RandomChannelPermutation()),
    "RandomRotation expand": (
        KINDS,
        lambda t, _: t.RandomRotation(40, "bilinear", expand=True, fill=3),
    ),
    "RandomAffine bilinear": (
        KINDS,
        lambda t, _: t.RandomAffine(30, shear=9, interpolation="bilinear", fill=(4, 5, 6)),
    ),
    "RandomErasing": (KINDS, lambda t, _: t.RandomErasing(0.9, value=(1, 2, 3))),
    "RandomErasing noise": (FLOATS[:1], lambda t, _: t.RandomErasing(0.9, value="random")),
    "Normalize": (FLOATS, lambda t, _: t.Normalize([0.5, 0.4, 0.3], [0.2] * 3)),
    "ToImage": (KINDS, lambda t, _: t.ToImage()),
    "ToDtype": (TENSORS, lambda t, u: t.ToDtype(u.float32, scale=True)),
    "ToDtype uint8": (TENSORS, lambda t, u: t.ToDtype(u.uint8, scale=True)),
    "ToDtype int16": (TENSORS, lambda t, u: t.ToDtype(u.int16, scale=True)),
    "ToDtype unscaled": (TENSORS, lambda t, u: t.ToDtype(u.float64)),
    "ConvertImageDtype": (TENSORS, lambda t, u: t.ConvertImageDtype(u.float32)),
    "ToPILImage": (TENSORS[:3], lambda t, _: t.ToPILImage()),
    "PILToTensor": (KINDS[:1], lambda t, _: t.PILToTensor()),
    "RGB": (KINDS, lambda t, _: t.RGB()),
    "Compose": (KINDS, lambda t, _: t.Compose([t.CenterCrop(9), t.ToImage(), t.Pad(1)])),
    "RandomApply": (KINDS, lambda t, _: t.RandomApply([t.CenterCrop(9)])),
    "RandomChoice": (KINDS, lambda t, _: t.RandomChoice([t.CenterCrop(9), t.Pad(1)], p=[1, 3])),
    "RandomOrder": (KINDS, lambda t, _: t.RandomOrder([t.CenterCrop(9), t.Pad(1)])),
    "Identity": (KINDS, lambda t, _: t.Identity()),
    "UniformTemporalSubsample": (FLOATS[1:], lambda t, _: t.UniformTemporalSubsample(3)),
    "AutoAugment": (KINDS, lambda t, _: t.AutoAugment()),
    "AutoAugment CIFAR": (KINDS, lambda t, _: t.AutoAugment(t.AutoAugmentPolicy.CIFAR10)),
    "AutoAugment SVHN": (KINDS, lambda t, _: t.AutoAugment(t.AutoAugmentPolicy.SVHN)),
    "RandAugment": (KINDS, lambda t, _: t.RandAugment(3)),
    "RandAugment bilinear": (
        KINDS,
        lambda t, _: t.RandAugment(2, interpolation="bilinear", fill=7),
    ),
    "TrivialAugmentWide": (KINDS, lambda t, _: t.TrivialAugmentWide()),
    "AugMix": (KINDS, lambda t, _: t.AugMix()),
    "AugMix some": (KINDS, lambda t, _: t.AugMix(5, 2, 2, 0.5, all_ops=False)),
}
CASES = {name: (KINDS, make) for name, make in PLACES.items()} | IMAGES

# What is bent by smoothed noise, mixed, or changed twice: a convolution that sums in another order
# moves a place by less than a hundred thousandth of a pixel, a byte may round the other way, and
# the nearest pixel be the one beside. PyTorch turns pixels of a warp into positions by a matrix
# product, which its BLAS fuses on Intel's processors and rounds in between on AMD's.
_ROUNDED = (
    "ElasticTransform",
    "AugMix",
    "RandAugment bilinear",
    "RandomPerspective",
    "RandomRotation expand",
    "RandomAffine bilinear",
)


def _limits(name: str, is_bytes: bool) -> tuple[float, float]:
    """How far a pixel may be off, and which share of them may be further off."""
    if not name.startswith(_ROUNDED):
        return (0 if is_bytes else 2e-6), 0.0
    return (1 if is_bytes else 1e-4), 2e-4


def _array(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_array(each) for each in value]
    return np.asarray(value) if isinstance(value, Image.Image) else value.numpy()


def _same(name: str, mine: Any, other: Any) -> None:
    if isinstance(other, list):
        for pair in zip(mine, other, strict=True):
            _same(name, *pair)
        return
    assert mine.dtype == other.dtype
    assert mine.shape == other.shape
    difference = np.abs(mine.astype(float) - other.astype(float))
    limit, share = _limits(name, other.dtype == np.uint8)
    assert np.count_nonzero(difference > limit) <= share * difference.size, difference.max()


def _seed(seed: int) -> None:
    flambeau.manual_seed(seed)
    torch.manual_seed(seed)


def _drew_the_same() -> bool:
    return bool(flambeau.get_rng_state().tolist() == torch.get_rng_state().tolist())


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, (ks, _) in CASES.items() for k in ks])
def test_pixels_and_draws(name: str, kind: str) -> None:
    make = CASES[name][1]
    _seed(3)
    results, kinds = [], []
    for package, torch_, tensors in PACKAGES:
        transform, image = make(package, torch_), _image(kind, torch_, tensors)
        outputs = [transform(image) for _ in range(4)]
        kinds.append([type(output).__name__ for output in outputs])
        results.append([_array(output) for output in outputs])
    assert kinds[0] == kinds[1]
    _same(name, results[0], results[1])
    assert _drew_the_same()


UPRIGHT = ("XYXY", "XYWH", "CXCYWH")
ROTATED = ("XYWHR", "CXCYWHR", "XYXYXYXY")
_RANDOM = np.random.default_rng(1)
_CENTERS = np.stack([_RANDOM.uniform(2, 48, 12), _RANDOM.uniform(2, 35, 12)], 1)
_SIDES = _RANDOM.uniform(2, 22, (12, 2))
# Well within the image, where no transform below moves a corner out of it.
_INNER = np.concatenate(
    [
        _RANDOM.uniform((23, 16), (28, 21), (12, 2)),
        _RANDOM.uniform(3, 7, (12, 2)),
        _RANDOM.uniform(-60, 60, (12, 1)),
    ],
    1,
)


def _boxes(numbers: Any, old: str, format: str, dtype: str, torch_: Any, tensors: Any) -> Any:
    """Boxes by torchvision's conversion, for both."""
    convert = theirs.functional.convert_bounding_box_format
    numbers = convert(torch.tensor(numbers), old, format).numpy()
    data = torch_.tensor(numbers).to(getattr(torch_, dtype))
    return tensors.BoundingBoxes(data, format=format, canvas_size=(HEIGHT, WIDTH))


def _points(dtype: str, torch_: Any, tensors: Any) -> Any:
    data = torch_.tensor(_CENTERS.reshape(4, 3, 2)).to(getattr(torch_, dtype))
    return tensors.KeyPoints(data, canvas_size=(HEIGHT, WIDTH))


def _close(mine: Any, other: Any) -> None:
    """Whole numbers are equal; others calculate with a few roundings of float32 below 100."""
    assert type(mine).__name__ == type(other).__name__
    assert tuple(mine.canvas_size) == tuple(other.canvas_size)
    values, expected = mine.numpy(), other.numpy()
    assert values.dtype == expected.dtype
    assert values.shape == expected.shape
    np.testing.assert_allclose(
        values, expected, rtol=0, atol=0 if mine.dtype.itemsize == 8 else 2e-4
    )


BOXES: dict[str, Make] = PLACES | {
    "ClampBoundingBoxes": lambda t, _: t.ClampBoundingBoxes(),
    "ClampKeyPoints": lambda t, _: t.ClampKeyPoints(),
    "RandomIoUCrop": lambda t, _: t.RandomIoUCrop(),
    "SanitizeBoundingBoxes": lambda t, _: t.SanitizeBoundingBoxes(5, 60),
    "SanitizeKeyPoints": lambda t, _: t.SanitizeKeyPoints(),
    "to XYXY": lambda t, _: t.ConvertBoundingBoxFormat("XYXY"),
    "to XYWH": lambda t, _: t.ConvertBoundingBoxFormat("xywh"),
    "to CXCYWH": lambda t, _: t.ConvertBoundingBoxFormat("CXCYWH"),
    "SetClampingMode": lambda t, _: t.Compose([t.SetClampingMode(None), t.CenterCrop(9)]),
    "colours": lambda t, u: t.Compose([t.ColorJitter(0.3), t.ToDtype(u.float32), t.RandomInvert()]),
}


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("format", UPRIGHT)
@pytest.mark.parametrize("name", list(BOXES))
def test_samples(name: str, format: str, dtype: str) -> None:
    """One draw for an image, its mask, boxes and points; labels follow boxes, the rest stays."""
    _seed(7)
    results = []
    upright = np.concatenate([_CENTERS, _SIDES], 1)
    for package, torch_, tensors in PACKAGES:
        transform = BOXES[name](package, torch_)
        outputs = []
        for _ in range(3):
            mask = torch_.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH) % 5
            sample = {
                "image": _image("uint8 Image", torch_, tensors),
                "boxes": _boxes(upright, "CXCYWH", format, dtype, torch_, tensors),
                "rest": [_points(dtype, torch_, tensors), (3, "text")],
                "labels": torch_.arange(12),
                "masks": tensors.Mask(mask),
            }
            outputs.append(transform(sample))
        results.append(outputs)
    for mine, other in zip(*results, strict=True):
        _same(name, _array(mine["image"]), _array(other["image"]))
        _same(name, _array(mine["masks"]), _array(other["masks"]))
        _close(mine["boxes"], other["boxes"])
        assert mine["boxes"].format.name == other["boxes"].format.name
        assert mine["boxes"].clamping_mode == other["boxes"].clamping_mode
        _close(mine["rest"][0], other["rest"][0])
        assert mine["rest"][1] == (3, "text")
        assert mine["labels"].tolist() == other["labels"].tolist()
    assert _drew_the_same()


def _corners(boxes: Any) -> Any:
    """The corners of rotated boxes, from the leftmost on: the first one may be another."""
    name, values = boxes.format.name, torch.tensor(boxes.numpy())
    convert = theirs.functional.convert_bounding_box_format
    corners = convert(values.double(), name, "XYXYXYXY").view(-1, 4, 2).numpy()
    return np.stack([np.roll(each, -int(each[:, 0].argmin()), 0) for each in corners])


@pytest.mark.parametrize("format", ROTATED)
@pytest.mark.parametrize("name", [n for n in PLACES if "ResizedCrop" not in n])
def test_rotated_boxes(name: str, format: str) -> None:
    _seed(11)
    results = []
    for package, torch_, tensors in PACKAGES:
        transform = PLACES[name](package, torch_)
        boxes = _boxes(_INNER, "CXCYWHR", format, "float32", torch_, tensors)
        results.append([transform(boxes) for _ in range(4)])
    for mine, other in zip(*results, strict=True):
        assert tuple(mine.canvas_size) == tuple(other.canvas_size)
        np.testing.assert_allclose(_corners(mine), _corners(other), rtol=0, atol=1e-3)


def test_rotated_boxes_are_clamped() -> None:
    """Boxes across one edge or several of the image, and one beside it."""
    numbers = np.array(
        [
            [3, 20, 10, 6, 30],
            [-4, 20, 10, 6, 30],
            [1, 1, 10, 6, 30],
            [25, 20, 100, 100, 30],
            [48, 3, 12, 9, -50],
            [-40, 20, 10, 6, 30],
            [25, 36, 30, 8, 80.0],
        ]
    )
    results = []
    for package, torch_, tensors in PACKAGES:
        boxes = _boxes(numbers, "CXCYWHR", "XYXYXYXY", "float32", torch_, tensors)
        results.append(package.ClampBoundingBoxes()(boxes))
    np.testing.assert_allclose(_corners(results[0]), _corners(results[1]), rtol=0, atol=1e-3)
    hard = [package.ClampBoundingBoxes("hard") for package, _, _ in PACKAGES]
    results = [
        transform(_boxes(numbers[:2], "CXCYWHR", "XYXYXYXY", "float32", torch_, tensors))
        for transform, (_, torch_, tensors) in zip(hard, PACKAGES, strict=True)
    ]
    np.testing.assert_allclose(_corners(results[0]), _corners(results[1]), rtol=0, atol=1e-3)


@pytest.mark.parametrize("format", ROTATED)
def test_rotated_formats(format: str) -> None:
    for new in ROTATED:
        results = [
            package.ConvertBoundingBoxFormat(new)(
                _boxes(_INNER, "CXCYWHR", format, "float32", torch_, tensors)
            )
            for package, torch_, tensors in PACKAGES
        ]
        _close(*results)


@pytest.mark.parametrize("name", ["MixUp", "CutMix"])
@pytest.mark.parametrize("labels", ["numbers", "shares"])
def test_mixtures(name: str, labels: str) -> None:
    results = []
    for package, t, tensors in PACKAGES:
        t.manual_seed(1)
        images = tensors.Image(t.arange(3 * 3 * 8 * 8).float().view(3, 3, 8, 8))
        classes = t.tensor([1, 3, 0])
        if labels == "shares":
            classes = t.nn.functional.one_hot(classes, 4).float()
        mix = getattr(package, name)(num_classes=4, alpha=0.7)
        results.append([each for _ in range(4) for each in mix(images, {"labels": classes})])
    for mine, other in zip(*results, strict=True):
        mine, other = (r["labels"] if isinstance(r, dict) else r for r in (mine, other))
        assert type(mine).__name__ == type(other).__name__
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-5, atol=1e-5)


def test_only_the_first_plain_tensor() -> None:
    for package, t, _ in PACKAGES:
        first, second = package.CenterCrop(4)(t.zeros(3, 8, 8), t.zeros(3, 8, 8))
        assert (tuple(first.shape), tuple(second.shape)) == ((3, 4, 4), (3, 8, 8))


@pytest.mark.parametrize("name", [n for n in CASES | BOXES if n != "RandomErasing noise"])
def test_text(name: str) -> None:
    make = BOXES[name] if name in BOXES else CASES[name][1]
    assert repr(make(ours, flambeau)) == repr(make(theirs, torch))


def _tensors(torch_: Any, tensors: Any) -> Iterator[Any]:
    yield tensors.Image(torch_.arange(12.0).view(3, 2, 2))
    yield tensors.Video(torch_.ones(1, 3, 2, 2))
    yield tensors.Mask(torch_.arange(4).view(2, 2))
    yield tensors.BoundingBoxes(
        torch_.tensor([[1, 2, 3, 4], [0, 0, 1, 1]]), format="XYWH", canvas_size=(9, 8)
    )
    yield tensors.KeyPoints(torch_.tensor([[1.0, 2], [3, 4]]), canvas_size=(9, 8))


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda x, _: x,
    "add": lambda x, _: x + 1,
    "add in place": lambda x, _: x.clone().add_(1),
    "item": lambda x, _: x[0],
    "clone": lambda x, _: x.clone(),
    "detach": lambda x, _: x.detach(),
    "to": lambda x, t: x.to(t.float64),
    "double": lambda x, _: x.double(),
    "cat": lambda x, t: t.cat([x, x]),
    "unbind": lambda x, _: x.unbind(0),
    "max": lambda x, t: t.max(x, 0),
}


@pytest.mark.parametrize("spread", ["Tensor", "TVTensor"])
@pytest.mark.parametrize("name", list(OPERATORS))
def test_meaning(name: str, spread: str) -> None:
    """Which results say what they show, and the text of them."""
    texts = []
    for _, torch_, tensors in PACKAGES:
        with tensors.set_return_type(spread):
            results = [OPERATORS[name](each, torch_) for each in _tensors(torch_, tensors)]
        results = [r if isinstance(r, torch_.Tensor) else tuple(r) for r in results]
        texts.append([repr(each) for each in results])
    assert texts[0] == texts[1]


# Names that are there by accident: modules that torchvision imports for itself.
_FOREIGN = {"torch", "Any", "Enum", "F_pil", "F_t", "Image", "Optional", "PILImage", "Tensor"} | {
    *("Union", "accimage", "math", "np", "numbers", "pil_modes_mapping", "sys", "warnings")
}


@pytest.mark.parametrize(
    "module",
    [
        "transforms",
        "transforms.functional",
        "transforms.v2",
        "transforms.v2.functional",
        "tv_tensors",
    ],
)
def test_names(module: str) -> None:
    published = vision_oracle.load(module)
    foreign = _FOREIGN if module == "transforms.functional" else {"torch"}
    names = {name for name in dir(published) if not name.startswith("_")} - foreign
    mine = importlib.import_module(f"flambeau.vision.{module}")
    assert sorted(name for name in names if not hasattr(mine, name)) == []

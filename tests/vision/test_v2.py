"""The second interface: samples of images, masks and labels in any nesting."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
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

    class OfMasks(Shift):
        _transformed_types = (tv_tensors.Mask,)

    sample = _sample()
    out = OfMasks()(sample)
    assert (out["masks"][0] == sample["masks"][0] + 1).all()
    assert out["image"] is sample["image"]
    with pytest.raises(NotImplementedError, match="transform"):
        v2.Transform()(fb.zeros(3, 2, 2))


def test_own_kinds_of_tensors() -> None:
    class Heat(tv_tensors.TVTensor):
        pass

    heat = fb.arange(4.0).view(1, 2, 2).as_subclass(Heat)
    assert v2.RandomHorizontalFlip(1.0)(heat) is heat  # not known yet: it stays as it is
    with pytest.raises(TypeError, match=r"horizontal_flip supports .* but got .*Heat"):
        F.hflip(heat)
    calls = []

    @F.register_kernel("hflip", Heat)
    def flip(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        return tv_tensors.wrap(inpt.flip(-1), like=inpt)

    @F.register_kernel(F.resize, Heat)
    def resize(inpt: Any, **kwargs: Any) -> Any:
        calls.append(kwargs)
        return inpt

    assert v2.RandomHorizontalFlip(1.0)(heat).tolist() == [[[1, 0], [3, 2]]]
    F.resize(heat, [4], max_size=7)
    assert calls[0]["size"] == [4]
    assert calls[0]["max_size"] == 7
    assert calls[0]["antialias"] is True


@pytest.mark.parametrize(
    ("function", "kind", "text"),
    [
        ("hflip", int, "subclasses of .*TVTensor"),
        ("nothing", tv_tensors.TVTensor, "name 'nothing'"),
        (print, tv_tensors.TVTensor, "only be registered on functionals"),
        ("hflip", tv_tensors.Image, "builtin tv_tensor"),
    ],
)
def test_registering_is_refused(function: Any, kind: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        F.register_kernel(function, kind)


def test_functions() -> None:
    image = fb.rand(3, 8, 6)
    assert F.resize(inpt=image, size=[4, 3], antialias=True).shape == (3, 4, 3)
    assert F.resize(image, None, max_size=16).shape == (3, 16, 12)
    assert F.resize(image, [4, 3], interpolation="nearest").shape == (3, 4, 3)
    assert F.pad(image, padding=[1], fill=None).shape == (3, 10, 8)
    assert F.pad(image, 1, fill=[1, 2, 3])[:, 0, 0].tolist() == [1, 2, 3]
    assert F.to_dtype_image(image, dtype=fb.uint8, scale=True).dtype == fb.uint8
    assert F.grayscale_to_rgb(image[:1]).shape == (3, 8, 6)
    assert F.get_size(image) == [8, 6]
    assert F.get_image_size(image) == [6, 8]
    video = tv_tensors.Video(fb.rand(5, 3, 8, 6))
    assert F.get_num_frames(video) == 5
    assert F.uniform_temporal_subsample(video, 2).shape == (2, 3, 8, 6)
    assert F.resize_video(video=video.as_subclass(fb.Tensor), size=[4, 3]).shape == (5, 3, 4, 3)
    assert inspect.signature(F.crop_video).parameters["video"]
    for wrong in ({"sizes": [4]}, {}):
        with pytest.raises(TypeError, match="size"):
            F.resize(tv_tensors.Mask(fb.zeros(4, 4)), **wrong)


def test_fill_by_kind() -> None:
    sample = _sample()
    fill: dict[Any, Any] = {tv_tensors.Image: 9, tv_tensors.Mask: 2, "others": 0}
    out = v2.Pad(1, fill=fill)(sample)
    assert out["image"][0, 0, 0] == 9
    assert out["masks"][0][0, 0] == 2


def test_types_by_kind() -> None:
    sample = _sample()
    types: dict[Any, Any] = {tv_tensors.Mask: fb.uint8, "others": None}
    out = v2.ToDtype(types)(sample)
    assert out["masks"][0].dtype == fb.uint8
    assert out["image"].dtype == fb.float32
    with pytest.raises(ValueError, match=r"No dtype was specified for .*Image"):
        v2.ToDtype({tv_tensors.Mask: fb.uint8})(sample)
    with pytest.warns(UserWarning, match="no scaling"):
        v2.ToDtype(types, scale=True)(sample)


def test_videos_are_images_one_after_another() -> None:
    fb.manual_seed(0)
    frames = (fb.rand(4, 3, 9, 8) * 255).to(fb.uint8)
    for step in (v2.RandomResizedCrop(5), v2.ColorJitter(0.5, 0.5, 0.5, 0.2), v2.RandAugment()):
        state = fb.get_rng_state()
        together = step(tv_tensors.Video(frames))
        assert isinstance(together, tv_tensors.Video)
        for frame, expected in zip(frames, together, strict=True):
            fb.set_rng_state(state)
            difference = step(tv_tensors.Image(frame)).int() - expected.int()
            assert difference.abs().max() <= 1  # sums in another order


def test_policies_take_one_image() -> None:
    image = tv_tensors.Image((fb.rand(3, 16, 16) * 255).to(fb.uint8))
    for policy in (v2.AutoAugment(), v2.RandAugment(), v2.TrivialAugmentWide(), v2.AugMix()):
        out, label = policy(image, 7)
        assert isinstance(out, tv_tensors.Image)
        assert out.dtype == fb.uint8
        assert label == 7
        with pytest.raises(TypeError, match="single image or video, but found 2"):
            policy(image, image)
        with pytest.raises(TypeError, match="no image"):
            policy("text")


def test_jpeg() -> None:
    image = (fb.rand(3, 16, 16) * 255).to(fb.uint8)
    good, bad = (v2.JPEG(q)(image).float() - image.float() for q in (100, 5))
    assert good.abs().mean() < bad.abs().mean()
    assert v2.JPEG((20, 30))(tv_tensors.Video(image[None])).shape == (1, 3, 16, 16)


def test_erasing_leaves_the_rest() -> None:
    sample = _sample()
    with pytest.warns(UserWarning, match="passing through .*Mask"):
        out = v2.RandomErasing(1.0, value=5)(sample)
    assert (out["image"] == 5).any()
    assert (out["masks"][0] == sample["masks"][0]).all()


def test_queries() -> None:
    image, boxes = fb.zeros(3, 4, 5), _boxes_on(4, 5)
    assert v2.query_size([boxes, image]) == (4, 5)
    assert v2.query_chw([boxes, image]) == (3, 4, 5)
    assert v2.get_bounding_boxes([image, boxes]) is boxes
    assert v2.has_any([image, boxes], tv_tensors.BoundingBoxes)
    assert not v2.has_all([image, boxes], tv_tensors.BoundingBoxes, tv_tensors.Mask)
    with pytest.raises(ValueError, match="multiple"):
        v2.query_size([boxes, fb.zeros(3, 9, 9)])


def _boxes_on(height: int, width: int) -> Any:
    return tv_tensors.BoundingBoxes([[0, 0, 1, 1]], format="XYXY", canvas_size=(height, width))


def test_mixtures() -> None:
    images, labels = v2.MixUp(num_classes=4)(fb.rand(3, 3, 4, 4), fb.tensor([0, 1, 2]))
    assert images.shape == (3, 3, 4, 4)
    fb.testing.assert_close(labels.sum(1), fb.ones(3))
    batch = {"images": tv_tensors.Image(fb.rand(2, 3, 4, 4)), "classes": fb.tensor([0, 1])}
    mixed = v2.CutMix(num_classes=2, labels_getter=lambda b: b["classes"])(batch)
    assert isinstance(mixed["images"], tv_tensors.Image)
    assert mixed["classes"].shape == (2, 2)


_BATCH, _LABELS = fb.zeros(3, 3, 4, 4), fb.tensor([0, 1, 2])
_PHOTO = Image.new("RGB", (4, 3))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: v2.CutMix(num_classes=4)(_BATCH[0], _LABELS), ValueError, "after the DataLoader"),
        (lambda: v2.MixUp()(_BATCH, _LABELS), ValueError, "num_classes must be passed"),
        (lambda: v2.MixUp(num_classes=4)(_BATCH, _LABELS[:2]), ValueError, "3 != 2"),
        (lambda: v2.MixUp(num_classes=4)(_BATCH, fb.zeros(3, 2)), ValueError, "2 != 4"),
        (lambda: v2.MixUp(num_classes=4)(_PHOTO, _LABELS), ValueError, "PIL images"),
        (lambda: v2.MixUp(num_classes=4)(_BATCH), ValueError, "labels_getter"),
        (lambda: v2.MixUp(alpha=0), ValueError, "alpha must be positive, got 0"),
        (lambda: v2.Normalize([0.5], [0.5])(_PHOTO), TypeError, "ToImage"),
        (lambda: v2.RandAugment()(_sample()), TypeError, "Mask"),
        (lambda: v2.RandAugment(num_ops=-1), ValueError, "num_ops .* got -1"),
        (lambda: v2.RandomCrop(4)({"label": 3}), TypeError, "No image"),
        (lambda: v2.RandomCrop(9)(fb.zeros(3, 4, 4)), ValueError, r"\(9, 9\).*\(4, 4\)"),
        (lambda: v2.Resize("x"), ValueError, "size .* got x"),  # type: ignore[arg-type]
        (lambda: v2.Resize(None), ValueError, "max_size .* got None"),
        (lambda: v2.Resize(4, "x")(fb.zeros(3, 8, 8)), ValueError, "interpolation .* got 'x'"),
        (lambda: v2.Resize(4, "box")(fb.zeros(3, 8, 8)), NotImplementedError, "unsupported .* box"),
        (lambda: v2.CenterCrop((1, 2, 3)), ValueError, r"size, got \(1, 2, 3\)"),
        (lambda: v2.Pad((1, 2, 3)), ValueError, r"1, 2, or 4 element .* got \(1, 2, 3\)"),
        (lambda: v2.Pad(1, fill="x"), TypeError, "fill arg.* got 'x'"),
        (lambda: v2.Pad(1, fill=(1, 2))(fb.zeros(3, 4, 4)), ValueError, "3 channels, got 2"),
        (lambda: v2.Pad(1, padding_mode="x"), ValueError, "Padding mode .* got 'x'"),
        (lambda: v2.RandomHorizontalFlip(2), ValueError, "`p` .* got 2"),
        (lambda: v2.RandomZoomOut(side_range=(0.5, 2)), ValueError, "side range"),
        (lambda: v2.RandomPerspective(3), ValueError, "distortion_scale .* got 3"),
        (lambda: v2.JPEG(101), ValueError, "quality .*101"),
        (lambda: v2.ToDtype("x"), ValueError, "dtype must be .* got <class 'str'>"),  # type: ignore[arg-type]
        (lambda: v2.GaussianNoise()(_PHOTO), ValueError, "PIL images"),
        (lambda: v2.Compose(3), TypeError, "sequence of callables, got <class 'int'>"),  # type: ignore[arg-type]
        (lambda: F.get_num_frames(fb.zeros(3, 4, 4)), IndexError, r"\(3, 4, 4\)"),
        (lambda: F.permute_channels(fb.zeros(3, 4, 4), [0]), ValueError, "1 != 3"),
    ],
)
def test_refusals(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def _needs_nothing(kind: Any) -> bool:
    """Whether a transform can be made without arguments; `ToTensor` warns."""
    if not (isinstance(kind, type) and issubclass(kind, v2.Transform)) or kind is v2.ToTensor:
        return False
    parameters = inspect.signature(kind).parameters.values()
    return all(p.default is not p.empty or p.kind is p.VAR_POSITIONAL for p in parameters)


@pytest.mark.parametrize("kind", [each for each in vars(v2).values() if _needs_nothing(each)])
def test_workers_get_transforms(kind: type[v2.Transform]) -> None:
    """They go through pickle, as into the workers of a loader."""
    transform = kind()
    assert repr(pickle.loads(pickle.dumps(transform))) == repr(transform)


def test_workers_get_functions() -> None:
    for function in (F.resize, F.resize_image, F.resize_video, F.clamp_bounding_boxes):
        assert pickle.loads(pickle.dumps(function)) is function

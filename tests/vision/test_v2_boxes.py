"""Boxes and key points under transforms: measured on the image, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flambeau as fb
from flambeau.vision import tv_tensors
from flambeau.vision.transforms import v2
from flambeau.vision.transforms.v2 import functional as F

HEIGHT, WIDTH = 20, 30


def _boxes(data: Any, format: str = "XYXY", **options: Any) -> Any:
    return tv_tensors.BoundingBoxes(data, format=format, canvas_size=(HEIGHT, WIDTH), **options)


def _points(data: Any) -> Any:
    return tv_tensors.KeyPoints(data, canvas_size=(HEIGHT, WIDTH))


# A function of an input, where it takes the box (2, 4, 8, 10), and the size of its result.
MOVES: dict[str, tuple[Callable[[Any], Any], list[int], tuple[int, int]]] = {
    "horizontal flip": (F.horizontal_flip, [22, 4, 28, 10], (20, 30)),
    "vertical flip": (F.vertical_flip, [2, 10, 8, 16], (20, 30)),
    "resize": (lambda x: F.resize(x, [40, 15]), [1, 8, 4, 20], (40, 15)),
    "resize shorter": (lambda x: F.resize(x, [40]), [4, 8, 16, 20], (40, 60)),
    "crop": (lambda x: F.crop(x, 3, 1, 5, 6), [1, 1, 6, 5], (5, 6)),
    "center crop": (lambda x: F.center_crop(x, [10, 20]), [0, 0, 3, 5], (10, 20)),
    "pad": (lambda x: F.pad(x, [1, 2, 3, 4]), [3, 6, 9, 12], (26, 34)),
    "resized crop": (lambda x: F.resized_crop(x, 0, 0, 10, 15, [20, 30]), [4, 8, 16, 20], (20, 30)),
    "half turn": (lambda x: F.rotate(x, 180), [22, 10, 28, 16], (20, 30)),
    "quarter turn": (lambda x: F.rotate(x, 90, expand=True), [4, 22, 10, 28], (30, 20)),
    "move": (lambda x: F.affine(x, 0, [5, -1], 1.0, [0.0, 0.0]), [7, 3, 13, 9], (20, 30)),
    "no bend": (lambda x: F.elastic(x, fb.zeros(1, 20, 30, 2)), [2, 4, 8, 10], (20, 30)),
}


@pytest.mark.parametrize("format", ["XYXY", "XYWH", "CXCYWH"])
@pytest.mark.parametrize("name", list(MOVES))
def test_moves_of_boxes(name: str, format: str) -> None:
    move, expected, size = MOVES[name]
    boxes = v2.ConvertBoundingBoxFormat(format)(_boxes([[2.0, 4, 8, 10]]))
    out = move(boxes)
    assert out.format.name == format
    assert out.canvas_size == size
    corners = F.convert_bounding_box_format(out, new_format="XYXY")
    fb.testing.assert_close(corners.as_subclass(fb.Tensor), fb.tensor([expected]).float())


@pytest.mark.parametrize("format", ["XYWHR", "CXCYWHR", "XYXYXYXY"])
@pytest.mark.parametrize("name", [name for name in MOVES if "crop" not in name])
def test_moves_of_rotated_boxes(name: str, format: str) -> None:
    """An upright box among the rotated ones."""
    move, expected, size = MOVES[name]
    boxes = v2.ConvertBoundingBoxFormat(format)(_boxes([[2.0, 4, 6, 6, 0]], "XYWHR"))
    out = move(boxes)
    assert out.canvas_size == size
    corners = F.convert_bounding_box_format(out, new_format="XYXYXYXY").view(4, 2)
    around = fb.cat((corners.amin(0), corners.amax(0)))
    # Of some ten pixels, through sines and cosines in float32.
    fb.testing.assert_close(around, fb.tensor(expected).float(), atol=1e-4, rtol=0)


def test_points_are_at_their_pixels() -> None:
    """The one white pixel of an image is where its point goes."""
    image = fb.zeros(1, HEIGHT, WIDTH)
    image[0, 4, 5] = 1
    for name in ("horizontal flip", "vertical flip", "crop", "pad", "no bend", "move"):
        move = MOVES[name][0]
        x, y = move(_points([[5, 4]]))[0].tolist()
        assert move(tv_tensors.Image(image))[0, y, x] > 0.99


def test_formats() -> None:
    boxes = _boxes([[10.0, 8, 6, 4, 30]], "CXCYWHR")
    for format in ("XYWHR", "XYXYXYXY", "CXCYWHR"):
        other = F.convert_bounding_box_format(boxes, new_format=format)
        back = F.convert_bounding_box_format(other, new_format="CXCYWHR")
        fb.testing.assert_close(back.as_subclass(fb.Tensor), boxes.as_subclass(fb.Tensor))
    plain = fb.tensor([[1, 2, 5, 8]])
    assert F.convert_bounding_box_format(plain, "XYXY", "CXCYWH").tolist() == [[3, 5, 4, 6]]
    F.convert_bounding_box_format(plain, "xyxy", "xywh", inplace=True)
    assert plain.tolist() == [[1, 2, 4, 6]]


def test_clamping() -> None:
    boxes = _boxes([[-4, 5, 40, 30]])
    assert F.clamp_bounding_boxes(boxes).tolist() == [[0, 5, 30, 20]]
    assert F.clamp_bounding_boxes(boxes, clamping_mode=None).tolist() == boxes.tolist()
    free = v2.SetClampingMode(None)(boxes)
    assert F.crop(free, 0, 0, 5, 5).tolist() == boxes.tolist()
    assert boxes.clamping_mode == "soft"
    assert F.clamp_keypoints(_points([[-1, 3], [30, 25]])).tolist() == [[0, 3], [29, 19]]


def test_clamping_rotated_boxes() -> None:
    """Soft: the smallest box around what is visible. Hard: all corners are in the image."""
    rotated = _boxes([[1.0, 10, 10, 6, 30], [15, 10, 4, 4, 45]], "CXCYWHR")
    soft = F.clamp_bounding_boxes(rotated)
    fb.testing.assert_close(soft[1], rotated[1])
    assert (soft[0, 2:4] <= rotated[0, 2:4]).all()
    hard = F.clamp_bounding_boxes(rotated, clamping_mode="hard")
    corners = F.convert_bounding_box_format(hard, new_format="XYXYXYXY").view(2, 4, 2)
    assert corners.min() > -1e-4
    fb.testing.assert_close(hard[:, 4], rotated[:, 4])
    beside = F.clamp_bounding_boxes(_boxes([[-50.0, 10, 10, 6, 30]], "CXCYWHR"))
    assert beside[0, 2:4].tolist() == [0, 0]
    empty = F.clamp_bounding_boxes(_boxes(fb.zeros(0, 5), "CXCYWHR"))
    assert empty.shape == (0, 5)


def test_empty_samples() -> None:
    """A picture without boxes goes through all of it."""
    sample = {
        "image": tv_tensors.Image(fb.zeros(3, HEIGHT, WIDTH)),
        "boxes": _boxes(fb.zeros(0, 4)),
        "points": _points(fb.zeros(0, 2)),
        "labels": fb.zeros(0, dtype=fb.int64),
    }
    steps = [
        v2.RandomHorizontalFlip(1.0),
        v2.RandomAffine(10, shear=3),
        v2.RandomPerspective(p=1.0),
        v2.ElasticTransform(sigma=1.0),
        v2.RandomResizedCrop(8),
        v2.SanitizeBoundingBoxes(),
        v2.SanitizeKeyPoints(),
    ]
    out = v2.Compose(steps)(sample)
    assert out["boxes"].shape == (0, 4)
    assert out["boxes"].canvas_size == (8, 8)
    assert out["points"].shape == (0, 2)


def test_sanitized_samples() -> None:
    masks = fb.arange(3).view(3, 1, 1).expand(3, HEIGHT, WIDTH)
    sample = {
        "boxes": _boxes([[1, 1, 9, 9], [3, 3, 3, 9], [2, 2, 50, 9]]),
        "labels": fb.tensor([1, 2, 3]),
        "crowd": fb.tensor([True, False, False]),
        "masks": tv_tensors.Mask(masks),
        "scene": tv_tensors.Mask(masks[0]),
    }
    out = v2.SanitizeBoundingBoxes()(sample)
    assert out["boxes"].tolist() == [[1, 1, 9, 9]]
    assert out["labels"].tolist() == [1]
    assert out["masks"].shape == (1, HEIGHT, WIDTH)
    assert out["crowd"].shape == (3,)
    assert out["scene"].shape == (HEIGHT, WIDTH)
    both = v2.SanitizeBoundingBoxes(labels_getter=lambda s: (s["labels"], s["crowd"]))(sample)
    assert both["crowd"].tolist() == [True]
    large = v2.SanitizeBoundingBoxes(min_area=100, labels_getter=None)(sample)
    assert large["boxes"].shape == (0, 4)
    points = {"p": _points([[[1, 1], [2, 2]], [[1, 1], [40, 2]]]), "labels": fb.tensor([1, 2])}
    assert v2.SanitizeKeyPoints("default")(points)["labels"].tolist() == [1]


def test_crops_around_boxes() -> None:
    fb.manual_seed(0)
    image = tv_tensors.Image(fb.zeros(3, HEIGHT, WIDTH))
    for _ in range(20):
        out, boxes = v2.RandomIoUCrop()(image, _boxes([[2, 2, 12, 12], [20, 5, 28, 15]]))
        assert boxes.canvas_size == tuple(out.shape[-2:])
        kept = boxes[(boxes != 0).any(1)]
        assert len(kept) >= 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda b: F.pad(b, 1, padding_mode="edge"), ValueError, "'edge' is not supported"),
        (
            lambda b: F.convert_bounding_box_format(b, new_format="XYWHR"),
            ValueError,
            "XYXY, new_format is XYWHR",
        ),
        (lambda b: F.convert_bounding_box_format(b), TypeError, "'new_format'"),
        (
            lambda b: F.convert_bounding_box_format(b + 0, new_format="XYWH"),
            ValueError,
            "`old_format` has to be passed",
        ),
        (lambda b: F.convert_bounding_box_format(3, new_format="XYWH"), TypeError, "int"),
        (lambda b: F.clamp_bounding_boxes(b + 0), ValueError, "`canvas_size`"),
        (lambda b: F.clamp_bounding_boxes(b, clamping_mode="x"), ValueError, "got x"),
        (lambda b: F.sanitize_bounding_boxes(b + 0), ValueError, "canvas_size=None"),
        (lambda b: F.clamp_keypoints(b + 0), ValueError, "`canvas_size` has to be passed"),
        (lambda b: F.five_crop(b, 5), TypeError, "five_crop supports .* but got .*BoundingBoxes"),
        (lambda b: F.adjust_brightness(b, 2.0), TypeError, "adjust_brightness supports"),
        (lambda b: F.elastic(b, fb.zeros(1, 2, 3, 2)), ValueError, r"\(1, 20, 30, 2\)"),
        (lambda b: F.perspective(b, None, None), ValueError, "startpoints/endpoints"),
        (
            lambda b: F.perspective(b, None, None, coefficients=[1.0]),
            ValueError,
            "8 float values, got 1",
        ),
        (
            lambda b: F.perspective(b, None, None, coefficients=[0.0] * 8),
            RuntimeError,
            "can not be inverted",
        ),
        (lambda b: v2.FiveCrop(5)(b), TypeError, "not supported by FiveCrop"),
        (lambda b: v2.RandAugment()(b), TypeError, "BoundingBoxes are not supported"),
        (lambda b: v2.RandomIoUCrop()(b), TypeError, "bounding boxes"),
        (lambda b: v2.SanitizeBoundingBoxes()({"b": b}), ValueError, "labels_getter=None"),
        (
            lambda b: v2.SanitizeBoundingBoxes()({"b": b, "labels": fb.zeros(5)}),
            ValueError,
            r"boxes \(1\).*shape=\(5,\)",
        ),
        (
            lambda b: v2.SanitizeBoundingBoxes(labels_getter="x"),
            ValueError,
            "labels_getter .* got x",
        ),
        (
            lambda b: v2.SanitizeBoundingBoxes(min_size=0),
            ValueError,
            "min_size must be >= 1, got 0",
        ),
        (lambda b: v2.SanitizeKeyPoints()(b), ValueError, "No keypoints"),
        (
            lambda b: v2.RandomCrop(3)(b, tv_tensors.Image(fb.zeros(3, 8, 8))),
            ValueError,
            r"multiple HxW.*\(8, 8\).*\(20, 30\)",
        ),
    ],
)
def test_refusals(call: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(_boxes([[2, 4, 8, 10]]))

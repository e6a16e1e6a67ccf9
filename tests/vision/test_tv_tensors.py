"""Tensors with a meaning: what they say, which operators keep it, and how they are refused."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

import flambeau as fb
from flambeau.utils.data import default_collate
from flambeau.vision import tv_tensors


def _boxes(**changes: Any) -> Any:
    options: dict[str, Any] = {"format": "XYXY", "canvas_size": (10, 20)}
    return tv_tensors.BoundingBoxes([[1, 2, 3, 4], [5, 6, 7, 8]], **options | changes)


def _each() -> list[Any]:
    return [
        tv_tensors.Image(fb.rand(3, 4, 5)),
        tv_tensors.Video(fb.rand(2, 3, 4, 5)),
        tv_tensors.Mask(fb.arange(20).view(4, 5)),
        _boxes(clamping_mode="hard"),
        tv_tensors.KeyPoints([[1.0, 2.0]], canvas_size=(10, 20)),
    ]


def test_shapes() -> None:
    assert tv_tensors.Image(fb.zeros(4, 5)).shape == (1, 4, 5)
    assert tv_tensors.Image(Image.new("RGB", (5, 4))).shape == (3, 4, 5)
    assert tv_tensors.Mask(Image.new("L", (5, 4))).shape == (1, 4, 5)
    assert _boxes(dtype=fb.float64).dtype == fb.float64
    one = tv_tensors.BoundingBoxes([1, 2, 3, 4], format="xywh", canvas_size=[4, 5])
    assert one.shape == (1, 4)
    assert one.format is tv_tensors.BoundingBoxFormat.XYWH
    assert one.canvas_size == (4, 5)
    assert one.clamping_mode == "soft"
    assert tv_tensors.KeyPoints(fb.zeros(2, 3, 2), canvas_size=(4, 5)).shape == (2, 3, 2)
    assert tv_tensors.Image(fb.zeros(3, 4, 5), requires_grad=True).requires_grad


@pytest.mark.parametrize("inpt", _each(), ids=lambda inpt: type(inpt).__name__)
def test_copies_keep_the_meaning(inpt: Any) -> None:
    file = io.BytesIO()
    fb.save(inpt, file)
    file.seek(0)
    copies = [
        inpt.clone(),
        inpt.detach(),
        inpt.to(fb.float64),
        copy.copy(inpt),
        copy.deepcopy(inpt),
        pickle.loads(pickle.dumps(inpt)),
        fb.load(file, weights_only=False),
    ]
    for each in copies:
        assert type(each) is type(inpt)
        assert vars(each) == vars(inpt)
        assert (each == inpt).all()


@pytest.mark.parametrize("inpt", _each(), ids=lambda inpt: type(inpt).__name__)
def test_results_have_no_meaning(inpt: Any) -> None:
    results = [inpt + 1, inpt[0], inpt.double(), fb.stack([inpt, inpt]), inpt.clone().mul_(2)]
    results += [default_collate([inpt, inpt]), *inpt.unbind(0), fb.zeros_like(inpt)]
    assert {type(each) for each in results} == {fb.Tensor}
    changed = inpt.clone()
    changed.zero_()
    assert type(changed) is type(inpt)


def test_results_with_a_meaning() -> None:
    boxes = _boxes()
    with tv_tensors.set_return_type("TVTensor"):
        doubled = boxes * 2
        assert isinstance(doubled, tv_tensors.BoundingBoxes)
        assert doubled.canvas_size == (10, 20)
        assert all(isinstance(each, tv_tensors.BoundingBoxes) for each in boxes.unbind(0))
        assert isinstance(fb.max(boxes, 0)[0], tv_tensors.BoundingBoxes)
        assert boxes.shape == (2, 4)
        assert boxes.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
        assert isinstance(boxes.clone().add_(1), tv_tensors.BoundingBoxes)
        with pytest.raises(TypeError):
            boxes + tv_tensors.Image(fb.zeros(1, 2, 4))
    assert type(boxes * 2) is fb.Tensor
    tv_tensors.set_return_type("tvtensor")
    assert isinstance(boxes * 2, tv_tensors.BoundingBoxes)
    tv_tensors.set_return_type("tensor")
    assert type(boxes * 2) is fb.Tensor


def test_wrap() -> None:
    boxes = _boxes()
    moved = tv_tensors.wrap(boxes + 1, like=boxes, canvas_size=(5, 5), format="XYWH")
    assert moved.canvas_size == (5, 5)
    assert moved.format is tv_tensors.BoundingBoxFormat.XYWH
    assert moved.clamping_mode == boxes.clamping_mode
    assert boxes.canvas_size == (10, 20)
    assert type(tv_tensors.wrap(fb.zeros(2), like=fb.zeros(2))) is fb.Tensor


def test_own_kinds() -> None:
    class Heat(tv_tensors.TVTensor):
        unit: str

        @classmethod
        def wrap(cls, tensor: fb.Tensor, like: Any, **kwargs: Any) -> Any:
            heat: Any = tensor.as_subclass(cls)
            heat.unit = kwargs.get("unit", like.unit)
            return heat

    heat: Any = fb.ones(2, 2).as_subclass(Heat)
    heat.unit = "K"
    assert heat.clone().unit == "K"
    assert tv_tensors.wrap(heat + 1, like=heat, unit="C").unit == "C"


def test_text() -> None:
    assert repr(_boxes()) == (
        "BoundingBoxes([[1, 2, 3, 4],\n               [5, 6, 7, 8]], "
        "format=BoundingBoxFormat.XYXY, canvas_size=(10, 20), clamping_mode=soft)"
    )
    points = tv_tensors.KeyPoints([[1, 2]], canvas_size=(10, 20))
    assert repr(points) == "KeyPoints([[1, 2]], canvas_size=(10, 20))"


def test_rotated_formats() -> None:
    rotated = [
        f.name for f in tv_tensors.BoundingBoxFormat if tv_tensors.is_rotated_bounding_format(f)
    ]
    assert rotated == ["XYWHR", "CXCYWHR", "XYXYXYXY"]
    assert tv_tensors.is_rotated_bounding_format("XYWHR")
    assert not tv_tensors.is_rotated_bounding_format("XYWH")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: _boxes(format="XXYY"), KeyError, "expected one of XYXY, .* got 'XXYY'"),
        (lambda: _boxes(canvas_size=7), ValueError, r"canvas_size must be \(height, width\).*7"),
        (lambda: _boxes(clamping_mode="x"), ValueError, "clamping_mode must be .* got x"),
        (
            lambda: tv_tensors.BoundingBoxes([[1, 2, 3, 4]], format="XYXY"),  # type: ignore[call-arg]
            TypeError,
            "canvas_size",
        ),
        (
            lambda: tv_tensors.BoundingBoxes(fb.zeros(1, 1, 4), format="XYXY", canvas_size=(1, 1)),
            ValueError,
            r"1D or 2D tensor, got 3D.*\(1, 1, 4\)",
        ),
        (lambda: _boxes(format="XYWHR"), ValueError, "floating point tensors, got torch.int64"),
        (
            lambda: tv_tensors.KeyPoints([[1, 2, 3]], canvas_size=(1, 1)),
            ValueError,
            r"shape \(..., 2\), not \(1, 3\)",
        ),
        (lambda: tv_tensors.Image(fb.zeros(3)), ValueError, r"2D or higher.*\(3,\)"),
        (lambda: tv_tensors.Video(fb.zeros(3, 4, 5)), ValueError, r"4D or higher.*\(3, 4, 5\)"),
        (lambda: tv_tensors.set_return_type("x"), ValueError, "'TVTensor' or 'Tensor', got x"),
        (
            lambda: tv_tensors.Mask(fb.zeros(2, 2, dtype=fb.int64), requires_grad=True),
            RuntimeError,
            "floating point",
        ),
    ],
)
def test_refusals(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()

"""`datasets.wrap_dataset_for_transforms_v2` against torchvision."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from flambeau.vision import datasets as ours
from flambeau.vision.datasets import _coco_masks
from flambeau.vision.datasets._coco_index import COCO
from flambeau.vision.transforms import v2 as our_v2
from tests.conformance import vision_oracle
from tests.vision.published import LAYOUTS

theirs = vision_oracle.load("datasets")
their_v2 = vision_oracle.load("transforms.v2")
PACKAGES = ((theirs, their_v2), (ours, our_v2))
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def _pycocotools() -> dict[str, types.ModuleType]:
    """What torchvision imports to read COCO, made of what is here."""
    package, coco, mask = (
        types.ModuleType(f"pycocotools{name}") for name in ("", ".coco", ".mask")
    )
    coco.COCO = COCO  # type: ignore[attr-defined]

    def packed(outline: Any, height: int, width: int) -> Any:
        return _coco_masks.mask_of(outline, height, width)

    mask.frPyObjects = packed  # type: ignore[attr-defined]
    mask.merge = mask.decode = lambda same: same  # type: ignore[attr-defined]
    package.mask = mask  # type: ignore[attr-defined]
    return {"pycocotools": package, "pycocotools.coco": coco, "pycocotools.mask": mask}


@pytest.fixture(autouse=True)
def foreign_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, module in _pycocotools().items():
        monkeypatch.setitem(sys.modules, name, module)
    with (
        mock.patch("flambeau.vision.datasets.utils.check_md5", return_value=True),
        mock.patch("torchvision.datasets.utils.check_md5", return_value=True),
    ):
        yield


def _plain(value: Any) -> Any:
    """A value as lists and numbers, with the meaning that it has."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if hasattr(value, "getbands"):
        return value.mode, np.asarray(value).tolist()
    if hasattr(value, "tolist"):
        meaning = getattr(value, "format", None), getattr(value, "canvas_size", None)
        kinds = type(value).__name__, str(value.dtype).split(".")[-1], str(meaning)
        return *kinds, value.tolist()
    return value


CALLS = [
    ("coco", "CocoDetection(root / 'images', root / 'annotations.json', {})", None),
    ("coco", "CocoDetection(root / 'images', root / 'annotations.json', {})", "all"),
    ("coco", "CocoDetection(root / 'images', root / 'annotations.json', {})", ["masks", "area"]),
    ("coco", "CocoCaptions(root / 'images', root / 'annotations.json', {})", None),
    ("voc", "VOCSegmentation(root, transform={})", None),
    ("voc", "VOCDetection(root, transform={})", "all"),
    ("voc", "VOCDetection(root, transform={})", ["labels"]),
    ("celeba", "CelebA(root, 'train', ['bbox', 'identity'], {})", None),
    ("celeba", "CelebA(root, 'train', 'bbox', {})", None),
    ("kitti", "Kitti(root, transform={})", None),
    ("kitti", "Kitti(root, True, {})", "all"),
    ("kitti", "Kitti(root, False, {})", None),
    ("oxford_iiit_pet", "OxfordIIITPet(root, transform={})", None),
    (
        "oxford_iiit_pet",
        "OxfordIIITPet(root, 'test', ['segmentation', 'category'], transform={})",
        None,
    ),
    ("cityscapes", "Cityscapes(root, 'val', target_type='semantic', transform={})", None),
    ("widerface", "WIDERFace(root, transform={})", None),
    ("widerface", "WIDERFace(root, 'test', {})", None),
    ("sbd", "SBDataset(root, mode='segmentation')", None),
    ("caltech101", "Caltech101(root, transform={})", None),
    ("gtsrb", "GTSRB(root, transform={})", None),
]


@pytest.mark.parametrize("transform", ["None", "v2.PILToTensor()"])
@pytest.mark.parametrize(("name", "call", "keys"), CALLS)
def test_samples(name: str, call: str, keys: Any, transform: str, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path)
    text = call.format(transform)
    samples = []
    for package, v2 in PACKAGES:
        data = eval(f"package.{text}", {"package": package, "root": tmp_path, "v2": v2})
        wrapped = package.wrap_dataset_for_transforms_v2(data, keys)
        assert isinstance(wrapped, type(data))
        assert type(wrapped).__name__ == f"Wrapped{type(data).__name__}"
        # The third image of VOC has no objects, which torchvision does not expect.
        samples.append([_plain(wrapped[number]) for number in range(2)])
    assert samples[1] == samples[0]


@pytest.mark.parametrize(
    ("name", "call", "keys", "error"),
    [
        ("voc", "VOCDetection(root)", ["nothing"], ValueError),
        ("caltech256", "Caltech256(root)", ["boxes"], ValueError),
        ("celeba", "CelebA(root, target_type='landmarks')", None, RuntimeError),
        ("cityscapes", "Cityscapes(root, target_type='polygon')", None, RuntimeError),
        ("sbd", "SBDataset(root)", None, RuntimeError),
        ("caltech101", "Caltech101(root, 'annotation')", None, RuntimeError),
        ("usps", "USPS(root)", None, TypeError),
    ],
)
def test_refusals(name: str, call: str, keys: Any, error: type, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path)
    for package, _ in PACKAGES:
        data = eval(f"package.{call}", {"package": package, "root": tmp_path})
        with pytest.raises(error):
            package.wrap_dataset_for_transforms_v2(data, keys)[0]
    for package, _ in PACKAGES:
        with pytest.raises(TypeError):
            package.wrap_dataset_for_transforms_v2([1, 2])

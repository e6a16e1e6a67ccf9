"""Data sets for the second interface of transforms, and the masks of COCO."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from flambeau.vision import datasets, tv_tensors
from flambeau.vision.datasets._coco_masks import mask_of
from flambeau.vision.transforms import v2
from tests.vision.published import LAYOUTS

wrap = datasets.wrap_dataset_for_transforms_v2


@pytest.fixture(autouse=True)
def without_sums() -> Iterator[None]:
    """The files are not the published ones."""
    with mock.patch("flambeau.vision.datasets.utils.check_md5", return_value=True):
        yield


def test_coco(tmp_path: Path) -> None:
    LAYOUTS["coco"](tmp_path)
    data = datasets.CocoDetection(tmp_path / "images", tmp_path / "annotations.json")
    target = wrap(data)[0][1]
    assert set(target) == {"image_id", "boxes", "labels"}
    assert (target["image_id"], target["labels"].tolist()) == (3, [2, 1])
    assert isinstance(target["boxes"], tv_tensors.BoundingBoxes)
    assert target["boxes"].tolist() == [[1, 1, 5, 4], [2, 2, 7, 5]]
    assert wrap(data)[1][1] == {"image_id": 5}
    masks = wrap(data, ["masks"])[0][1]["masks"]
    assert isinstance(masks, tv_tensors.Mask)
    assert masks.shape == (2, 6, 8)
    assert (masks[0].numpy() == data.coco.annToMask(data[0][1][0])).all()


def test_transforms_see_whole_samples(tmp_path: Path) -> None:
    LAYOUTS["coco"](tmp_path)
    turned = datasets.CocoDetection(
        tmp_path / "images",
        tmp_path / "annotations.json",
        transforms=v2.Compose([v2.RandomHorizontalFlip(p=1), v2.PILToTensor()]),
    )
    image, target = wrap(turned)[0]
    assert image.shape == (3, 6, 8)
    assert target["boxes"].tolist() == [[3, 1, 7, 4], [1, 2, 6, 5]]
    again = pickle.loads(pickle.dumps(wrap(turned)))
    assert again[0][1]["boxes"].tolist() == target["boxes"].tolist()


def test_masks_and_boxes(tmp_path: Path) -> None:
    for name in ("voc", "cityscapes", "kitti", "widerface", "celeba", "caltech101", "usps"):
        LAYOUTS[name](tmp_path)
    image, mask = wrap(datasets.VOCSegmentation(tmp_path))[0]
    assert isinstance(mask, tv_tensors.Mask)
    assert image.size == (8, 6)
    found = wrap(datasets.VOCDetection(tmp_path))
    assert found[0][1]["boxes"].tolist() == [[3, 1, 6, 5], [9, 1, 6, 5]]
    assert found[0][1]["labels"].tolist() == [8, 20]
    assert found[2][1]["boxes"].shape == (0, 4)
    things = wrap(datasets.Cityscapes(tmp_path, target_type="instance"))[0][1]
    assert things["labels"].tolist() == [7, 26, 26]
    assert things["masks"].shape == (3, 1, 6, 8)
    assert wrap(datasets.Kitti(tmp_path), "all")[0][1]["labels"].tolist() == [0, 8]
    assert wrap(datasets.WIDERFace(tmp_path))[0][1]["bbox"].tolist()[1] == [5, 6, 12, 14]
    box = wrap(datasets.CelebA(tmp_path, target_type=["identity", "bbox"]))[0][1][1]
    assert box.tolist() == [[0, 2, 3, 6]]
    with pytest.raises(RuntimeError, match="landmarks"):
        wrap(datasets.CelebA(tmp_path, target_type="landmarks"))[0]
    with pytest.raises(ValueError, match=r"\['nothing'\] are not available"):
        wrap(datasets.VOCDetection(tmp_path), ["nothing"])
    with pytest.raises(ValueError, match="only supported for"):
        wrap(datasets.Caltech101(tmp_path), ["boxes"])
    with pytest.raises(TypeError, match="USPS"):
        wrap(datasets.USPS(tmp_path))
    with pytest.raises(TypeError, match="'list'"):
        wrap([1, 2])  # type: ignore[arg-type]


def test_polygons() -> None:
    """A pixel is inside where its middle is."""
    mask = mask_of([[1, 1, 5, 1, 5, 4, 1, 4]], 6, 8)
    expected = np.zeros((6, 8), np.uint8)
    expected[1:4, 1:5] = 1
    assert (mask == expected).all()
    backwards = mask_of([[1, 4, 5, 4, 5, 1, 1, 1]], 6, 8)
    assert (backwards == expected).all()
    both = mask_of([[1, 1, 5, 1, 5, 4, 1, 4], [0, 0, 8, 0, 8, 2, 0, 2]], 6, 8)
    expected[:2] = 1
    assert (both == expected).all()
    assert mask_of([[-3, -3, 99, -3, 99, 99, -3, 99]], 6, 8).all()
    half = mask_of([[0, 0, 40, 0, 0, 40]], 40, 40)
    ways = np.add.outer(np.arange(40), np.arange(40))
    assert half[ways < 38].all()
    assert not half[ways > 40].any()


def test_runs() -> None:
    counts = [7, 3, 3, 3, 32]
    expected = np.zeros(48, np.uint8)
    expected[[7, 8, 9, 13, 14, 15]] = 1
    expected = expected.reshape(8, 6).T
    assert (mask_of({"counts": counts, "size": [6, 8]}, 6, 8) == expected).all()
    # 7 3 3, then 3 - 3 and 32 - 3: five bits a character, the sixth says that more follow.
    assert (mask_of({"counts": "7330m0", "size": [6, 8]}, 6, 8) == expected).all()
    with pytest.raises(ValueError, match="runs of 10 pixels for a mask of 6 × 8"):
        mask_of({"counts": [7, 3], "size": [6, 8]}, 6, 8)
    for counts in ([2**40, 3], [-(2**40), 2**40 + 48], []):
        with pytest.raises(ValueError, match="for a mask of 6 × 8"):
            mask_of({"counts": counts, "size": [6, 8]}, 6, 8)


@pytest.mark.parametrize(
    "polygon", [[], [1, 2, 3], [0, 0, 1e12, 0, 5, 5], [0, 0, float("nan"), 4, 5, 5]]
)
def test_polygons_that_cannot_be_drawn(polygon: list[float]) -> None:
    with pytest.raises(ValueError, match="no polygon of pairs of numbers"):
        mask_of([polygon], 6, 8)

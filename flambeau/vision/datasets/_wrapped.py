"""Data sets whose samples hold tv_tensors, for the v2 transforms."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import flambeau as fb
from flambeau.vision import tv_tensors
from flambeau.vision.datasets._coco_masks import mask_of
from flambeau.vision.datasets._published import ImageList, numbered, targets_of
from flambeau.vision.datasets.caltech import Caltech101, Caltech256
from flambeau.vision.datasets.celeba import CelebA
from flambeau.vision.datasets.cifar import CIFAR10
from flambeau.vision.datasets.cityscapes import Cityscapes
from flambeau.vision.datasets.coco import CocoCaptions, CocoDetection
from flambeau.vision.datasets.fakedata import FakeData
from flambeau.vision.datasets.folder import DatasetFolder
from flambeau.vision.datasets.kitti import Kitti
from flambeau.vision.datasets.mnist import MNIST
from flambeau.vision.datasets.oxford_iiit_pet import OxfordIIITPet
from flambeau.vision.datasets.sbd import SBDataset
from flambeau.vision.datasets.stl10 import STL10
from flambeau.vision.datasets.svhn import SVHN
from flambeau.vision.datasets.vision import StandardTransform, VisionDataset
from flambeau.vision.datasets.voc import VOCDetection, VOCSegmentation
from flambeau.vision.datasets.widerface import WIDERFace

__all__ = ["wrap_dataset_for_transforms_v2"]

_VOC_CLASSES = numbered(
    [
        *("__background__", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat"),
        *("chair", "cow", "diningtable", "dog", "horse", "motorbike", "person", "pottedplant"),
        *("sheep", "sofa", "train", "tvmonitor"),
    ]
)
_KITTI_CLASSES = numbered(
    [
        *("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc"),
        "DontCare",
    ]
)
_Sample = tuple[Any, Any]
_Keys = Collection[str] | None
# Data sets whose targets are dictionaries: all keys, and the default ones.
_KEYS: dict[type[VisionDataset], tuple[set[str], set[str]]] = {}


def wrap_dataset_for_transforms_v2(
    dataset: VisionDataset, target_keys: Collection[str] | str | None = None
) -> Any:
    """Return a data set whose boxes and masks are tv_tensors.

    Its transforms get whole samples. ``target_keys`` chooses the entries of a target that is a
    dictionary: None the default ones, ``"all"`` everything. Classification data sets stay the same.
    """
    if not isinstance(dataset, VisionDataset):
        raise TypeError(
            "This wrapper is meant for subclasses of `torchvision.datasets.VisionDataset`, but "
            f"got a '{type(dataset).__name__}' instead."
        )
    kind = type(dataset)
    wrapped: Any = type(f"Wrapped{kind.__name__}", (_Wrapped, kind), {})
    return wrapped(dataset, _chosen_keys(dataset, target_keys))


class _Wrapped:
    """A data set with the attributes of another, whose samples hold tv_tensors."""

    def __init__(self, dataset: VisionDataset, target_keys: _Keys) -> None:
        # The other's transforms must not see a sample before its parts are tv_tensors.
        self.__dict__.update(dataset.__dict__)
        self._inner: VisionDataset = object.__new__(type(dataset))
        self._inner.__dict__.update(dataset.__dict__)
        self._inner.transform = self._inner.target_transform = self._inner.transforms = None
        together = dataset.transforms
        if together is None and (dataset.transform or dataset.target_transform):
            together = StandardTransform(dataset.transform, dataset.target_transform)
        self.transforms = together
        self._target_keys = target_keys
        self._give_meaning = _meaning_for(dataset)

    def __getitem__(self, index: int) -> Any:
        sample = self._give_meaning(self._inner, index, self._inner[index], self._target_keys)
        return sample if self.transforms is None else self.transforms(*sample)

    def __len__(self) -> int:
        return len(self._inner)

    def __reduce__(self) -> Any:
        return wrap_dataset_for_transforms_v2, (self._outer(), self._target_keys)

    def _outer(self) -> VisionDataset:
        """The wrapped data set, with its transforms."""
        dataset = object.__new__(type(self._inner))
        dataset.__dict__.update(self._inner.__dict__)
        dataset.transforms = self.transforms
        return dataset


_Meaning = Callable[[Any, int, _Sample, _Keys], _Sample]
_MEANINGS: list[tuple[type[VisionDataset], _Meaning]] = []


def _meaning(*kinds: type[VisionDataset]) -> Callable[[_Meaning], _Meaning]:
    def enter(function: _Meaning) -> _Meaning:
        _MEANINGS.extend((kind, function) for kind in kinds)
        return function

    return enter


def _meaning_for(dataset: VisionDataset) -> _Meaning:
    for kind, function in _MEANINGS:
        if isinstance(dataset, kind):
            return function
    raise TypeError(
        f"No wrapper exists for dataset class {type(dataset).__name__}. Please wrap the output "
        "yourself."
    )


def _chosen_keys(dataset: VisionDataset, given: Collection[str] | str | None) -> _Keys:
    known = next((keys for kind, keys in _KEYS.items() if isinstance(dataset, kind)), None)
    if isinstance(dataset, CocoCaptions) or known is None:
        if given is not None and given != "all":
            raise ValueError(
                "`target_keys` is currently only supported for `CocoDetection`, `VOCDetection`, "
                f"`Kitti`, and `WIDERFace`, but got {type(dataset).__name__}."
            )
        return None
    available, usual = known
    if given == "all":
        return available
    chosen = usual if given is None else set(given)
    if extra := sorted(chosen - available):
        raise ValueError(f"Target keys {extra} are not available")
    return chosen


def _refuse(dataset: VisionDataset, what: str) -> None:
    raise RuntimeError(
        f"`{type(dataset).__name__}` dataset with {what} is currently not supported by this "
        "wrapper: transforms would not move it along with the image."
    )


def _canvas(image: Any) -> tuple[int, int]:
    return image.height, image.width


def _boxes(values: Any, image: Any, format: str = "XYXY") -> Any:
    boxes = tv_tensors.BoundingBoxes(values, format=format, canvas_size=_canvas(image))
    if format == "XYXY":
        return boxes
    from flambeau.vision.transforms.v2.functional import convert_bounding_box_format

    return convert_bounding_box_format(boxes, new_format="XYXY")


def _lists(dictionaries: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [each[key] for each in dictionaries] for key in dictionaries[0]}


@_meaning(CocoCaptions, ImageList, Caltech256, CIFAR10, MNIST, DatasetFolder, FakeData, STL10, SVHN)
def _unchanged(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    return sample


@_meaning(Caltech101)
def _caltech101(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    if "annotation" in dataset.target_type:
        _refuse(dataset, "target_type='annotation'")
    return sample


@_meaning(VOCSegmentation)
def _segmentation(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    return sample[0], tv_tensors.Mask(sample[1])


@_meaning(SBDataset)
def _sbd(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    if dataset.mode == "boundaries":
        _refuse(dataset, "mode='boundaries'")
    return sample[0], tv_tensors.Mask(sample[1])


_KEYS[CocoDetection] = (
    {
        *("segmentation", "area", "iscrowd", "image_id", "bbox", "category_id"),
        *("boxes", "masks", "labels"),
    },
    {"image_id", "boxes", "labels"},
)


@_meaning(CocoDetection)
def _coco(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, annotations = sample
    number = dataset.ids[index]
    if not annotations:
        return image, {"image_id": number}
    lists = _lists(annotations)
    height, width = _canvas(image)
    target: dict[str, Any] = {key: value for key, value in lists.items() if key in (keys or ())}
    target["image_id"] = number
    if keys is None or "boxes" in keys:
        target["boxes"] = _boxes(lists["bbox"], image, "XYWH")
    if keys is None or "masks" in keys:
        masks = [fb.from_numpy(mask_of(each, height, width)) for each in lists["segmentation"]]
        target["masks"] = tv_tensors.Mask(fb.stack(masks))
    if keys is None or "labels" in keys:
        target["labels"] = fb.tensor(lists["category_id"])
    return image, {key: value for key, value in target.items() if keys is None or key in keys}


_KEYS[VOCDetection] = ({"annotation", "boxes", "labels"}, {"boxes", "labels"})


@_meaning(VOCDetection)
def _voc(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, target = sample
    objects = target["annotation"]["object"]
    sides = ("xmin", "ymin", "xmax", "ymax")
    corners = [[int(each["bndbox"][side]) for side in sides] for each in objects]
    chosen = keys or ()
    if "boxes" in chosen:
        target["boxes"] = _boxes(fb.tensor(corners).reshape(-1, 4), image)
    if "labels" in chosen:
        target["labels"] = fb.tensor([_VOC_CLASSES[each["name"]] for each in objects])
    return image, {key: value for key, value in target.items() if key in chosen}


_KEYS[Kitti] = (
    {
        *("type", "truncated", "occluded", "alpha", "bbox", "dimensions", "location"),
        *("rotation_y", "boxes", "labels"),
    },
    {"boxes", "labels"},
)


@_meaning(Kitti)
def _kitti(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, objects = sample
    if objects is None:
        return image, None
    target: dict[str, Any] = _lists(objects)
    target["boxes"] = _boxes(target["bbox"], image)
    target["labels"] = fb.tensor([_KITTI_CLASSES[kind] for kind in target["type"]])
    return image, {key: value for key, value in target.items() if key in (keys or ())}


_FACES = {"bbox", "blur", "expression", "illumination", "occlusion", "pose", "invalid"}
_KEYS[WIDERFace] = (_FACES, _FACES)


@_meaning(WIDERFace)
def _widerface(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, faces = sample
    if faces is None:
        return image, None
    target = {key: value for key, value in faces.items() if key in (keys or ())}
    if "bbox" in target:
        target["bbox"] = _boxes(target["bbox"], image, "XYWH")
    return image, target


def _by_type(dataset: Any, target: Any, types: list[str], meanings: dict[str, Any]) -> Any:
    """A target of one type or of several, each wrapped by its type."""
    values = dict(zip(types, target if len(types) > 1 else (target,), strict=True))
    return targets_of(types, lambda kind: meanings.get(kind, lambda same: same)(values[kind]))


@_meaning(CelebA)
def _celeba(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, target = sample
    if "landmarks" in dataset.target_type:
        _refuse(dataset, "target_type='landmarks'")
    meanings = {"bbox": lambda box: _boxes(box, image, "XYWH")}
    return image, _by_type(dataset, target, dataset.target_type, meanings)


@_meaning(OxfordIIITPet)
def _pets(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, target = sample
    meanings = {"segmentation": tv_tensors.Mask}
    return image, _by_type(dataset, target, dataset._target_types, meanings)


@_meaning(Cityscapes)
def _cityscapes(dataset: Any, index: int, sample: _Sample, keys: _Keys) -> _Sample:
    image, target = sample
    for kind in ("polygon", "color"):
        if kind in dataset.target_type:
            _refuse(dataset, f"target_type='{kind}'")
    meanings = {"instance": _instances, "semantic": tv_tensors.Mask}
    return image, _by_type(dataset, target, dataset.target_type, meanings)


def _instances(picture: Any) -> dict[str, Any]:
    """Instance ids: a class, or 1000 times a class plus the index of the instance."""
    data = tv_tensors.Mask(picture).as_subclass(fb.Tensor)
    masks, labels = [], []
    for number in data.unique():
        label = int(number)
        labels.append(label // 1000 if label >= 1000 else label)
        masks.append(data == number)
    return {
        "masks": tv_tensors.Mask(fb.stack(masks)),
        "labels": fb.tensor(labels),
    }

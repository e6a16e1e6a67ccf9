"""Preprocessing of samples with boxes, points and masks, against torchvision."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.case import Namespace, add_case
from benchmarks.vision import vision


def _small(t: Any) -> Namespace:
    """Tensors so small that finding the kernel takes most of the time."""
    v2, tv = vision(t, "transforms.v2"), vision(t, "tv_tensors")
    numbers = np.random.default_rng(0).random((6, 4), dtype=np.float32) * 4 + [0, 0, 4, 4]
    boxes = t.tensor(numbers.astype(np.float32))
    sample = {
        "image": tv.Image(t.zeros(3, 8, 8)),
        "boxes": tv.BoundingBoxes(boxes, format="XYXY", canvas_size=(8, 8)),
        "masks": tv.Mask(t.zeros(8, 8, dtype=t.int64)),
        "points": tv.KeyPoints(boxes[:, :2], canvas_size=(8, 8)),
        "labels": t.arange(6),
    }
    return {
        "F": v2.functional,
        "tv": tv,
        "tensor": t.zeros(3, 8, 8),
        "flip": v2.RandomHorizontalFlip(1.0),
        "crop": v2.CenterCrop(6),
        "sanitize": v2.SanitizeBoundingBoxes(),
        "sample": sample,
        **sample,
    }


def _large(t: Any) -> Namespace:
    """An image with twenty boxes and masks, and usual pipelines without steps of random length."""
    t.manual_seed(0)
    v2, tv = vision(t, "transforms.v2"), vision(t, "tv_tensors")
    random = np.random.default_rng(0)
    pixels = t.tensor(random.integers(0, 256, (3, 256, 320), dtype=np.uint8))
    numbers = random.random((20, 4), dtype=np.float32) * 100 + np.float32([0, 0, 100, 100])
    norm = v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    to_float = v2.ToDtype(t.float32, scale=True)
    return {
        "F": v2.functional,
        "image": tv.Image(pixels),
        "tile": tv.Image(pixels[:, :32, :32].contiguous()),
        "sample": {
            "image": tv.Image(pixels),
            "boxes": tv.BoundingBoxes(t.tensor(numbers), format="XYXY", canvas_size=(256, 320)),
            "masks": tv.Mask(t.zeros(20, 256, 320, dtype=t.bool)),
            "labels": t.arange(20),
        },
        "detect": v2.Compose(
            [
                v2.ColorJitter(0.2, 0.2),
                v2.RandomCrop((224, 256)),
                v2.RandomHorizontalFlip(1.0),
                v2.Resize((224, 224)),
                v2.SanitizeBoundingBoxes(),
                to_float,
            ]
        ),
        "classify": v2.Compose(
            [v2.Resize(232), v2.CenterCrop(224), v2.RandomHorizontalFlip(1.0), to_float, norm]
        ),
        "cifar": v2.Compose([v2.RandomCrop(32, 4), v2.RandomHorizontalFlip(1.0), to_float, norm]),
        "warp": v2.RandomAffine(20, (0.1, 0.1), (0.8, 1.2)),
        "mix": v2.MixUp(num_classes=10),
        "batch": t.zeros(32, 3, 32, 32),
        "classes": t.arange(32) % 10,
    }


for statement in (
    "F.horizontal_flip(tensor)",
    "F.horizontal_flip(image)",
    "F.horizontal_flip(boxes)",
    "F.horizontal_flip(points)",
    "F.crop(boxes, 1, 1, 5, 5)",
    "F.resize(boxes, [5, 5])",
    "F.rotate(boxes, 20.0)",
    "F.pad(masks, [1, 1])",
    "F.get_size(image)",
    "F.convert_bounding_box_format(boxes, new_format='CXCYWH')",
    "F.clamp_bounding_boxes(boxes)",
    "tv.wrap(tensor, like=image)",
    "flip(tensor)",
    "flip(sample)",
    "crop(sample)",
    "sanitize(sample)",
):
    add_case("vision-v2-small", statement, _small, statement)

for statement in (
    "detect(sample)",
    "classify(image)",
    "cifar(tile)",
    "warp(sample)",
    "mix(batch, classes)",
    "F.adjust_contrast(image, 1.3)",
    "F.adjust_hue(image, 0.1)",
    "F.adjust_sharpness(image, 2.0)",
    "F.equalize(image)",
    "F.gaussian_blur(image, 5)",
    "F.resize(image, [224, 224])",
):
    add_case("vision-v2", statement, _large, statement)

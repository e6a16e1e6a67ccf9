"""Image preprocessing, against torchvision."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from benchmarks.case import Namespace, add_case
from benchmarks.vision import vision


def _images(t: Any) -> Namespace:
    """One picture as a PIL image, as bytes and as floating point, and usual pipelines."""
    t.manual_seed(0)
    tv = vision(t)
    pixels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), dtype=np.uint8)
    photo = Image.fromarray(pixels)
    transforms = tv.transforms
    norm = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    flip, to_tensor = transforms.RandomHorizontalFlip(), transforms.ToTensor()
    u8 = transforms.PILToTensor()(photo)
    return {
        "T": transforms,
        "F": transforms.functional,
        "photo": photo,
        "small": photo.resize((32, 32)),
        "u8": u8,
        "f32": u8.float() / 255,
        "norm": norm,
        "jitter": transforms.ColorJitter(0.4, 0.4, 0.4, 0.1),
        "cifar": transforms.Compose([transforms.RandomCrop(32, 4), flip, to_tensor, norm]),
        "imagenet": transforms.Compose([transforms.RandomResizedCrop(224), flip, to_tensor, norm]),
        "evaluate": transforms.Compose(
            [transforms.Resize(232), transforms.CenterCrop(224), to_tensor, norm]
        ),
        "make_grid": tv.utils.make_grid,
        "batch": t.rand(64, 3, 32, 32),
    }


for statement in (
    "T.functional.to_tensor(photo)",
    "T.functional.to_tensor(small)",
    "norm(f32)",
    "cifar(small)",
    "imagenet(photo)",
    "evaluate(photo)",
    "F.resize(photo, [224])",
    "F.pil_to_tensor(photo)",
    "F.resize(u8, [224])",
    "F.resize(f32, [224])",
    "F.hflip(u8)",
    "F.rotate(u8, 30)",
    "F.gaussian_blur(u8, 5)",
    "F.equalize(u8)",
    "F.to_pil_image(u8)",
    "jitter(u8)",
    "make_grid(batch)",
):
    add_case("vision", statement, _images, statement)

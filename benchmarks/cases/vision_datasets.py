"""Data sets read from files, and an epoch of their images, against torchvision."""

from __future__ import annotations

import atexit
import hashlib
import pickle
import shutil
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.case import Namespace, add_case
from benchmarks.vision import vision

_RANDOM = np.random.default_rng(0)


def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="benchmark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _bytes(*shape: int) -> Any:
    return _RANDOM.integers(0, 256, shape, dtype=np.uint8)


def _cifar(kind: Any, count: int = 4000) -> tuple[Any, Path]:
    """The data set of six files of so many images each, and their folder."""
    root = _folder()
    folder = root / kind.base_folder
    folder.mkdir()

    def write(name: str, content: dict[str, Any]) -> list[str]:
        data = pickle.dumps(content, protocol=3)
        (folder / name).write_bytes(data)
        return [name, hashlib.md5(data).hexdigest()]

    def batch(name: str) -> list[str]:
        return write(name, {"data": _bytes(count, 3072), "labels": [3] * count})

    meta = write(kind.meta["filename"], {kind.meta["key"]: ["x"] * 10})
    members = {
        "train_list": [batch(name) for name, _ in kind.train_list],
        "test_list": [batch(name) for name, _ in kind.test_list],
        "meta": {**kind.meta, "md5": meta[1]},
    }
    return type(kind.__name__, (kind,), members), root


def _mnist(count: int = 60000) -> Path:
    root = _folder()
    folder = root / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part in ("train", "t10k"):
        header = struct.pack(">4B3I", 0, 0, 8, 3, count, 28, 28)
        (folder / f"{part}-images-idx3-ubyte").write_bytes(header + _bytes(count, 784).tobytes())
        labels = struct.pack(">4BI", 0, 0, 8, 1, count) + bytes(count)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)
    return root


def _many_files(classes: int = 100, each: int = 200) -> Path:
    root = _folder()
    for number in range(classes):
        (root / f"{number:03d}").mkdir()
        for file in range(each):
            (root / f"{number:03d}" / f"{file}.jpg").touch()
    return root


def _photos(count: int = 8) -> Path:
    root = _folder()
    (root / "class").mkdir()
    photo = Image.fromarray(_bytes(12, 16, 3)).resize((500, 375))
    for number in range(count):
        photo.save(root / "class" / f"{number}.jpg")
    return root


def _epoch(data: Any, count: int = 500) -> None:
    for number in range(min(count, len(data))):
        data[number]


def _cifar_files(t: Any) -> Namespace:
    kind, root = _cifar(vision(t, "datasets").CIFAR10)
    to_tensor = vision(t, "transforms").ToTensor()
    plain, tensors = kind(root), kind(root, transform=to_tensor)
    return {"CIFAR10": kind, "root": root, "plain": plain, "tensors": tensors, "epoch": _epoch}


def _mnist_files(t: Any) -> Namespace:
    kind, root = vision(t, "datasets").MNIST, _mnist()
    to_tensor = vision(t, "transforms").ToTensor()
    plain, tensors = kind(root), kind(root, transform=to_tensor)
    return {"MNIST": kind, "root": root, "plain": plain, "tensors": tensors, "epoch": _epoch}


def _folders(t: Any) -> Namespace:
    kind = vision(t, "datasets").ImageFolder
    photos = kind(_photos(), vision(t, "transforms").ToTensor())
    return {"ImageFolder": kind, "root": _many_files(), "photos": photos, "epoch": _epoch}


for make, name, statement in (
    (_cifar_files, "CIFAR-10 from files", "CIFAR10(root)"),
    (_cifar_files, "CIFAR-10, images", "epoch(plain)"),
    (_cifar_files, "CIFAR-10, tensors", "epoch(tensors)"),
    (_mnist_files, "MNIST from files", "MNIST(root)"),
    (_mnist_files, "MNIST, images", "epoch(plain)"),
    (_mnist_files, "MNIST, tensors", "epoch(tensors)"),
    (_folders, "ImageFolder of 20 000 files", "ImageFolder(root)"),
    (_folders, "ImageFolder, photographs as tensors", "epoch(photos)"),
):
    add_case("vision-data", name, make, statement)

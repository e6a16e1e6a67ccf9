"""`vision.datasets` against torchvision: the same samples and text from the same files."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from flambeau.vision import datasets as ours
from flambeau.vision import transforms as our_transforms
from tests.census import vision as files
from tests.conformance import vision_oracle

theirs = vision_oracle.load("datasets")
their_transforms = vision_oracle.load("transforms")
PACKAGES = ((ours, our_transforms), (theirs, their_transforms))


def _samples(data: Any) -> list[Any]:
    return [(np.asarray(image).tolist(), target) for image, target in data]


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_mnist_family(name: str, train: bool) -> None:
    root = files.mnist(name)
    made = [
        getattr(package, name)(root, train=train, transform=transforms.Pad(1))
        for package, transforms in PACKAGES
    ]
    assert _samples(made[0]) == _samples(made[1])
    assert repr(made[0]) == repr(made[1])
    assert made[0].classes == made[1].classes
    assert made[0].data.numpy().tolist() == made[1].data.numpy().tolist()


def _idx(path: Path, values: Any) -> None:
    code = {"uint8": 8, "int32": 12}[values.dtype.name]
    header = struct.pack(f">4B{values.ndim}I", 0, 0, code, values.ndim, *values.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + values.astype(values.dtype.newbyteorder(">")).tobytes())


@pytest.mark.parametrize("split", ours.EMNIST.splits)
def test_emnist(split: str, tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)
    for part in ("train", "test"):
        stem = tmp_path / "EMNIST" / "raw" / f"emnist-{split}-{part}"
        _idx(Path(f"{stem}-images-idx3-ubyte"), pixels)
        _idx(Path(f"{stem}-labels-idx1-ubyte"), np.array([3, 1, 4], np.uint8))
    made = [package.EMNIST(tmp_path, split, train=False) for package, _ in PACKAGES]
    assert _samples(made[0]) == _samples(made[1])
    assert made[0].classes == made[1].classes
    assert made[0].class_to_idx == made[1].class_to_idx
    assert repr(made[0]) == repr(made[1])


@pytest.mark.parametrize("what", ["train", "test", "test10k", "test50k", "nist"])
def test_qmnist(what: str, tmp_path: Path) -> None:
    count = 10003 if what.startswith("test") else 4
    pixels = np.random.default_rng(0).integers(0, 256, (count, 4, 4), dtype=np.uint8)
    rows = np.arange(8 * count, dtype=np.int32).reshape(count, 8)
    stem = {"nist": "xnist", "train": "qmnist-train"}.get(what, "qmnist-test")
    _idx(tmp_path / "QMNIST" / "raw" / f"{stem}-images-idx3-ubyte", pixels)
    _idx(tmp_path / "QMNIST" / "raw" / f"{stem}-labels-idx2-int", rows)
    for compat in (True, False):
        made = [package.QMNIST(tmp_path, what, compat) for package, _ in PACKAGES]
        assert len(made[0]) == len(made[1]) > 0
        taken = [[data[number] for number in range(3)] for data in made]
        plain = [
            [(np.asarray(image).tolist(), np.asarray(target).tolist()) for image, target in each]
            for each in taken
        ]
        assert plain[0] == plain[1]
        assert repr(made[0]) == repr(made[1])


@pytest.mark.parametrize("name", ["CIFAR10", "CIFAR100"])
def test_cifar(name: str) -> None:
    made = [files.cifar(getattr(p, name), getattr(p, name)) for p, _ in PACKAGES]
    assert _samples(made[0]) == _samples(made[1])
    assert made[0].class_to_idx == made[1].class_to_idx


def test_image_folder(tmp_path: Path) -> None:
    root = files.images()
    made = [
        package.ImageFolder(
            root, transform=transforms.Compose([transforms.Resize(6), transforms.CenterCrop(4)])
        )
        for package, transforms in PACKAGES
    ]
    assert _samples(made[0]) == _samples(made[1])
    assert made[0].samples == made[1].samples
    assert repr(made[0]) == repr(made[1])
    (Path(root) / "empty").mkdir()
    for folder in (root, tmp_path, tmp_path / "nowhere"):
        for package, _ in PACKAGES:
            with pytest.raises(FileNotFoundError):
                package.ImageFolder(folder)


def test_fake_data() -> None:
    flambeau.manual_seed(1)
    torch.manual_seed(1)
    made = [
        package.FakeData(4, (3, 8, 8), 5, transforms.CenterCrop(4), random_offset=9)
        for package, transforms in PACKAGES
    ]
    assert _samples(made[0]) == _samples(made[1])
    assert repr(made[0]) == repr(made[1])
    assert flambeau.get_rng_state().tolist() == torch.get_rng_state().tolist()


def test_published_files() -> None:
    """Where each data set lies and what sums it has."""
    for name in ("MNIST", "FashionMNIST", "KMNIST", "QMNIST"):
        assert getattr(ours, name).resources == getattr(theirs, name).resources
        assert getattr(ours, name).mirrors == getattr(theirs, name).mirrors
    assert (ours.EMNIST.url, ours.EMNIST.md5) == (theirs.EMNIST.url, theirs.EMNIST.md5)
    assert ours.EMNIST.classes_split_dict == theirs.EMNIST.classes_split_dict
    for name in ("CIFAR10", "CIFAR100", "STL10"):
        for attribute in ("url", "tgz_md5", "train_list", "test_list"):
            mine, other = (getattr(getattr(p, name), attribute) for p, _ in PACKAGES)
            assert mine == other
    assert ours.SVHN.split_list == theirs.SVHN.split_list
    assert set(theirs.__all__) <= set(dir(ours))

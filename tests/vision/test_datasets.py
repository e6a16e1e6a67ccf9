"""Data sets from files made here in the published forms."""

from __future__ import annotations

import gzip
import hashlib
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError

import flambeau as fb
from flambeau.utils.data import DataLoader
from flambeau.vision import datasets, transforms

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 28, 28), dtype=np.uint8)
LABELS = np.array([3, 1, 4, 1, 5, 9], dtype=np.uint8)


def _idx(values: Any) -> bytes:
    kinds = {"uint8": 8, "int32": 12}
    header = bytes([0, 0, kinds[values.dtype.name], values.ndim])
    sizes = struct.pack(f">{values.ndim}I", *values.shape)
    return header + sizes + values.astype(values.dtype.newbyteorder(">")).tobytes()


def _mnist(folder: Path, packed: bool = False) -> Path:
    folder.mkdir(parents=True)
    for part in ("train", "t10k"):
        for kind, values in (("images-idx3", IMAGES), ("labels-idx1", LABELS)):
            data = _idx(values)
            suffix = ".gz" if packed else ""
            data = gzip.compress(data) if packed else data
            (folder / f"{part}-{kind}-ubyte{suffix}").write_bytes(data)
    return folder


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_mnist_family(name: str, packed: bool, tmp_path: Path) -> None:
    _mnist(tmp_path / name / "raw", packed)
    data = getattr(datasets, name)(tmp_path, train=False, transform=transforms.ToTensor())
    assert len(data) == 6
    assert data.targets.tolist() == LABELS.tolist()
    image, label = data[2]
    assert label == 4
    assert (image * 255).round().to(fb.uint8).numpy().tolist() == [IMAGES[2].tolist()]
    batch, labels = next(iter(DataLoader(data, batch_size=4)))
    assert batch.shape == (4, 1, 28, 28)
    assert labels.tolist() == [3, 1, 4, 1]
    with pytest.warns(UserWarning, match="renamed"):
        assert data.test_data is data.data


def test_images_do_not_write_to_their_data_set(tmp_path: Path) -> None:
    _mnist(tmp_path / "MNIST" / "raw")
    data = datasets.MNIST(tmp_path)
    picture = data[0][0]
    picture.putpixel((0, 0), 255 - int(IMAGES[0, 0, 0]))
    assert data.data[0].tolist() == IMAGES[0].tolist()
    data.data = data.data.transpose(1, 2)
    assert np.asarray(data[1][0]).tolist() == IMAGES[1].T.tolist()


def test_emnist_and_qmnist(tmp_path: Path) -> None:
    folder = tmp_path / "EMNIST" / "raw"
    folder.mkdir(parents=True)
    for part in ("train", "test"):
        (folder / f"emnist-letters-{part}-images-idx3-ubyte").write_bytes(_idx(IMAGES))
        (folder / f"emnist-letters-{part}-labels-idx1-ubyte").write_bytes(_idx(LABELS))
    letters = datasets.EMNIST(tmp_path, "letters", train=False)
    assert (letters.classes[3], letters[0][1]) == ("c", 3)
    with pytest.raises(ValueError, match="split"):
        datasets.EMNIST(tmp_path, "words")

    folder = tmp_path / "QMNIST" / "raw"
    folder.mkdir(parents=True)
    rows = np.arange(48, dtype=np.int32).reshape(6, 8)
    (folder / "qmnist-test-images-idx3-ubyte").write_bytes(_idx(IMAGES))
    (folder / "qmnist-test-labels-idx2-int").write_bytes(_idx(rows))
    assert datasets.QMNIST(tmp_path, "test")[1][1] == 8
    assert datasets.QMNIST(tmp_path, "test10k", compat=False)[1][1].tolist() == rows[1].tolist()


def _cifar(folder: Path, kind: type[datasets.CIFAR10]) -> type[datasets.CIFAR10]:
    """Files of two images each, and the data set whose sums are theirs."""
    folder.mkdir(parents=True)
    is_ten = kind is datasets.CIFAR10

    def write(name: str, content: dict[str, Any]) -> str:
        data = pickle.dumps(content, protocol=2)
        (folder / name).write_bytes(data)
        return hashlib.md5(data).hexdigest()

    def batch(name: str) -> list[str]:
        pixels = np.arange(2 * 3072).astype(np.uint8).reshape(2, 3072)
        key = "labels" if is_ten else "fine_labels"
        return [name, write(name, {"data": pixels, key: [1, 0]})]

    meta = dict(kind.meta, md5=write(kind.meta["filename"], {kind.meta["key"]: ["cat", "dog"]}))
    lists = {
        name: [batch(file) for file, _ in getattr(kind, name)]
        for name in ("train_list", "test_list")
    }
    return type("Small", (kind,), {**lists, "meta": meta})


@pytest.mark.parametrize("kind", [datasets.CIFAR10, datasets.CIFAR100])
def test_cifar(kind: type[datasets.CIFAR10], tmp_path: Path) -> None:
    small = _cifar(tmp_path / kind.base_folder, kind)
    data = small(tmp_path, train=True, transform=transforms.PILToTensor())
    assert data.data.shape == (2 * len(kind.train_list), 32, 32, 3)
    assert data.class_to_idx == {"cat": 0, "dog": 1}
    image, target = data[0]
    assert target == 1
    assert image.flatten().tolist() == [number % 256 for number in range(3072)]


def _python2_pickle(pixels: Any, labels: list[int]) -> bytes:
    """A batch as Python 2 wrote the published ones, whose text is bytes."""
    count, width = pixels.shape
    return b"".join(
        [
            b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n",
            b"K\x00\x85U\x01b\x87R(K\x01M" + struct.pack("<H", count),
            b"M" + struct.pack("<H", width) + b"\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03",
            b"U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89",
            b"T" + struct.pack("<i", pixels.size) + pixels.tobytes(),
            b"tbU\x06labels](" + b"".join(b"K" + bytes([label]) for label in labels) + b"eu.",
        ]
    )


def test_cifar_of_python_2(tmp_path: Path) -> None:
    small = _cifar(tmp_path / "cifar-10-batches-py", datasets.CIFAR10)
    pixels = np.random.default_rng(0).integers(0, 256, (230, 3072), dtype=np.uint8)
    labels = [number % 7 for number in range(230)]
    path = tmp_path / "cifar-10-batches-py" / "test_batch"
    path.write_bytes(_python2_pickle(pixels, labels))
    small.test_list = [["test_batch", None]]
    data = small(tmp_path, train=False)
    assert (data.data == pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)).all()
    assert data.targets == labels


def test_cifar_runs_no_code(tmp_path: Path) -> None:
    small = _cifar(tmp_path / "cifar-10-batches-py", datasets.CIFAR10)
    harmful = b"cposix\nsystem\n(S'touch harmed'\ntR."
    (tmp_path / "cifar-10-batches-py" / "test_batch").write_bytes(harmful)
    small.test_list = [["test_batch", None]]
    with pytest.raises(RuntimeError, match=r"test_batch.*system"):
        small(tmp_path, train=False)


def test_cifar_says_which_file_is_damaged(tmp_path: Path) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    small = _cifar(folder, datasets.CIFAR10)
    (folder / "data_batch_2").write_bytes(b"x")
    (folder / "data_batch_4").unlink()
    with pytest.raises(RuntimeError, match=r"data_batch_2 is damaged.*data_batch_4 is missing"):
        small(tmp_path)


def test_svhn_and_stl10(tmp_path: Path) -> None:
    from scipy.io import savemat

    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 4), dtype=np.uint8)
    savemat(tmp_path / "test_32x32.mat", {"X": pixels, "y": np.array([[10], [1], [2], [3]])})

    class SmallSVHN(datasets.SVHN):
        split_list = {"test": ["", "test_32x32.mat", None]}

    data = SmallSVHN(tmp_path, "test", transform=transforms.PILToTensor())
    image, label = data[0]
    assert label == 0
    assert image.permute(1, 2, 0).numpy().tolist() == pixels[..., 0].tolist()

    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    photos = np.random.default_rng(1).integers(0, 256, (3, 3, 96, 96), dtype=np.uint8)
    for name in ("train", "test", "unlabeled"):
        photos.tofile(folder / f"{name}_X.bin")
        np.array([1, 2, 10], dtype=np.uint8).tofile(folder / f"{name}_y.bin")
    (folder / "fold_indices.txt").write_text("0 2\n")

    class SmallSTL10(datasets.STL10):
        train_list = [[name, None] for name, _ in datasets.STL10.train_list]
        test_list = [[name, None] for name, _ in datasets.STL10.test_list]

    assert SmallSTL10(tmp_path, "train+unlabeled").labels.tolist() == [0, 1, 9, -1, -1, -1]
    assert SmallSTL10(tmp_path, folds=0).labels.tolist() == [0, 9]
    assert (
        np.asarray(SmallSTL10(tmp_path, "test")[0][0])[5, 7].tolist() == photos[0, :, 7, 5].tolist()
    )


def _images(root: Path) -> None:
    for name, color in (("cat/a.png", "red"), ("cat/sub/b.JPG", "lime"), ("dog/c.png", "blue")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 6), color).save(root / name)
    (root / "dog" / "notes.txt").write_text("no image")


def test_image_folder(tmp_path: Path) -> None:
    _images(tmp_path)
    data = datasets.ImageFolder(tmp_path, transform=transforms.PILToTensor())
    assert data.classes == ["cat", "dog"]
    assert data.targets == [0, 0, 1]
    assert [Path(path).name for path, _ in data.imgs] == ["a.png", "b.JPG", "c.png"]
    image, target = data[2]
    assert target == 1
    assert image[:, 0, 0].tolist() == [0, 0, 255]
    texts = datasets.DatasetFolder(
        str(tmp_path), lambda path: Path(path).read_text(), (".txt",), allow_empty=True
    )
    assert texts[0] == ("no image", 1)


def test_image_folder_refusals(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="class folder"):
        datasets.ImageFolder(tmp_path)
    with pytest.raises(FileNotFoundError):
        datasets.ImageFolder(tmp_path / "nowhere")
    _images(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty"):
        datasets.ImageFolder(tmp_path)
    data = datasets.ImageFolder(tmp_path, allow_empty=True)
    Path(data.samples[0][0]).write_bytes(b"\x89PNG\r\n\x1a\n broken")
    with pytest.raises(UnidentifiedImageError, match=r"a\.png"):
        data[0]


def test_damaged_mnist(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"MNIST.raw.*train-images-idx3-ubyte.*download=True"):
        datasets.MNIST(tmp_path)
    folder = _mnist(tmp_path / "MNIST" / "raw")
    file = folder / "train-images-idx3-ubyte"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.*damaged"):
        datasets.MNIST(tmp_path)
    file.write_bytes(b"<html>")
    with pytest.raises(ValueError, match="not an IDX file"):
        datasets.MNIST(tmp_path)


def test_fake_data_is_repeatable() -> None:
    data = datasets.FakeData(5, (3, 4, 4), 7, transform=transforms.PILToTensor())
    before = fb.get_rng_state()
    (first, label), (again, same) = data[3], data[3]
    assert (first == again).all()
    assert label == same < 7
    assert (fb.get_rng_state() == before).all()
    with pytest.raises(IndexError):
        data[5]
    assert repr(data) == (
        "Dataset FakeData\n    Number of datapoints: 5\n    StandardTransform\n"
        "Transform: PILToTensor()"
    )


def test_others() -> None:
    assert len(datasets.Digits(train=True)) > 1000
    with pytest.raises(ValueError, match="Only transforms or"):
        datasets.VisionDataset(".", transforms=lambda x, y: (x, y), transform=lambda x: x)

"""Files of data sets that are damaged or made to do harm: errors that name them."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flambeau.vision import datasets
from flambeau.vision.datasets.mnist import read_image_file, read_label_file


def _header(kind: int, *shape: int) -> bytes:
    return struct.pack(f">4B{len(shape)}I", 0, 0, kind, len(shape), *shape)


IDX: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not an IDX file"),
    "magic": (b"\x01\x00" + _header(8, 1)[2:] + b"1", "not an IDX file"),
    "type": (_header(10, 1) + b"1", "not an IDX file"),
    "header": (_header(8, 5, 28, 28)[:9], "ends in its header"),
    "much": (_header(8, 10**9, 28, 28) + bytes(784), "its header says 784000000000 bytes"),
    # The product of these is 0 in 64 bits.
    "wrap": (_header(8, 1 << 31, 1 << 31, 4), "its header says"),
    "none": (_header(8, 0, 1 << 31, 1 << 31, 1 << 31), "its header says the shape"),
    "dimensions": (_header(8, *[1] * 255) + b"1", "damaged"),
    "less": (_header(8, 2, 2, 2) + bytes(7), "damaged"),
    "more": (_header(8, 2, 2, 2) + bytes(9), "more than 8 bytes"),
}


@pytest.mark.parametrize("pack", ["", ".gz", ".xz"])
@pytest.mark.parametrize("name", IDX)
def test_idx(name: str, pack: str, tmp_path: Path) -> None:
    data, message = IDX[name]
    path = tmp_path / f"images{pack}"
    path.write_bytes({"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[pack](data))
    if pack and name == "much":
        message = "damaged"
    with pytest.raises(ValueError, match=f"images.*{message}"):
        read_image_file(str(path))


def test_idx_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(_header(8, 4) + b"1234")
    assert read_label_file(str(path)).tolist() == [49, 50, 51, 52]
    with pytest.raises(TypeError, match=r"file: bytes of three dimensions expected, got \(4,\)"):
        read_image_file(str(path))
    path.write_bytes(gzip.compress(_header(8, 4) + b"1234")[:-4])
    path.rename(tmp_path / "file.gz")
    with pytest.raises(ValueError, match=r"file\.gz: damaged"):
        read_label_file(str(tmp_path / "file.gz"))


def test_as_many_labels_as_images(tmp_path: Path) -> None:
    folder = tmp_path / "MNIST" / "raw"
    folder.mkdir(parents=True)
    for part in ("train", "t10k"):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(_header(8, 1, 2, 2) + b"1234")
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(_header(8, 2) + b"12")
    with pytest.raises(ValueError, match=r"train-images.*: 1 images, but 2 labels in .*labels"):
        datasets.MNIST(tmp_path)


class _Harm:
    def __reduce__(self) -> Any:
        return os.system, ("touch harmed",)


def _cifar(root: Path, content: bytes) -> type[datasets.CIFAR10]:
    folder = root / "cifar-10-batches-py"
    folder.mkdir()
    (folder / "batch").write_bytes(content)
    (folder / "meta").write_bytes(pickle.dumps({"names": ["cat"]}))
    members = {
        "train_list": [],
        "test_list": [["batch", None]],
        "meta": {"filename": "meta", "key": "names", "md5": None},
    }
    return type("Small", (datasets.CIFAR10,), members)


PIXELS = np.zeros((1, 3072), np.uint8)
PICKLES: dict[str, bytes] = {
    "system has no place": pickle.dumps({"data": _Harm(), "labels": [0]}),
    "eval has no place": b"cbuiltins\neval\n(S'1'\ntR.",
    "numpy.object has no place": b"cnumpy\nobject\n.",
    "truncated": pickle.dumps({"data": PIXELS})[:-100],
    "a list": pickle.dumps([1]),
    "no rows of 3072": pickle.dumps({"labels": [0]}),
    "rows of 3072 bytes": pickle.dumps({"data": np.zeros((1, 5), np.uint8), "labels": [0]}),
    "an array of 'O8'": pickle.dumps({"data": np.array([None]), "labels": [0]}),
    "a label for each": pickle.dumps({"data": PIXELS, "labels": [0, 1]}),
    "label": pickle.dumps({"data": PIXELS}),
    # An array of many bytes without them.
    "cannot reshape": pickle.dumps({"data": np.zeros((8, 3072), np.uint8)}, 2).replace(
        b"K\x08M\x00\x0c\x86", b"K\x09M\x00\x0c\x86"
    ),
}


@pytest.mark.parametrize("message", PICKLES)
def test_cifar(message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = _cifar(tmp_path, PICKLES[message])
    with pytest.raises(RuntimeError, match=f"batch: not a CIFAR file.*{message}"):
        small(tmp_path, train=False)
    assert not (tmp_path / "harmed").exists()


def test_svhn(tmp_path: Path) -> None:
    from scipy.io import savemat

    members = {"split_list": {"test": ["", "test_32x32.mat", None]}}
    small = type("Small", (datasets.SVHN,), members)
    path = tmp_path / "test_32x32.mat"
    with pytest.raises(RuntimeError, match=r"test_32x32\.mat is missing.*download=True"):
        small(tmp_path, "test")
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.ones((2, 1))})
    whole = path.read_bytes()
    for data in (b"", b"text", whole[:300], whole[:-50]):
        path.write_bytes(data)
        with pytest.raises(RuntimeError, match=r"test_32x32\.mat: damaged"):
            small(tmp_path, "test")
    savemat(path, {"X": np.zeros(1)})
    with pytest.raises(RuntimeError, match=r"test_32x32\.mat: has no variable y"):
        small(tmp_path, "test")
    savemat(path, {"X": np.zeros((32, 32, 3, 2), np.uint8), "y": np.ones((3, 1))})
    with pytest.raises(RuntimeError, match="3 labels are not those of SVHN"):
        small(tmp_path, "test")


def test_stl10(tmp_path: Path) -> None:
    members = {"train_list": [["train_X.bin", None], ["train_y.bin", None]], "test_list": []}
    small = type("Small", (datasets.STL10,), members)
    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    (folder / "train_X.bin").write_bytes(bytes(3 * 96 * 96 + 1))
    (folder / "train_y.bin").write_bytes(b"\x01")
    with pytest.raises(RuntimeError, match=r"train_X\.bin: damaged, 27649 bytes"):
        small(tmp_path)
    (folder / "train_X.bin").write_bytes(bytes(2 * 3 * 96 * 96))
    with pytest.raises(RuntimeError, match=r"train_X\.bin: 2 images, but 1 labels"):
        small(tmp_path)
    (folder / "train_y.bin").write_bytes(b"\x01\x02")
    (folder / "fold_indices.txt").write_text("0 x\n")
    for fold in (0, 5):
        with pytest.raises(RuntimeError, match=r"fold_indices\.txt: no numbers of fold"):
            small(tmp_path, folds=fold)

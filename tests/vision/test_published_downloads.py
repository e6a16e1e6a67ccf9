"""Published data sets from the network: fetched once, unpacked, and not half."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flambeau.vision import datasets
from flambeau.vision.datasets import caltech, food101, gtsrb, oxford_iiit_pet, utils
from flambeau.vision.datasets._published import Resource
from tests.vision.dataset_server import Server, serving
from tests.vision.published import LAYOUTS


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def _packed(folder: Path, kind: str) -> bytes:
    """A folder as an archive."""
    suffix = {"tar.gz": "gztar", "tar": "tar", "zip": "zip"}[kind]
    name = shutil.make_archive(f"{folder}-packed", suffix, folder)
    data = Path(name).read_bytes()
    os.remove(name)
    return data


def _publish(server: Server, name: str, data: bytes) -> Resource:
    server.files[name] = data
    return Resource(f"{server.url}/{name}", hashlib.md5(data).hexdigest())


@pytest.fixture
def food(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resource:
    LAYOUTS["food101"](tmp_path / "original")
    data = _packed(tmp_path / "original", "tar.gz")
    archive = _publish(server, "food-101.tar.gz", data)
    monkeypatch.setattr(food101, "_ARCHIVE", archive)
    return archive


def test_fetched_once(food: Resource, server: Server, tmp_path: Path) -> None:
    root = tmp_path / "root"
    with pytest.raises(RuntimeError, match=r"food-101/meta is missing.*download=True.*food-101"):
        datasets.Food101(root)
    assert len(datasets.Food101(root, download=True)) == 3
    assert len(datasets.Food101(root, "test", download=True)) == 3
    assert len(server.asked) == 1
    assert sorted(os.listdir(root)) == ["food-101", "food-101.tar.gz"]


def test_an_archive_that_is_there_is_unpacked(
    food: Resource, server: Server, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "food-101.tar.gz").write_bytes(server.files["food-101.tar.gz"])
    assert len(datasets.Food101(root, download=True)) == 3
    assert server.asked == []


def test_an_unpacking_that_was_interrupted(food: Resource, tmp_path: Path) -> None:
    """Some of the files were in place when the process was killed."""
    root = tmp_path / "root"
    (root / ".extracting-food-101.tar.gz").mkdir(parents=True)
    (root / "food-101" / "meta").mkdir(parents=True)
    (root / "food-101" / "images").mkdir()
    with pytest.raises(RuntimeError, match=r"\.extracting-food-101.* interrupted"):
        datasets.Food101(root)
    assert len(datasets.Food101(root, download=True)) == 3
    assert sorted(os.listdir(root)) == ["food-101", "food-101.tar.gz"]


def test_another_file_than_was_published(food: Resource, server: Server, tmp_path: Path) -> None:
    server.files["food-101.tar.gz"] = b"another"
    with pytest.raises(RuntimeError, match=rf"food-101\.tar\.gz.*instead of {food.md5}"):
        datasets.Food101(tmp_path / "root", download=True)
    assert os.listdir(tmp_path / "root") == []


def test_several_archives(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LAYOUTS["oxford_iiit_pet"](tmp_path / "original")
    LAYOUTS["gtsrb"](tmp_path / "original")
    pets = tmp_path / "original" / "oxford-iiit-pet"
    resources = []
    for name in ("images", "annotations"):
        (tmp_path / name).mkdir()
        shutil.move(pets / name, tmp_path / name / name)
        data = _packed(tmp_path / name, "tar.gz")
        resources.append(_publish(server, f"{name}.tar.gz", data))
    monkeypatch.setattr(oxford_iiit_pet, "_RESOURCES", resources)
    assert len(datasets.OxfordIIITPet(tmp_path / "root", download=True)) == 3
    signs = tmp_path / "original" / "gtsrb"
    labels = (signs / "GT-final_test.csv").read_bytes()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("GT-final_test.csv", labels)
    (signs / "GT-final_test.csv").unlink()
    tests = [
        _publish(server, "images.zip", _packed(signs, "zip")),
        _publish(server, "labels.zip", packed.getvalue()),
    ]
    monkeypatch.setattr(gtsrb, "_TEST", tests)
    assert len(datasets.GTSRB(tmp_path / "root", "test", download=True)) == 2


def test_archives_in_an_archive(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    LAYOUTS["caltech101"](tmp_path)
    original = tmp_path / "caltech101"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for folder, name in (
            ("101_ObjectCategories", "101_ObjectCategories.tar.gz"),
            ("Annotations", "Annotations.tar"),
        ):
            inner = io.BytesIO()
            with tarfile.open(fileobj=inner, mode="w:gz" if name.endswith("gz") else "w") as tar:
                tar.add(original / folder, folder)
            file.writestr(f"caltech-101/{name}", inner.getvalue())
    archive = _publish(server, "caltech-101.zip", packed.getvalue())
    monkeypatch.setattr(caltech.Caltech101, "_fb_ARCHIVE", archive)
    data = datasets.Caltech101(tmp_path / "root", ["category", "annotation"], download=True)
    assert [target[0] for _, target in data] == [0, 0, 1]


def test_emnist(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = b"\0\0\x08\x03\0\0\0\x01\0\0\0\x02\0\0\0\x02abcd"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for part in ("train", "test"):
            for kind, data in (
                ("images-idx3", images),
                ("labels-idx1", b"\0\0\x08\x01\0\0\0\x01\7"),
            ):
                name = f"gzip/emnist-digits-{part}-{kind}-ubyte.gz"
                file.writestr(name, gzip.compress(data))
    archive = _publish(server, "gzip.zip", packed.getvalue())
    monkeypatch.setattr(datasets.EMNIST, "url", archive.url)
    monkeypatch.setattr(datasets.EMNIST, "md5", archive.md5)
    data = datasets.EMNIST(tmp_path, "digits", train=False, download=True)
    assert [target for _, target in data] == [7]


def test_from_google_drive(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LAYOUTS["celeba"](tmp_path / "original")
    folder = tmp_path / "original" / "celeba"
    files: list[Any] = []
    for name in ("img_align_celeba.zip", *sorted(os.listdir(folder))):
        if name.endswith(".zip"):
            (tmp_path / "images").mkdir()
            shutil.copytree(folder / "img_align_celeba", tmp_path / "images" / "img_align_celeba")
            data = _packed(tmp_path / "images", "zip")
        elif name.endswith(".txt"):
            data = (folder / name).read_bytes()
        else:
            continue
        files.append((f"id-{name}", _publish(server, f"id-{name}", data).md5, name))
    monkeypatch.setattr(utils, "_DRIVE", f"{server.url}/{{}}")
    monkeypatch.setattr(datasets.CelebA, "file_list", files)
    assert len(datasets.CelebA(tmp_path / "root", "all", download=True)) == 5
    assert len(server.asked) == 6


def test_cannot_be_fetched(tmp_path: Path) -> None:
    for make in (datasets.StanfordCars, datasets.LFWPairs):
        with pytest.raises(ValueError, match=f"downloaded.*{tmp_path}"):
            make(tmp_path, download=True)

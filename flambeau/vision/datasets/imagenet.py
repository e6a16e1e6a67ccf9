"""ImageNet 2012 (https://image-net.org), from its archives or unpacked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import flambeau as fb
from flambeau.vision.datasets._matlab import read_matlab
from flambeau.vision.datasets._published import PathLike, read_lines
from flambeau.vision.datasets.folder import ImageFolder
from flambeau.vision.datasets.utils import check_integrity, extract_archive, verify_str_arg

__all__ = ["ImageNet"]

ARCHIVE_META = {
    "train": ("ILSVRC2012_img_train.tar", "1d675b47d978889d74fa0da5fadfb00e"),
    "val": ("ILSVRC2012_img_val.tar", "29b22e2961454d5413ddabcf34fc5622"),
    "devkit": ("ILSVRC2012_devkit_t12.tar.gz", "fa75699e90414af021442c21a62c3abf"),
}
META_FILE = "meta.bin"


class ImageNet(ImageFolder):
    """1.2 million photographs of 1000 classes, in ``root/train`` and ``root/val``.

    The archives of the challenge are unpacked where those folders are missing. ``classes`` are
    tuples of names; ``wnids`` are the names of the folders.
    """

    def __init__(self, root: PathLike, split: str = "train", **kwargs: Any) -> None:
        root = os.path.expanduser(os.fspath(root))
        self.split: str = verify_str_arg(split, "split", ("train", "val"))
        if not os.path.isfile(os.path.join(root, META_FILE)):
            parse_devkit_archive(root)
        if not os.path.isdir(os.path.join(root, split)):
            parse = parse_train_archive if split == "train" else parse_val_archive
            parse(root)
        names = load_meta_file(root)[0]
        super().__init__(os.path.join(root, split), **kwargs)
        self.root: str | os.PathLike[str] | None = root
        self.wnids: list[Any] = self.classes
        self.wnid_to_idx: dict[Any, int] = self.class_to_idx
        self.classes: list[Any] = [names[wnid] for wnid in self.wnids]
        self.class_to_idx: dict[Any, int] = {
            name: number for number, each in enumerate(self.classes) for name in each
        }

    @property
    def split_folder(self) -> str:
        """The folder of this split's images."""
        return os.path.join(os.fspath(self.root or ""), self.split)

    def extra_repr(self) -> str:
        return f"Split: {self.split}"


def load_meta_file(root: PathLike, file: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return the names of each class, and the class of each validation image."""
    path = os.path.join(root, file or META_FILE)
    if not check_integrity(path):
        raise RuntimeError(
            f"The meta file {path} is not present or corrupted: it is made from "
            f"{ARCHIVE_META['devkit'][0]}"
        )
    names, validation = fb.load(path, weights_only=True)
    return names, validation


def parse_devkit_archive(root: PathLike, file: str | None = None) -> None:
    """Write the file of classes from the development kit; SciPy reads it."""
    archive = _verified(root, file, "devkit")
    with tempfile.TemporaryDirectory() as scratch:
        extract_archive(archive, scratch)
        data = os.path.join(scratch, "ILSVRC2012_devkit_t12", "data")
        (synsets,) = read_matlab(os.path.join(data, "meta.mat"), "synsets", squeeze_me=True)
        order = read_lines(os.path.join(data, "ILSVRC2012_validation_ground_truth.txt"))
    # A synset with others below it is not a class.
    leaves = [each for each in synsets if int(each["num_children"]) == 0]
    wnids = {int(each["ILSVRC2012_ID"]): str(each["WNID"]) for each in leaves}
    names = {str(each["WNID"]): tuple(str(each["words"]).split(", ")) for each in leaves}
    fb.save((names, [wnids[int(number)] for number in order]), os.path.join(root, META_FILE))


def parse_train_archive(root: PathLike, file: str | None = None, folder: str = "train") -> None:
    """Unpack the archive of training images, which holds an archive for each class."""
    archive = _verified(root, file, "train")
    with _appearing(os.path.join(root, folder)) as scratch:
        extract_archive(archive, scratch)
        for name in os.listdir(scratch):
            packed = os.path.join(scratch, name)
            extract_archive(packed, os.path.splitext(packed)[0], remove_finished=True)


def parse_val_archive(
    root: PathLike, file: str | None = None, wnids: list[str] | None = None, folder: str = "val"
) -> None:
    """Unpack the archive of validation images into a folder for each class."""
    archive = _verified(root, file, "val")
    wnids = load_meta_file(root)[1] if wnids is None else wnids
    with _appearing(os.path.join(root, folder)) as scratch:
        extract_archive(archive, scratch)
        for wnid in set(wnids):
            os.mkdir(os.path.join(scratch, wnid))
        images = sorted(name for name in os.listdir(scratch) if name not in set(wnids))
        for name, wnid in zip(images, wnids, strict=True):
            os.rename(os.path.join(scratch, name), os.path.join(scratch, wnid, name))


def _verified(root: PathLike, file: str | None, kind: str) -> str:
    name, md5 = ARCHIVE_META[kind]
    path = os.path.join(root, file or name)
    if not check_integrity(path, md5 if file is None else None):
        raise RuntimeError(
            f"The archive {path} is not present in the root directory or is corrupted. You need "
            f"to download it externally and place it in {os.fspath(root)}."
        )
    return path


@contextmanager
def _appearing(folder: str) -> Iterator[str]:
    """Make a folder that gets its name once it is complete."""
    scratch = f"{folder}.part"
    shutil.rmtree(scratch, ignore_errors=True)  # left by an interrupted attempt
    try:
        yield scratch
        os.rename(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

"""MNIST and data sets in its format: digits, clothes, Japanese characters."""

from __future__ import annotations

import os
import string
import warnings
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import pillow
from flambeau.vision.datasets._idx import read_idx
from flambeau.vision.datasets.utils import (
    check_integrity,
    download_and_extract_archive,
    download_url,
    extract_archive,
    verify_str_arg,
)
from flambeau.vision.datasets.vision import Transform, VisionDataset
from flambeau.vision.transforms._pil.convert import to_pil

__all__ = [
    "EMNIST",
    "KMNIST",
    "MNIST",
    "QMNIST",
    "FashionMNIST",
    "read_image_file",
    "read_label_file",
    "read_sn3_pascalvincent_tensor",
]

_DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def read_sn3_pascalvincent_tensor(path: str, strict: bool = True) -> Tensor:
    """Read an IDX file as a tensor."""
    return read_idx(path)


def read_image_file(path: str) -> Tensor:
    """Read images of bytes, (count, height, width)."""
    images = read_idx(path)
    if images.dtype != fb.uint8 or images.ndim != 3:
        raise TypeError(f"{path}: bytes of three dimensions expected, got {tuple(images.shape)}")
    return images


def read_label_file(path: str) -> Tensor:
    """Read the label of every image."""
    labels = read_idx(path)
    if labels.dtype != fb.uint8 or labels.ndim != 1:
        raise TypeError(f"{path}: bytes of one dimension expected, got {tuple(labels.shape)}")
    return labels.long()


def _fitting(images: Tensor, labels: Tensor, *paths: str) -> tuple[Tensor, Tensor]:
    if len(images) != len(labels):
        raise ValueError(
            f"{paths[0]}: {len(images)} images, but {len(labels)} labels in {paths[1]}"
        )
    return images, labels


def _picture(pixels: Tensor) -> Any:
    """Return a grey image on the same memory, which Pillow copies before it writes to it."""
    if pixels.dtype is not fb.uint8 or pixels.ndim != 2 or not pixels.is_contiguous():
        return to_pil(pixels.unsqueeze(-1), "L")
    height, width = pixels.shape
    return pillow().frombuffer("L", (width, height), pixels.numpy(), "raw", "L", 0, 1)


class MNIST(VisionDataset):
    """70,000 handwritten digits, 28 × 28 grey pixels (http://yann.lecun.com/exdb/mnist/).

    Files are expected in `root/MNIST/raw`, as published (`.gz`) or unpacked. A sample is a pair of
    image and label.

    Args:
        root: Directory of the files.
        train: Whether to read the training part, or else the test part. Default: True.
        transform: Transform of an image. Default: None.
        target_transform: Transform of a label. Default: None.
        download: Whether to download files that are missing. Default: False.

    Attributes:
        data: Images, a tensor (N, 28, 28) of bytes.
        targets: Labels, a tensor (N,).

    Raises:
        RuntimeError: Files are missing and `download` is False.

    Example:
        >>> from flambeau.vision.datasets import MNIST
        >>> MNIST.classes[:3]
        ['0 - zero', '1 - one', '2 - two']

    See also:
        `datasets.Digits`, a small set of digits that needs no download.
    """

    data: Tensor
    targets: Tensor
    mirrors: list[str] = [
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    ]
    resources: Any = [
        ("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        ("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
        ("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
        ("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
    ]
    training_file = "training.pt"
    test_file = "test.pt"
    classes: list[str] = [f"{number} - {word}" for number, word in enumerate(_DIGITS)]

    def __init__(
        self,
        root: str | os.PathLike[str],
        train: bool = True,
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_exists():
            raise RuntimeError(
                f"Dataset not found in {self.raw_folder}: {', '.join(self._fb_file_names())} are "
                "needed there, unpacked or not. You can use download=True to download them"
            )
        self.data, self.targets = self._load_data()

    @property
    def raw_folder(self) -> str:
        """The folder of the published files."""
        return os.path.join(os.fspath(self.root or ""), type(self).__name__, "raw")

    @property
    def processed_folder(self) -> str:
        """The folder in which old programs kept tensors; nothing is written to it."""
        return os.path.join(os.fspath(self.root or ""), type(self).__name__, "processed")

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The index of every class."""
        return {name: number for number, name in enumerate(self.classes)}

    def _fb_file_names(self) -> list[str]:
        """The names of all files, unpacked."""
        return [os.path.splitext(os.path.basename(name))[0] for name, _ in self._fb_resources()]

    def _fb_resources(self) -> list[tuple[str, str]]:
        return self.resources  # type: ignore[no-any-return]

    def _fb_path(self, name: str) -> str:
        """Return the path of a file: unpacked, or as published."""
        plain = os.path.join(self.raw_folder, name)
        packed = [f"{plain}{suffix}" for suffix in (".gz", ".xz")]
        return next((path for path in [plain, *packed] if os.path.isfile(path)), plain)

    def _check_exists(self) -> bool:
        return all(os.path.isfile(self._fb_path(name)) for name in self._fb_file_names())

    def _load_data(self) -> tuple[Tensor, Tensor]:
        return self._fb_pair("train" if self.train else "t10k")

    def _fb_pair(self, prefix: str) -> tuple[Tensor, Tensor]:
        images = self._fb_path(f"{prefix}-images-idx3-ubyte")
        labels = self._fb_path(f"{prefix}-labels-idx1-ubyte")
        return _fitting(read_image_file(images), read_label_file(labels), images, labels)

    def download(self) -> None:
        """Download and unpack the files that are missing."""
        if self._check_exists():
            return
        os.makedirs(self.raw_folder, exist_ok=True)
        for name, md5 in self._fb_resources():
            self._fb_fetch_from_mirrors(name, md5)
            extract_archive(os.path.join(self.raw_folder, os.path.basename(name)), self.raw_folder)

    def _fb_fetch_from_mirrors(self, name: str, md5: str) -> None:
        errors = []
        for mirror in self.mirrors:
            error = self._fb_attempt(f"{mirror}{name}", name, md5)
            if error is None:
                return
            errors.append(f"{error}")
        raise RuntimeError("\n".join(errors))

    def _fb_attempt(self, url: str, name: str, md5: str) -> RuntimeError | None:
        try:
            download_url(url, self.raw_folder, name, md5)
        except RuntimeError as error:
            return error
        return None

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        target = self._fb_target(self.targets[index])
        return self._fb_transformed(_picture(self.data[index]), target)

    def _fb_target(self, label: Tensor) -> Any:
        return int(label.item())

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"

    def _fb_old_name(self, old: str, new: str) -> Tensor:
        warnings.warn(f"{old} has been renamed {new}", stacklevel=3)
        return getattr(self, new)  # type: ignore[no-any-return]

    @property
    def train_labels(self) -> Tensor:
        """The old name of ``targets``."""
        return self._fb_old_name("train_labels", "targets")

    @property
    def test_labels(self) -> Tensor:
        """The old name of ``targets``."""
        return self._fb_old_name("test_labels", "targets")

    @property
    def train_data(self) -> Tensor:
        """The old name of ``data``."""
        return self._fb_old_name("train_data", "data")

    @property
    def test_data(self) -> Tensor:
        """The old name of ``data``."""
        return self._fb_old_name("test_data", "data")


class FashionMNIST(MNIST):
    """70,000 images of clothes, 28 × 28 grey pixels.

    See https://github.com/zalandoresearch/fashion-mnist.

    The files and attributes are those of `MNIST`, in `root/FashionMNIST/raw`.

    Args:
        root: Folder of the data.
        train: Whether to take the 60,000 images for training; otherwise the 10,000 for tests.
            Default: True.
        transform: Function of an image, such as `transforms.ToTensor()`.
        target_transform: Function of a label.
        download: Whether to download the files if they are missing. Default: False.

    Example:
        >>> from flambeau.vision.datasets import FashionMNIST
        >>> FashionMNIST.classes[:2]
        ['T-shirt/top', 'Trouser']

    See also:
        `datasets.MNIST`.
    """

    mirrors: list[str] = ["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"]
    resources: Any = [
        ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
        ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
        ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
    ]
    classes: list[str] = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]


class KMNIST(MNIST):
    """70 000 cursive Japanese characters (http://codh.rois.ac.jp/kmnist/)."""

    mirrors: list[str] = ["http://codh.rois.ac.jp/kmnist/dataset/kmnist/"]
    resources: Any = [
        ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7"),
        ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344"),
        ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7"),
        ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134"),
    ]
    classes: list[str] = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    """Handwritten letters and digits in six splits (https://www.nist.gov/itl/iad/image-group)."""

    url = "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip"
    md5 = "58c8d27c78d21e728a6bc7b3cc06412e"
    splits: tuple[str, ...] = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    # In two splits, lower-case letters that look like upper-case ones are in the same class.
    _merged_classes = set("cijklmopsuvwxyz")
    _all_classes = set(string.digits + string.ascii_letters)
    classes_split_dict: dict[str, list[str]] = {
        "byclass": sorted(_all_classes),
        "bymerge": sorted(_all_classes - _merged_classes),
        "balanced": sorted(_all_classes - _merged_classes),
        "letters": ["N/A", *string.ascii_lowercase],
        "digits": list(string.digits),
        "mnist": list(string.digits),
    }

    def __init__(self, root: str | os.PathLike[str], split: str, **kwargs: Any) -> None:
        self.split: str = verify_str_arg(split, "split", self.splits)
        super().__init__(root, **kwargs)
        self.classes: list[str] = self.classes_split_dict[self.split]

    def _fb_file_names(self) -> list[str]:
        kinds = ("images-idx3-ubyte", "labels-idx1-ubyte")
        return [
            f"emnist-{self.split}-{part}-{kind}" for part in ("train", "test") for kind in kinds
        ]

    def _load_data(self) -> tuple[Tensor, Tensor]:
        return self._fb_pair(f"emnist-{self.split}-{'train' if self.train else 'test'}")

    def download(self) -> None:
        """Download the archive of all splits and unpack it, unless it is there."""
        if self._check_exists():
            return
        os.makedirs(self.raw_folder, exist_ok=True)
        download_and_extract_archive(self.url, self.raw_folder, md5=self.md5)
        folder = os.path.join(self.raw_folder, "gzip")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".gz"):
                extract_archive(os.path.join(folder, name), self.raw_folder)


class QMNIST(MNIST):
    """MNIST rebuilt from NIST, with 50 000 more test digits (https://arxiv.org/abs/1905.10498).

    ``what`` is train, test, test10k, test50k or nist. With ``compat=False`` a target is a row of
    eight numbers about the writer and the digit.
    """

    subsets: dict[str, str] = {
        "train": "train",
        "test": "test",
        "test10k": "test",
        "test50k": "test",
        "nist": "nist",
    }
    _fb_HOME = "https://raw.githubusercontent.com/facebookresearch/qmnist/master/"
    resources: Any = {
        "train": [
            (f"{_fb_HOME}qmnist-train-images-idx3-ubyte.gz", "ed72d4157d28c017586c42bc6afe6370"),
            (f"{_fb_HOME}qmnist-train-labels-idx2-int.gz", "0058f8dd561b90ffdd0f734c6a30e5e4"),
        ],
        "test": [
            (f"{_fb_HOME}qmnist-test-images-idx3-ubyte.gz", "1394631089c404de565df7b7aeaf9412"),
            (f"{_fb_HOME}qmnist-test-labels-idx2-int.gz", "5b5b05890a5e13444e108efe57b788aa"),
        ],
        "nist": [
            (f"{_fb_HOME}xnist-images-idx3-ubyte.xz", "7f124b3b8ab81486c9d8c2749c17f834"),
            (f"{_fb_HOME}xnist-labels-idx2-int.xz", "5ed0e788978e45d4a8bd4b7caec3d79d"),
        ],
    }
    _fb_PARTS = {"test10k": slice(0, 10000), "test50k": slice(10000, None)}

    def __init__(
        self,
        root: str | os.PathLike[str],
        what: str | None = None,
        compat: bool = True,
        train: bool = True,
        **kwargs: Any,
    ) -> None:
        self.what: str = verify_str_arg(
            what or ("train" if train else "test"), "what", self.subsets
        )
        self.compat = compat
        super().__init__(root, train, **kwargs)

    def _fb_resources(self) -> list[tuple[str, str]]:
        return self.resources[self.subsets[self.what]]  # type: ignore[no-any-return]

    def _load_data(self) -> tuple[Tensor, Tensor]:
        paths = [self._fb_path(name) for name in self._fb_file_names()]
        images, labels = _fitting(read_image_file(paths[0]), read_idx(paths[1]), *paths)
        if labels.ndim != 2 or labels.shape[1] != 8:
            raise TypeError(f"{paths[1]}: rows of eight expected, got {tuple(labels.shape)}")
        part = self._fb_PARTS.get(self.what, slice(None))
        return images[part], labels[part].long()

    def download(self) -> None:
        """Download and unpack the files that are missing."""
        if self._check_exists():
            return
        os.makedirs(self.raw_folder, exist_ok=True)
        for url, md5 in self._fb_resources():
            path = os.path.join(self.raw_folder, os.path.basename(url))
            if not check_integrity(path, md5):
                download_url(url, self.raw_folder, md5=md5)
            extract_archive(path, self.raw_folder)

    def _fb_target(self, label: Tensor) -> Any:
        return int(label[0].item()) if self.compat else label

    def extra_repr(self) -> str:
        return f"Split: {self.what}"

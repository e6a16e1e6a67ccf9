"""Samples in folders, one folder per class."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from flambeau.vision._pillow import pillow
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = [
    "IMG_EXTENSIONS",
    "DatasetFolder",
    "ImageFolder",
    "default_loader",
    "find_classes",
    "has_file_allowed_extension",
    "is_image_file",
    "make_dataset",
    "pil_loader",
]

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
_Path = str | os.PathLike[str]
_Extensions = str | tuple[str, ...] | None
_IsValid = Callable[[str], bool] | None


def has_file_allowed_extension(filename: str, extensions: str | tuple[str, ...]) -> bool:
    """Return whether a name ends in one of the extensions, ignoring case."""
    return filename.lower().endswith(extensions)


def is_image_file(filename: str) -> bool:
    """Return whether a name is that of an image file."""
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory: _Path) -> tuple[list[str], dict[str, int]]:
    """Return the sorted subfolders of a folder, and the index of each."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(
            f"Couldn't find any class folder in {os.fspath(directory)}: a folder of samples for "
            "each class is expected there"
        )
    return classes, {name: number for number, name in enumerate(classes)}


def make_dataset(
    directory: _Path,
    class_to_idx: dict[str, int] | None = None,
    extensions: _Extensions = None,
    is_valid_file: _IsValid = None,
    allow_empty: bool = False,
) -> list[tuple[str, int]]:
    """Return the path and the class of every sample, sorted by folder and file."""
    root = os.path.expanduser(directory)
    if class_to_idx is None:
        class_to_idx = find_classes(root)[1]
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError(
            "Both extensions and is_valid_file cannot be None or not None at the same time"
        )
    samples = []
    for name in sorted(class_to_idx):
        for folder, names in sorted(_files_below(os.path.join(root, name))):
            if is_valid_file is None:
                suffixes: Any = extensions
                chosen = [each for each in names if each.lower().endswith(suffixes)]
                samples += [(f"{folder}{os.sep}{each}", class_to_idx[name]) for each in chosen]
            else:
                each_path = (f"{folder}{os.sep}{each}" for each in names)
                samples += [(path, class_to_idx[name]) for path in each_path if is_valid_file(path)]
    if not allow_empty:
        _refuse_empty_classes(root, samples, class_to_idx, extensions)
    return samples


def _files_below(folder: str) -> Iterator[tuple[str, list[str]]]:
    """Walk a folder and its subfolders, file names sorted; links are followed.

    A link to a folder that contains it is skipped: it would be an endless loop.
    """
    pending: list[tuple[str, tuple[str, ...]]] = [(folder, (os.path.realpath(folder),))]
    while pending:
        path, way = pending.pop()
        names = []
        for entry in _entries(path):
            if not entry.is_dir():
                names.append(entry.name)
                continue
            inside = os.path.join(way[-1], entry.name)
            real = os.path.realpath(inside) if entry.is_symlink() else inside
            if real not in way:
                pending.append((entry.path, (*way, real)))
        yield path, sorted(names)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []  # a class in name only, without samples


def _refuse_empty_classes(
    root: str,
    samples: list[tuple[str, int]],
    class_to_idx: dict[str, int],
    extensions: _Extensions,
) -> None:
    found = {number for _, number in samples}
    empty = sorted(name for name, number in class_to_idx.items() if number not in found)
    if not empty:
        return
    message = f"Found no valid file for the classes {', '.join(empty)} in {root}."
    if extensions is not None:
        known = extensions if isinstance(extensions, str) else ", ".join(extensions)
        message += f" Supported extensions are: {known}"
    raise FileNotFoundError(message)


class DatasetFolder(VisionDataset):
    """Samples in one folder for each class: `root/class/.../file`.

    Args:
        root: Directory of the folders.
        loader: Function that reads a sample from a path.
        extensions: Endings of the files to take; or `is_valid_file` is given. Default: None.
        transform: Transform of a sample. Default: None.
        target_transform: Transform of a class index. Default: None.
        is_valid_file: Function that says of a path whether to take it. Default: None.
        allow_empty: Whether a folder may be empty. Default: False.

    Example:
        >>> import os
        >>> from flambeau.vision.datasets import DatasetFolder
        >>> os.makedirs("data/a")
        >>> torch.save(torch.ones(2), "data/a/0.pt")
        >>> DatasetFolder("data", torch.load, extensions=(".pt",))[0]
        (tensor([1., 1.]), 0)

    See also:
        `vision.datasets.ImageFolder`.
    """

    def __init__(
        self,
        root: _Path,
        loader: Callable[[str], Any],
        extensions: tuple[str, ...] | None = None,
        transform: Transform = None,
        target_transform: Transform = None,
        is_valid_file: _IsValid = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        folder = os.fspath(self.root or root)
        classes, class_to_idx = self.find_classes(folder)
        self.loader = loader
        self.extensions = extensions
        self.classes = classes
        self.class_to_idx = class_to_idx
        self.samples: list[tuple[str, int]] = self.make_dataset(
            folder, class_to_idx, extensions, is_valid_file, allow_empty
        )
        self.targets: list[int] = [number for _, number in self.samples]

    @staticmethod
    def make_dataset(
        directory: _Path,
        class_to_idx: dict[str, int],
        extensions: tuple[str, ...] | None = None,
        is_valid_file: _IsValid = None,
        allow_empty: bool = False,
    ) -> list[tuple[str, int]]:
        """Return the path and the class of every sample."""
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory: _Path) -> tuple[list[str], dict[str, int]]:
        """Return the classes and their indices; override it for another layout."""
        return find_classes(directory)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, target = self.samples[index]
        return self._fb_transformed(self.loader(path), target)

    def __len__(self) -> int:
        return len(self.samples)


def pil_loader(path: _Path) -> Any:
    """Read an image file as an RGB image of Pillow; errors name the file."""
    return open_image(path).convert("RGB")


def open_image(path: _Path) -> Any:
    """Read an image file in the mode it has; errors name the file."""
    image_module = pillow()
    try:
        with open(path, "rb") as file:
            image = image_module.open(file)
            image.load()
            return image
    except (FileNotFoundError, IsADirectoryError, MemoryError, PermissionError, Warning):
        raise
    except image_module.DecompressionBombError as error:
        raise image_module.DecompressionBombError(f"{os.fspath(path)}: {error}") from error
    except Exception as error:  # a damaged file can raise any exception
        raise image_module.UnidentifiedImageError(
            f"{os.fspath(path)}: not a whole image that can be decoded ({error})"
        ) from error


default_loader = pil_loader


class ImageFolder(DatasetFolder):
    """Images in one folder for each class: `root/class/.../image.png`.

    A sample is a pair of image and class index; classes are the folders in alphabetical order.

    Args:
        root: Directory of the folders.
        transform: Transform of an image. Default: None.
        target_transform: Transform of a class index. Default: None.
        loader: Function that reads an image from a path. Default: by Pillow.
        is_valid_file: Function that says of a path whether it is an image. Default: by its ending.
        allow_empty: Whether a folder may be empty. Default: False.

    Attributes:
        classes: Names of the classes.
        class_to_idx: Index of each class.
        samples: Pairs of path and class index.

    Raises:
        FileNotFoundError: There are no folders, or one is empty.

    Example:
        >>> import os
        >>> from flambeau.vision.datasets import ImageFolder
        >>> from flambeau.vision.utils import save_image
        >>> for name in ("cat", "dog"):
        ...     os.makedirs(f"pets/{name}")
        ...     save_image(torch.rand(3, 8, 8), f"pets/{name}/0.png")
        >>> data = ImageFolder("pets")
        >>> data.classes, len(data), data[1][1]
        (['cat', 'dog'], 2, 1)

    See also:
        `vision.datasets.DatasetFolder`, `utils.data.DataLoader`.
    """

    def __init__(
        self,
        root: _Path,
        transform: Transform = None,
        target_transform: Transform = None,
        loader: Callable[[str], Any] = default_loader,
        is_valid_file: _IsValid = None,
        allow_empty: bool = False,
    ) -> None:
        super().__init__(
            root,
            loader,
            IMG_EXTENSIONS if is_valid_file is None else None,
            transform,
            target_transform,
            is_valid_file,
            allow_empty,
        )
        self.imgs: list[tuple[str, int]] = self.samples

"""The base of all image data sets: a folder and transforms."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from flambeau.utils.data import Dataset
from flambeau.vision.datasets.utils import check_integrity

__all__ = ["StandardTransform", "VisionDataset"]

Transform = Callable[[Any], Any] | None


class VisionDataset(Dataset[Any]):
    """Data set in a folder, whose samples are transformed when they are read.

    ``transforms`` takes an image and its target; ``transform`` and ``target_transform`` take one
    of them each.
    """

    _repr_indent = 4

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        transforms: Callable[..., Any] | None = None,
        transform: Transform = None,
        target_transform: Transform = None,
    ) -> None:
        self.root: str | os.PathLike[str] | None = (
            os.path.expanduser(root) if isinstance(root, str) else root
        )
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError(
                "Only transforms or transform/target_transform can be passed as argument"
            )
        self.transform = transform
        self.target_transform = target_transform
        self.transforms: Callable[..., Any] | None = (
            StandardTransform(transform, target_transform) if separate else transforms
        )

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        lines = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"Root location: {self.root}")
        lines += self.extra_repr().splitlines()
        if self.transforms is not None:
            lines.append(repr(self.transforms))
        space = " " * self._repr_indent
        return "\n".join([f"Dataset {type(self).__name__}", *(space + line for line in lines)])

    def extra_repr(self) -> str:
        """Return the lines that a subclass adds to its text."""
        return ""

    def _fb_transformed(self, image: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def _fb_transformed_together(self, image: Any, target: Any) -> Any:
        """The same for data sets that take ``transforms``, which see image and target together."""
        return (image, target) if self.transforms is None else self.transforms(image, target)


class StandardTransform:
    """A transform of images and one of targets, combined into one."""

    def __init__(self, transform: Transform = None, target_transform: Transform = None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for name, each in (
            ("Transform", self.transform),
            ("Target transform", self.target_transform),
        ):
            if each is not None:
                first, *rest = repr(each).splitlines()
                space = " " * (len(name) + 2)
                lines += [f"{name}: {first}", *(space + line for line in rest)]
        return "\n".join(lines)


def are_whole(files: Iterable[tuple[str, str | None]]) -> bool:
    """Return whether all files are there with their sums, several of which are computed at once."""
    from concurrent.futures import ThreadPoolExecutor

    listed = list(files)
    if not all(os.path.isfile(path) for path, _ in listed):
        return False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return all(pool.map(lambda each: check_integrity(*each), listed))


def missing_error(files: Iterable[tuple[str, str | None]], what: str, source: str) -> RuntimeError:
    """Return the error for files that are missing or not the published ones."""
    problems = []
    for path, md5 in files:
        if not os.path.isfile(path):
            problems.append(f"{path} is missing")
        elif not check_integrity(path, md5):
            problems.append(f"{path} is damaged: its MD5 sum should be {md5}")
    return RuntimeError(
        f"{what} not found or corrupted: {'; '.join(problems)}. You can use download=True to "
        f"download it, or put there what {source} holds"
    )

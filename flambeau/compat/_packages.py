"""Which packages Flambeau stands in for, and the versions that it goes by there."""

from __future__ import annotations

from typing import NamedTuple

from flambeau.version import torch as _torch_version

__all__ = ["PACKAGES", "Package", "name_here"]


class Package(NamedTuple):
    """A package of PyTorch's world that one of Flambeau's takes the place of."""

    here: str
    version: str


# The part behind the plus sign is a "local version": comparisons of releases pass over it.
PACKAGES = {
    "torch": Package("flambeau", f"{_torch_version}+flambeau"),
    "torchvision": Package("flambeau.vision", "0.28.0+flambeau"),
    "functorch": Package("flambeau.func", f"{_torch_version}+flambeau"),
}


def name_here(name: str) -> str | None:
    """Flambeau's name of a module of PyTorch's, or None for other modules."""
    top, dot, rest = name.partition(".")
    package = PACKAGES.get(top)
    return f"{package.here}{dot}{rest}" if package else None

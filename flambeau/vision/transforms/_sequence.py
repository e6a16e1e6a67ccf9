"""Composition of transforms."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import nn
from flambeau.vision.transforms._values import in_turn

__all__ = ["Compose", "Lambda", "RandomApply", "RandomChoice", "RandomOrder", "RandomTransforms"]


def _listed(owner: Any, transforms: Any, *first: str) -> str:
    lines = [*first, *(f"{each}" for each in transforms)]
    return "\n".join([f"{type(owner).__name__}(", *(f"    {line}" for line in lines), ")"])


class Compose:
    """Chain of transforms.

    Args:
        transforms: Transforms in their order.

    Example:
        >>> from flambeau.vision import transforms
        >>> prepare = transforms.Compose([transforms.CenterCrop(4), transforms.Normalize(0.5, 0.5)])
        >>> prepare(torch.rand(3, 8, 8)).shape
        torch.Size([3, 4, 4])
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        return in_turn(self.transforms, img)

    def __repr__(self) -> str:
        return _listed(self, self.transforms)


class Lambda:
    """Any function as a transform.

    Args:
        lambd: The function.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.Lambda(lambda x: x * 2)(torch.ones(2))
        tensor([2., 2.])
    """

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class RandomTransforms:
    """Common parts of `RandomOrder` and `RandomChoice`."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        if not isinstance(transforms, Sequence):
            raise TypeError(f"Argument transforms should be a sequence, got {type(transforms)}")
        self.transforms = transforms

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return _listed(self, self.transforms)


class RandomOrder(RandomTransforms):
    """Apply all transforms in random order.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomOrder([transforms.CenterCrop(8)])(torch.rand(3, 16, 16)).shape
        torch.Size([3, 8, 8])
    """

    def __call__(self, img: Any) -> Any:
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for position in order:
            img = self.transforms[position](img)
        return img


class RandomChoice(RandomTransforms):
    """Apply one of several transforms, chosen at random.

    Args:
        transforms: The transforms.
        p: Their weights. Default: all equal.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.RandomChoice([transforms.CenterCrop(8)])(torch.rand(3, 16, 16)).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self, transforms: Sequence[Callable[[Any], Any]], p: Sequence[float] | None = None
    ) -> None:
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError(f"Argument p should be a sequence, got {type(p)}")
        self.p = p

    def __call__(self, *args: Any) -> Any:
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self) -> str:
        return f"{super().__repr__()}(p={self.p})"


class RandomApply(nn.Module):
    """Apply transforms with a probability, or none of them.

    Args:
        transforms: The transforms.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision import transforms
        >>> flip = transforms.RandomApply([transforms.CenterCrop(2)], p=1.0)
        >>> flip(torch.rand(3, 8, 8)).shape
        torch.Size([3, 2, 2])
    """

    def __init__(
        self, transforms: Sequence[Callable[[Any], Any]] | nn.ModuleList, p: float = 0.5
    ) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img: Any) -> Any:
        if self.p < fb.rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return _listed(self, self.transforms, f"p={self.p}")

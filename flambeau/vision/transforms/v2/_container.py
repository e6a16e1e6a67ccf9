"""Composition of transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import nn
from flambeau.vision.transforms._values import in_turn
from flambeau.vision.transforms.v2._transform import Transform

__all__ = ["Compose", "RandomApply", "RandomChoice", "RandomOrder"]

_Transforms = Sequence[Callable[..., Any]]


def _in_turn(transforms: Any, inputs: tuple[Any, ...]) -> Any:
    if len(inputs) == 1:
        return in_turn(transforms, inputs[0])
    for transform in transforms:
        inputs = transform(*inputs)
    return inputs


def _check_transforms(transforms: Any) -> None:
    if not isinstance(transforms, (Sequence, nn.ModuleList)):
        raise TypeError(
            f"Argument transforms should be a sequence of callables, got {type(transforms)}"
        )


class Compose(Transform):
    """Chain of transforms.

    Args:
        transforms: Transforms in their order.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Compose([v2.Resize(4), v2.CenterCrop(2)])(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 2, 2])
    """

    def __init__(self, transforms: _Transforms) -> None:
        super().__init__()
        _check_transforms(transforms)
        if not transforms:
            raise ValueError("Pass at least one transform")
        self.transforms = transforms

    def forward(self, *inputs: Any) -> Any:
        return _in_turn(self.transforms, inputs)

    def extra_repr(self) -> str:
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomApply(Transform):
    """Apply all transforms with a probability, or none of them.

    Args:
        transforms: The transforms.
        p: The probability. Default: 0.5.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomApply([v2.Resize(4)], p=1.0)(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 4, 4])
    """

    def __init__(self, transforms: _Transforms | nn.ModuleList, p: float = 0.5) -> None:
        super().__init__()
        _check_transforms(transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError(
                f"`p` should be a floating point value in the interval [0.0, 1.0], got {p}."
            )
        self.transforms = transforms
        self.p = p

    def forward(self, *inputs: Any) -> Any:
        if fb.rand(1).item() >= self.p:
            return inputs if len(inputs) > 1 else inputs[0]
        return _in_turn(self.transforms, inputs)

    def extra_repr(self) -> str:
        return "\n".join(f"    {transform}" for transform in self.transforms)


class RandomChoice(Transform):
    """Apply one of several transforms, chosen at random.

    Args:
        transforms: The transforms.
        p: Their weights. Default: all equal.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomChoice([v2.Resize(4), v2.CenterCrop(4)])(torch.zeros(3, 8, 8)).shape
        torch.Size([3, 4, 4])
    """

    def __init__(self, transforms: _Transforms, p: Sequence[float] | None = None) -> None:
        super().__init__()
        _check_transforms(transforms)
        weights = [1.0] * len(transforms) if p is None else list(p)
        if len(weights) != len(transforms):
            raise ValueError(
                f"Length of p doesn't match the number of transforms: {len(weights)} != "
                f"{len(transforms)}"
            )
        self.transforms = transforms
        self.p: list[float] = [weight / sum(weights) for weight in weights]

    def forward(self, *inputs: Any) -> Any:
        which = int(fb.multinomial(fb.tensor(self.p), 1).item())
        return self.transforms[which](*inputs)


class RandomOrder(Transform):
    """Apply all transforms, in an order drawn for every sample.

    Args:
        transforms: The transforms.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.RandomOrder([v2.Resize(4), v2.RGB()])(torch.zeros(1, 8, 8)).shape
        torch.Size([3, 4, 4])
    """

    def __init__(self, transforms: _Transforms) -> None:
        super().__init__()
        _check_transforms(transforms)
        self.transforms = transforms

    def forward(self, *inputs: Any) -> Any:
        order = fb.randperm(len(self.transforms)).tolist()
        return _in_turn([self.transforms[which] for which in order], inputs)

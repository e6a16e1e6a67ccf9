"""The half-normal distribution."""

from __future__ import annotations

import math

from flambeau import Tensor
from flambeau.distributions._folded import Folded
from flambeau.distributions.normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """The sizes of normal numbers of mean zero and standard deviation ``scale``."""

    base_dist: Normal

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)

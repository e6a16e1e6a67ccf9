"""The common part of pipes that shuffle: a switch and a seed."""

from __future__ import annotations

import random
from typing import TypeVar

import flambeau as fb

__all__: list[str] = []

_Pipe = TypeVar("_Pipe", bound="Shuffling")


class Shuffling:
    """Can be switched off. Each iteration has a seed: a given one, or a newly drawn one."""

    _enabled = True
    _seed: int | None = None

    def set_shuffle(self: _Pipe, shuffle: bool = True) -> _Pipe:
        """Switch shuffling on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self: _Pipe, seed: int) -> _Pipe:
        """Give the seed of the next iteration."""
        self._seed = seed
        return self

    def _fb_chance(self) -> random.Random:
        """What decides in one iteration."""
        seed, self._seed = self._seed, None
        if seed is None:
            seed = int(fb.empty((), dtype=fb.int64, device="cpu").random_().item())
        return random.Random(seed)

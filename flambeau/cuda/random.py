"""The generators of random numbers on GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import SupportsInt

from flambeau import Generator, Tensor
from flambeau._limits.refusing import Function, refused

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]

default_generators: tuple[Generator, ...] = ()


def manual_seed(seed: SupportsInt) -> None:
    """Seed the random generator of the current GPU; without a GPU, do nothing.

    Args:
        seed: Any 64-bit integer.

    Example:
        >>> torch.cuda.manual_seed(0)

    See also:
        `torch.manual_seed`, which seeds all devices.
    """
    int(seed)  # what is not a number is refused here too


def manual_seed_all(seed: SupportsInt) -> None:
    """Seed the random generators of all GPUs; without a GPU, do nothing.

    Args:
        seed: Any 64-bit integer.

    Example:
        >>> torch.cuda.manual_seed_all(0)

    See also:
        `torch.manual_seed`, which seeds all devices.
    """
    int(seed)


def seed() -> None:
    """Seed the generator of the current GPU with a number that cannot be foreseen."""


def seed_all() -> None:
    """The same for all GPUs."""


def get_rng_state_all() -> list[Tensor]:
    """The states of the generators of all GPUs."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: Tensor, device: object = "cuda") -> None:
    """Go on from a state that ``get_rng_state`` returned. Without a GPU there is nothing to set."""


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """The same for the states of all GPUs."""


get_rng_state: Function = refused("cuda.get_rng_state")
initial_seed: Function = refused("cuda.initial_seed")

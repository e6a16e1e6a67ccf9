"""The seed and state of the default generator, as `torch.random`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import SupportsInt

import flambeau as fb
from flambeau._C import Generator, Tensor, default_generator

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


def manual_seed(seed: SupportsInt) -> Generator:
    """Start the default generator's stream of `seed`, any 64-bit number, and return it."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Start a stream that cannot be foreseen and return its seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator's stream was started with."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from a state that `get_rng_state` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[object] | None = None,
    enabled: bool = True,
    device_type: str | None = None,
) -> Iterator[None]:
    """Draw inside the block without moving the stream outside of it.

    `devices` and `device_type` name further generators to keep; there is none but the CPU's yet.
    """
    kind = "cuda" if device_type is None else fb.device(device_type).type
    if not enabled or kind == "meta":
        yield
        return
    if not hasattr(fb, kind):
        raise RuntimeError(f"fork_rng: there is no module for devices of type {kind!r}")
    for each in devices or ():
        getattr(fb, kind).get_rng_state(each)  # says that there is none
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def _rebuild_generator(state: Tensor) -> Generator:
    """What a pickled generator is made from."""
    return Generator().set_state(state)

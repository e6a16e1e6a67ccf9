"""Seeds and states of the default generators, as `torch.random`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, SupportsInt

import flambeau as fb
from flambeau._C import Generator, Tensor, _seed_gpu_generators, default_generator

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
    """Seed the default random generators of all devices. The same seed gives the same numbers.

    On the CPU they are PyTorch's, on GPUs most are.

    Args:
        seed: Any 64-bit integer.

    Returns:
        The default generator of the CPU.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> first = torch.rand(3)
        >>> _ = torch.manual_seed(0)
        >>> torch.equal(torch.rand(3), first)
        True

    See also:
        `torch.Generator`, `torch.use_deterministic_algorithms`.
    """
    number = int(seed)
    generator = default_generator.manual_seed(number)
    _seed_gpu_generators(number)
    return generator


def seed() -> int:
    """Seed the default random generators of all devices with a number that cannot be foreseen.

    Returns:
        The number.

    Example:
        >>> torch.seed() == torch.initial_seed()
        True
    """
    number = default_generator.seed()
    _seed_gpu_generators(number)
    return number


def initial_seed() -> int:
    """Return the seed of the default random generator.

    Example:
        >>> _ = torch.manual_seed(7)
        >>> torch.initial_seed()
        7
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default random generator, a tensor of bytes.

    Example:
        >>> state = torch.get_rng_state()
        >>> first = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(torch.rand(2), first)
        True
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default random generator.

    Args:
        new_state: State, as `get_rng_state` returns it.

    Example:
        >>> torch.set_rng_state(torch.get_rng_state())
    """
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[object] | None = None,
    enabled: bool = True,
    device_type: str | None = None,
) -> Iterator[None]:
    """Draw random numbers within a block without moving the generators outside of it.

    Args:
        devices: GPUs whose generators are kept too. Default: None, all of them.
        enabled: Whether to do so. Default: True.
        device_type: Kind of these devices. Default: None.

    Example:
        >>> state = torch.get_rng_state()
        >>> with torch.random.fork_rng():
        ...     _ = torch.rand(3)
        >>> torch.equal(torch.get_rng_state(), state)
        True
    """
    kind = "cuda" if device_type is None else fb.device(device_type).type
    if not enabled or kind == "meta":
        yield
        return
    if not hasattr(fb, kind):
        raise RuntimeError(f"fork_rng: there is no module for devices of type {kind!r}")
    module = getattr(fb, kind)
    places: list[Any]
    if devices is None:
        places = list(range(fb.cuda.device_count())) if kind == "cuda" else []
    else:
        places = list(devices)
    states = [module.get_rng_state(each) for each in places]  # refuses where there is no GPU
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
        for each, kept in zip(places, states, strict=True):
            module.set_rng_state(kept, each)


def _rebuild_generator(state: Tensor, device: fb.device | str = "cpu") -> Generator:
    """What a pickled generator is made from."""
    return Generator(device).set_state(state)

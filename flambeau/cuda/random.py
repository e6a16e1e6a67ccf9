"""The generators of random numbers on GPUs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsInt

from flambeau import _C, Generator, Tensor
from flambeau.cuda._device import chosen_index, device_count, needs_gpu

__all__ = [
    "default_generators",
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

if TYPE_CHECKING:
    default_generators: tuple[Generator, ...]


def __getattr__(name: str) -> Any:
    # Made when somebody asks, because that looks for GPUs.
    if name == "default_generators":
        return tuple(_C._gpu_generator(index) for index in range(device_count()))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _generator(device: object = "cuda") -> Generator:
    needs_gpu()
    return _C._gpu_generator(chosen_index(device))


def manual_seed(seed: SupportsInt) -> None:
    """Seed the random generator of the current GPU; without a GPU, do nothing.

    Args:
        seed: Any 64-bit integer.

    Example:
        >>> torch.cuda.manual_seed(0)

    See also:
        `torch.manual_seed`, which seeds all devices.
    """
    number = int(seed)  # what is not a number is refused without a GPU, too
    if device_count() > 0:
        _generator().manual_seed(number)


def manual_seed_all(seed: SupportsInt) -> None:
    """Seed the random generators of all GPUs; without a GPU, do nothing.

    Args:
        seed: Any 64-bit integer.

    Example:
        >>> torch.cuda.manual_seed_all(0)

    See also:
        `torch.manual_seed`, which seeds all devices.
    """
    _C._seed_gpu_generators(int(seed))


def seed() -> None:
    """Seed the generator of the current GPU with a number that cannot be foreseen."""
    if device_count() > 0:
        _generator().seed()


def seed_all() -> None:
    """Seed the generators of all GPUs with one number that cannot be foreseen."""
    if device_count() > 0:
        _C._seed_gpu_generators(_generator(0).seed())


def initial_seed() -> int:
    """Return the seed of the current GPU's generator."""
    return _generator().initial_seed()


def get_rng_state(device: object = "cuda") -> Tensor:
    """Return the state of a GPU's generator: 16 bytes on the CPU, as PyTorch's."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """Return the states of the generators of all GPUs."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state: Tensor, device: object = "cuda") -> None:
    """Go on from a state that ``get_rng_state`` returned. Without a GPU there is nothing to set."""
    if device_count() > 0:
        _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """The same for the states of all GPUs."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)

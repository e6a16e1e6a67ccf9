"""``torch.xpu``: GPUs of Intel, which this build does not compute on."""

from __future__ import annotations

import collections
from typing import Any, SupportsInt

from flambeau import Tensor
from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "Event",
    "Stream",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "stream",
    "synchronize",
]


def device_count() -> int:
    """How many there are."""
    return 0


def is_available() -> bool:
    """Return whether tensors can live on an XPU.

    Example:
        >>> torch.xpu.is_available()
        False
    """
    return False


def is_initialized() -> bool:
    """Whether they have been started in this process."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current one computes in bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """Whether the current one computes products in TF32."""
    return False


def get_arch_list() -> list[str]:
    """The architectures that kernels exist for."""
    return []


def empty_cache() -> None:
    """Return unused memory to the system: there is none."""


def manual_seed(seed: SupportsInt) -> None:
    """Seed the generator of the current one, if there is one."""
    int(seed)  # what is not a number is refused here too


# There is no generator, so that all of them and the current one are the same.
manual_seed_all = manual_seed


def seed() -> None:
    """Seed the generator of the current one with a number that cannot be foreseen."""


seed_all = seed


def get_rng_state_all() -> list[Tensor]:
    """The states of all generators."""
    return []


def set_rng_state(new_state: Tensor, device: object = "xpu") -> None:
    """Go on from a state. Without a device there is nothing to set."""


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors take there."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device: Any = None) -> dict[str, Any]:
    """The statistics of the allocator."""
    return collections.OrderedDict()


init: Function = refused("xpu.init")
initial_seed: Function = refused("xpu.initial_seed")
get_rng_state: Function = refused("xpu.get_rng_state")
current_device: Function = refused("xpu.current_device")
current_stream: Function = refused("xpu.current_stream")
set_device: Function = refused("xpu.set_device")
synchronize: Function = refused("xpu.synchronize")
get_device_name: Function = refused("xpu.get_device_name")
get_device_properties: Function = refused("xpu.get_device_properties")
get_device_capability: Function = refused("xpu.get_device_capability")
can_device_access_peer: Function = refused("xpu.can_device_access_peer")
mem_get_info: Function = refused("xpu.mem_get_info")
reset_peak_memory_stats: Function = refused("xpu.reset_peak_memory_stats")
stream: Function = refused("xpu.stream")
Stream: Any = refused_type("xpu.Stream")
Event: Any = refused_type("xpu.Event")

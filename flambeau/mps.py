"""``torch.mps``: the GPU of an Apple machine, which this build does not compute on."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "Event",
    "compile_shader",
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "load_metallib",
    "manual_seed",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]


def device_count() -> int:
    """How many there are."""
    return 0


def is_available() -> bool:
    """Whether tensors can live there."""
    return False


synchronize: Function = refused("mps.synchronize")
empty_cache: Function = refused("mps.empty_cache")
manual_seed: Function = refused("mps.manual_seed")
seed: Function = refused("mps.seed")
get_rng_state: Function = refused("mps.get_rng_state")
set_rng_state: Function = refused("mps.set_rng_state")
current_allocated_memory: Function = refused("mps.current_allocated_memory")
driver_allocated_memory: Function = refused("mps.driver_allocated_memory")
recommended_max_memory: Function = refused("mps.recommended_max_memory")
set_per_process_memory_fraction: Function = refused("mps.set_per_process_memory_fraction")
compile_shader: Function = refused("mps.compile_shader")
load_metallib: Function = refused("mps.load_metallib")
Event: Any = refused_type("mps.Event")

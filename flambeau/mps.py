"""``torch.mps``: the GPU of an Apple machine, which this build does not compute on."""

from __future__ import annotations

from typing import Any

from flambeau._limits.absent import Absent, Function

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

MPS = Absent("mps", "ask torch.backends.mps.is_available() first", RuntimeError)


def device_count() -> int:
    """How many there are."""
    return 0


def is_available() -> bool:
    """Whether tensors can live there."""
    return False


synchronize: Function = MPS.function("synchronize", "Wait for everything the GPU was given to do.")
empty_cache: Function = MPS.function("empty_cache", "Give unused memory back to the system.")
manual_seed: Function = MPS.function("manual_seed", "Seed the generator of the GPU.")
seed: Function = MPS.function("seed", "Seed it with a number that cannot be foreseen.")
get_rng_state: Function = MPS.function("get_rng_state", "The state of the generator.")
set_rng_state: Function = MPS.function("set_rng_state", "Go on from such a state.")
current_allocated_memory: Function = MPS.function(
    "current_allocated_memory", "The bytes of tensors."
)
driver_allocated_memory: Function = MPS.function(
    "driver_allocated_memory", "The bytes of the process."
)
recommended_max_memory: Function = MPS.function(
    "recommended_max_memory", "The bytes to stay below."
)
set_per_process_memory_fraction: Function = MPS.function(
    "set_per_process_memory_fraction", "Limit the share of memory that the process may take."
)
compile_shader: Function = MPS.function("compile_shader", "A kernel written in Metal.")
load_metallib: Function = MPS.function("load_metallib", "Kernels of a library.")
Event: Any = MPS.type("Event", "A mark in a queue of work.")

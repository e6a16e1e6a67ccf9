"""Python's `multiprocessing`, with tensors that travel by shared memory.

A tensor sent through a queue, a pipe or to a new process is moved to memory that both sides see;
only a handle travels, and what one side writes the other reads. Everything else is the standard
library's, under every start method.
"""

import multiprocessing as _standard
from multiprocessing import *  # noqa: F403

from flambeau.multiprocessing.reductions import init_reductions
from flambeau.multiprocessing.spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *_standard.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name that was set last."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Choose how handles of shared memory travel.

    Both names mean the same here: the memory has no name in any file system, so that nothing can be
    left behind, and its descriptor is sent. What "file_system" is chosen for elsewhere, a limit on
    open files, is raised as far as the system allows when it is met.
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise ValueError(
            f"set_sharing_strategy: expected one of {sorted(_STRATEGIES)}, got {new_strategy!r}"
        )
    _strategy = new_strategy


init_reductions()

"""Checks of a loader: arguments that exclude each other, and states of other loaders."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["STATE_VERSION", "check_order", "check_state", "check_workers", "checked_context"]

WORKER_TYPES = ("process", "thread")
STATE_VERSION = 1


def check_workers(
    num_workers: int,
    timeout: float,
    prefetch_factor: int | None,
    persistent_workers: bool,
    worker_type: str,
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            f"multiprocessing, but got num_workers={num_workers}"
        )
    if timeout < 0:
        raise ValueError(f"timeout option should be non-negative, but got timeout={timeout}")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing: "
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError(
            "prefetch_factor option should be non-negative, "
            f"but got prefetch_factor={prefetch_factor}"
        )
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if worker_type not in WORKER_TYPES:
        raise ValueError(
            f"worker_type should be one of {', '.join(WORKER_TYPES)}, "
            f"but got worker_type={worker_type!r}"
        )


def check_order(
    streams: bool,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Any,
    batch_sampler: Any,
    drop_last: bool,
) -> None:
    if streams:
        given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in given.items():
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, "
                    f"but got {name}={value}; the dataset itself decides the order"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


def checked_context(context: Any, num_workers: int) -> Any:
    """A context of `multiprocessing`, which a program may give by the name of a start method."""
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    # Loaded when needed: it takes longer than the rest of the loader.
    multiprocessing = importlib.import_module("multiprocessing")
    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods}, "
                f"but got multiprocessing_context={context!r}"
            )
        context = multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}"
        )
    return context


def check_state(state: Any, num_workers: int, batches: int | None, generators: int) -> None:
    expected = {"version", "num_workers", "batches", "length", "random", "epoch"}
    if not isinstance(state, dict) or not expected <= state.keys():
        raise ValueError(
            "load_state_dict expects what state_dict of a DataLoader returned, "
            f"but got {sorted(state) if isinstance(state, dict) else type(state).__name__}"
        )
    if state["version"] != STATE_VERSION:
        raise ValueError(
            f"the state has version {state['version']}, and this Flambeau reads {STATE_VERSION}"
        )
    if state["num_workers"] != num_workers:
        raise ValueError(
            f"the state was saved with num_workers={state['num_workers']}, but this loader has "
            f"num_workers={num_workers}; each worker goes on where it was, so the number must be "
            "the same"
        )
    if state["batches"] != batches:
        raise ValueError(
            f"the state was saved with {state['batches']} batches in a pass, but this loader has "
            f"{batches}; the dataset, the batch size and the sampler must be the same"
        )
    saved = len(state["random"]["generators"])
    if saved != generators:
        raise ValueError(
            f"the state holds {saved} generators beside the default one, but this loader and its "
            f"samplers have {generators}"
        )

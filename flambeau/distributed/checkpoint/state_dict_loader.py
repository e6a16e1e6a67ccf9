"""Reading a checkpoint of one process."""

from __future__ import annotations

import os
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.distributed._group import checked_group
from flambeau.distributed.checkpoint._storage import FileSystemReader, StorageReader
from flambeau.distributed.checkpoint.default_planner import DefaultLoadPlanner, checked_planner
from flambeau.distributed.checkpoint.stateful import Stateful

__all__ = ["load", "load_state_dict"]


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_reader: StorageReader | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Fill the tensors and objects of ``state_dict`` from a checkpoint."""
    if process_group is not None:
        checked_group(process_group)
    planner = checked_planner(planner, DefaultLoadPlanner, "checkpoint.load")
    if storage_reader is None:
        if checkpoint_id is None:
            raise RuntimeError("checkpoint.load: expected checkpoint_id or storage_reader")
        storage_reader = FileSystemReader(checkpoint_id)
    elif checkpoint_id is not None and isinstance(storage_reader, FileSystemReader):
        storage_reader = FileSystemReader(checkpoint_id)
    _fill(state_dict, storage_reader.read(), "", planner.allow_partial_load)


def load_state_dict(
    state_dict: dict[str, Any],
    storage_reader: StorageReader,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """The older name of ``load``."""
    load(state_dict, storage_reader=storage_reader, process_group=process_group, planner=planner)


def _fill(target: dict[str, Any], source: dict[str, Any], path: str, may_lack: bool) -> None:
    for key, value in target.items():
        name = f"{path}.{key}" if path else str(key)
        if key not in source:
            if may_lack:
                continue
            raise RuntimeError(f"checkpoint.load: {name!r} is not in the checkpoint")
        found = source[key]
        if isinstance(value, Tensor):
            if value.shape != found.shape:
                raise ValueError(
                    f"checkpoint.load: {name!r} has shape {tuple(found.shape)} in the checkpoint "
                    f"and {tuple(value.shape)} here"
                )
            with fb.no_grad():
                value.copy_(found)
        elif isinstance(value, Stateful):
            value.load_state_dict(found)
        elif isinstance(value, dict):
            _fill(value, found, name, may_lack)
        else:
            target[key] = found

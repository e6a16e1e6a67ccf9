"""Writing a checkpoint of one process."""

from __future__ import annotations

import os
from typing import Any

from flambeau.distributed._group import checked_group
from flambeau.distributed.checkpoint._storage import FileSystemWriter, StorageWriter
from flambeau.distributed.checkpoint.default_planner import DefaultSavePlanner, checked_planner
from flambeau.distributed.checkpoint.stateful import Stateful
from flambeau.futures import Future

__all__ = ["async_save", "save", "save_state_dict"]


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> None:
    """Write a state dict into the folder ``checkpoint_id``, or as the writer does."""
    if process_group is not None:
        checked_group(process_group)
    checked_planner(planner, DefaultSavePlanner, "checkpoint.save")
    if storage_writer is None:
        if checkpoint_id is None:
            raise RuntimeError("checkpoint.save: expected checkpoint_id or storage_writer")
        storage_writer = FileSystemWriter(checkpoint_id)
    elif checkpoint_id is not None and isinstance(storage_writer, FileSystemWriter):
        storage_writer = FileSystemWriter(checkpoint_id, overwrite=storage_writer.overwrite)
    storage_writer.write(
        {key: _plain(value) for key, value in state_dict.items()},
    )


def save_state_dict(
    state_dict: dict[str, Any],
    storage_writer: StorageWriter,
    process_group: Any = None,
    coordinator_rank: int = 0,
    no_dist: bool = False,
    planner: Any = None,
) -> None:
    """The older name of ``save``."""
    save(state_dict, storage_writer=storage_writer, process_group=process_group, planner=planner)


def async_save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike[str] | None = None,
    storage_writer: StorageWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    async_checkpointer_type: Any = "thread",
    async_stager: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
) -> Future[None]:
    """Write a state dict, and return a future of that; it is done when this returns."""
    if async_stager is not None:
        raise NotImplementedError("async_save: nothing is staged, the file is written at once")
    save(
        state_dict,
        checkpoint_id=checkpoint_id,
        storage_writer=storage_writer,
        planner=planner,
        process_group=process_group,
    )
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _plain(value: Any) -> Any:
    """What is kept of an object that knows what to keep."""
    return value.state_dict() if isinstance(value, Stateful) else value

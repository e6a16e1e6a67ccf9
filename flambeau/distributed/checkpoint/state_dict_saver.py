"""Writing a checkpoint of one process."""

from __future__ import annotations

import os
from typing import Any

from flambeau.distributed.checkpoint._storage import FileSystemWriter, StorageWriter
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
    state_dict: dict[str, Any], storage_writer: StorageWriter, *args: Any, **kwargs: Any
) -> None:
    """The older name of ``save``."""
    save(state_dict, storage_writer=storage_writer)


def async_save(state_dict: dict[str, Any], **options: Any) -> Future[None]:
    """Write a state dict, and return a future of that; it is done when this returns."""
    known = ("checkpoint_id", "storage_writer", "planner", "process_group", "no_dist")
    save(state_dict, **{key: value for key, value in options.items() if key in known})
    done: Future[None] = Future()
    done.set_result(None)
    return done


def _plain(value: Any) -> Any:
    """What is kept of an object that knows what to keep."""
    return value.state_dict() if isinstance(value, Stateful) else value

"""Checkpoints that processes write together: of one process, in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flambeau._core.lazy import lazy as _lazy
from flambeau._limits.refusing import refused_type
from flambeau.distributed.checkpoint._storage import (
    FileSystemReader,
    FileSystemWriter,
    StorageReader,
    StorageWriter,
)
from flambeau.distributed.checkpoint.state_dict_loader import load, load_state_dict
from flambeau.distributed.checkpoint.state_dict_saver import async_save, save, save_state_dict
from flambeau.distributed.checkpoint.stateful import Stateful

__all__ = [
    "FileSystemReader",
    "FileSystemWriter",
    "HuggingFaceStorageReader",
    "HuggingFaceStorageWriter",
    "Stateful",
    "StorageReader",
    "StorageWriter",
    "async_save",
    "load",
    "load_state_dict",
    "save",
    "save_state_dict",
]

HuggingFaceStorageReader: Any = refused_type("distributed.checkpoint.HuggingFaceStorageReader")
HuggingFaceStorageWriter: Any = refused_type("distributed.checkpoint.HuggingFaceStorageWriter")

if TYPE_CHECKING:
    from flambeau.distributed.checkpoint import state_dict as state_dict
else:
    __getattr__ = _lazy(__name__, "state_dict")

"""Where a checkpoint lies: a folder with one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from flambeau import serialization

__all__: list[str] = []

_FILE = "state.pt"
_FORMAT = "torch_save"


class StorageWriter:
    """Writes a checkpoint."""

    def write(self, state: dict[str, Any]) -> None:
        """Write it whole."""
        raise NotImplementedError(f"{type(self).__name__} does not write")


class StorageReader:
    """Reads a checkpoint."""

    def read(self) -> Any:
        """Read it whole."""
        raise NotImplementedError(f"{type(self).__name__} does not read")

    def read_metadata(self) -> dict[str, Any]:
        """The names in it."""
        return dict.fromkeys(self.read())


class FileSystemWriter(StorageWriter):
    """Writes a checkpoint into a folder, which appears whole or not at all."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        _extensions: Any = None,
        serialization_format: Any = _FORMAT,
    ) -> None:
        if _extensions is not None or getattr(serialization_format, "value", _FORMAT) != _FORMAT:
            raise NotImplementedError(
                "FileSystemWriter: files are written as by torch.save, without extensions, got "
                f"serialization_format={serialization_format}, _extensions={_extensions}"
            )
        self.path: Path = Path(path)
        self.overwrite = overwrite

    def write(self, state: dict[str, Any]) -> None:
        file = self.path / _FILE
        if file.exists() and not self.overwrite:
            raise RuntimeError(f"FileSystemWriter: there is a checkpoint in {self.path} already")
        self.path.mkdir(parents=True, exist_ok=True)
        serialization.save(state, file)


class FileSystemReader(StorageReader):
    """Reads a checkpoint of ``FileSystemWriter``."""

    def __init__(self, path: str | os.PathLike[str], _extension_registry: Any = None) -> None:
        if _extension_registry is not None:
            raise NotImplementedError("FileSystemReader: files are read without extensions")
        self.path: Path = Path(path)

    def read(self) -> Any:
        file = self.path / _FILE
        if not file.exists():
            raise RuntimeError(
                f"checkpoint.load: there is no checkpoint of Flambeau in {self.path}; those of "
                "PyTorch's several processes cannot be read yet"
            )
        return serialization.load(file, weights_only=True)

"""`PyTorchFileReader`: the records of a saved file, one by one."""

from __future__ import annotations

import os
from typing import Any

from flambeau.serialization._source import Source
from flambeau.serialization._zip_reader import ZipReader

__all__ = ["PyTorchFileReader"]


class PyTorchFileReader:
    """Reads records of what `save` wrote, such as ``data.pkl``, by their names."""

    def __init__(self, name_or_buffer: str | os.PathLike[str] | Any) -> None:
        if isinstance(name_or_buffer, (str, os.PathLike)):
            self._own: Any = open(name_or_buffer, "rb")  # noqa: SIM115  (as long as the reader)
            source = Source(self._own, str(name_or_buffer))
        else:
            source = Source(name_or_buffer, "the file")
        self._archive = ZipReader(source)

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return self._archive.names()

    def has_record(self, name: str) -> bool:
        """Whether there is a record of this name."""
        return name in self._archive

    def get_record(self, name: str) -> bytes:
        """The contents of a record."""
        return self._archive.read(name)

    def __del__(self) -> None:
        if hasattr(self, "_own"):
            self._own.close()

"""From a folder of ``checkpoint.save`` to a file of ``torch.save``, and back."""

from __future__ import annotations

import os

from flambeau import serialization
from flambeau.distributed.checkpoint._storage import FileSystemReader, FileSystemWriter

__all__ = ["dcp_to_torch_save", "torch_save_to_dcp"]


def dcp_to_torch_save(
    dcp_checkpoint_dir: str | os.PathLike[str], torch_save_path: str | os.PathLike[str]
) -> None:
    """Write the contents of a folder into one file."""
    serialization.save(FileSystemReader(dcp_checkpoint_dir).read(), torch_save_path)


def torch_save_to_dcp(
    torch_save_path: str | os.PathLike[str], dcp_checkpoint_dir: str | os.PathLike[str]
) -> None:
    """Write the contents of a file into a folder."""
    FileSystemWriter(dcp_checkpoint_dir).write(serialization.load(torch_save_path))

"""``save``: objects into files that PyTorch can read."""

from __future__ import annotations

import os
import pickle
import sys
from typing import IO, Any

from flambeau.serialization import _legacy
from flambeau.serialization._pickler import Storages, dumps
from flambeau.serialization._sink import FileSink, Sink
from flambeau.serialization._zip_writer import ALIGNMENT, ZipWriter
from flambeau.utils._atomic import replacing

__all__: list[str] = []

DEFAULT_PROTOCOL = 2
FileLike = str | os.PathLike[str] | IO[bytes]


def save(
    obj: object,
    f: FileLike,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object to a file that `load` and PyTorch can read.

    Tensors that share memory still share it when they are loaded. A file at a path appears when
    it is complete; until then an older one stays as it was.

    Args:
        obj: Object to save: tensors, containers of them, state dicts, anything that can be
            pickled.
        f: Path, or object with `write`.
        pickle_module: Module that pickles. Default: `pickle`.
        pickle_protocol: Version of the pickle format. Default: 2.

    Example:
        >>> model = nn.Linear(2, 1)
        >>> torch.save(model.state_dict(), "model.pt")
        >>> model.load_state_dict(torch.load("model.pt"))
        <All keys matched successfully>

    See also:
        `torch.load`, `Module.state_dict`.
    """
    _check_pickle_module(pickle_module)
    storages = Storages(is_legacy=not _use_new_zipfile_serialization)
    # All that can go wrong with the object goes wrong here, before any file is touched.
    pickled = dumps(obj, storages, pickle_module, pickle_protocol)
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        _check_folder(path)
        with replacing(path) as descriptor:
            _write(FileSink(descriptor), _folder_name(path), pickled, storages)
    elif hasattr(f, "write"):
        _write(Sink(f), "archive", pickled, storages)
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )


def _write(sink: Sink, name: str, pickled: bytes, storages: Storages) -> None:
    if storages.is_legacy:
        _legacy.write(sink, pickled, storages)
    else:
        _write_archive(ZipWriter(sink, name), pickled, storages)
    sink.flush()


def _write_archive(archive: ZipWriter, pickled: bytes, storages: Storages) -> None:
    archive.add("data.pkl", pickled)
    archive.add(".format_version", b"1")
    archive.add(".storage_alignment", str(ALIGNMENT).encode())
    archive.add("byteorder", sys.byteorder.encode())
    for key in storages.by_key:
        archive.add(f"data/{key}", storages.contents(key))
    archive.add("version", b"3\n")
    archive.finish()


def _folder_name(path: str) -> str:
    """The folder inside the archive is called like the file, without its last suffix."""
    return os.path.splitext(os.path.basename(path))[0] or "archive"


def _check_folder(path: str) -> None:
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"save: Parent directory {folder} does not exist.")
    if os.path.isdir(path):
        raise RuntimeError(f"save: cannot write to {path}: it is a directory")


def _check_pickle_module(module: Any) -> None:
    if not hasattr(module, "Pickler"):
        raise TypeError(f"save: pickle_module must have a class Pickler, got {module!r}")

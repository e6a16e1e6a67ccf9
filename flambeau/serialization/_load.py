"""``load``: read objects from files that PyTorch or ``save`` wrote."""

from __future__ import annotations

import contextlib
import io
import mmap as mmap_module
import os
import pickle
from collections.abc import Iterator
from pickle import UnpicklingError
from typing import IO, Any

from flambeau.serialization._archive import load_archive
from flambeau.serialization._identity import PersistentLoad
from flambeau.serialization._legacy import LegacyReader
from flambeau.serialization._locations import MAP_LOCATION, looks_at_contents, restorer
from flambeau.serialization._machine import Machine
from flambeau.serialization._options import settings
from flambeau.serialization._safe import SafeNames, names_in
from flambeau.serialization._save import FileLike
from flambeau.serialization._source import MappedSource, Source
from flambeau.serialization._unpickler import make_unpickler
from flambeau.serialization._zip_reader import ZipReader

__all__: list[str] = []


def load(
    f: FileLike,
    map_location: MAP_LOCATION = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read an object that `save` or PyTorch has written.

    Args:
        f: Path, or object with `read` and `seek`.
        map_location: Where tensors go: a device, a dict from saved to new devices, or a function of
            storage and saved device. Default: where they were.
        pickle_module: Module that unpickles, with `weights_only=False`. Default: `pickle`.
        weights_only: Whether to make data only: tensors, containers, numbers, text, and what
            `serialization.add_safe_globals` allows. With False the file can run any code; use it
            for files that you trust. Default: True, unless `pickle_module` is given.
        mmap: Whether tensors lie on the file and are read when they are used. Default: False.
        **pickle_load_args: Options of the unpickler, such as `encoding`.

    Raises:
        pickle.UnpicklingError: The file names something that is not allowed.

    Example:
        >>> torch.save({"step": 3, "weights": torch.ones(2)}, "checkpoint.pt")
        >>> torch.load("checkpoint.pt")
        {'step': 3, 'weights': tensor([1., 1.])}

    See also:
        `torch.save`, `Module.load_state_dict`, `serialization.safe_globals`.
    """
    if weights_only is None:
        weights_only = pickle_module is None and not _is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if _is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD"):
        weights_only = True
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if weights_only and pickle_load_args.keys() - {"encoding"}:
        unknown = ", ".join(sorted(pickle_load_args.keys() - {"encoding"}))
        raise TypeError(f"load: unexpected arguments for weights_only=True: {unknown}")
    restore = restorer(map_location)
    options = {"encoding": "utf-8", **pickle_load_args}
    with _opened(f, bool(mmap)) as source:
        unpickler = _Unpickler(source, weights_only, pickle_module or pickle, options)
        if source.size == 0:
            raise EOFError(f"load: {source.name}: Ran out of input: the file is empty")
        if source.read(0, min(4, source.size)) == b"PK\x03\x04":
            is_eager = unpickler.looks_at_values or looks_at_contents(map_location)
            return load_archive(ZipReader(source), unpickler.loads, restore, is_eager)
        if mmap:
            raise RuntimeError(
                "mmap can only be used with files saved with "
                f"`torch.save({source.name}, _use_new_zipfile_serialization=True)`, please "
                "torch.save your checkpoint with this option in order to use mmap."
            )
        _check_tar(source)
        return LegacyReader(source, unpickler.load_at).load(restore)


def get_unsafe_globals_in_checkpoint(f: FileLike) -> list[str]:
    """Return the names in a checkpoint that ``load`` refuses unless they are allowed."""
    with _opened(f, False) as source:
        if source.read(0, min(4, source.size)) != b"PK\x03\x04":
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        names = SafeNames()
        try:
            found = set(names_in(ZipReader(source).read("data.pkl")))
        except ValueError as error:
            raise UnpicklingError(f"{source.name}: the pickle is damaged ({error})") from error
        return sorted(name for name in found if not names.knows(name))


class _Unpickler:
    """Reads the pickles of one file, trusted or not."""

    def __init__(
        self, source: Source, is_safe: bool, pickle_module: Any, options: dict[str, Any]
    ) -> None:
        self._source = source
        self._is_safe = is_safe
        self._pickle_module = pickle_module
        self._options = options
        self._names = SafeNames()

    @property
    def looks_at_values(self) -> bool:
        """Whether code outside of this package may see tensors while they are made."""
        return not self._is_safe or self._names.has_users

    def loads(self, data: bytes, persistent_load: PersistentLoad) -> Any:
        """The object of a whole pickle."""
        if self._is_safe:
            return self._load_safely(data, 0, persistent_load)[0]
        return self._make(io.BytesIO(data), persistent_load).load()

    def load_at(self, position: int, persistent_load: PersistentLoad) -> tuple[Any, int]:
        """The object of the pickle at a position of the file, and where it ends."""
        if self._is_safe:
            return self._load_safely(self._source.everything(), position, persistent_load)
        self._source.move_to(position)
        value = self._make(self._source.file, persistent_load).load()
        return value, self._source.position()

    def _make(self, file: Any, persistent_load: PersistentLoad) -> Any:
        return make_unpickler(self._pickle_module, file, persistent_load, self._options)

    def _load_safely(
        self, data: Any, position: int, persistent_load: PersistentLoad
    ) -> tuple[Any, int]:
        names = self._names
        machine = Machine(
            data, position, names.find, persistent_load, names.is_users, self._options["encoding"]
        )
        try:
            return machine.load(), machine.position
        except UnpicklingError as error:
            raise UnpicklingError(
                f"Weights only load failed. {self._source.name}: {error}"
            ) from error.__cause__


@contextlib.contextmanager
def _opened(f: FileLike, is_mapped: bool) -> Iterator[Source]:
    if isinstance(f, (str, os.PathLike)):
        is_shared = is_mapped and settings.mmap_flags == mmap_module.MAP_SHARED
        with open(f, "r+b" if is_shared else "rb") as file:
            name = os.fspath(f)
            if is_mapped and os.fstat(file.fileno()).st_size:
                yield MappedSource(file, name, is_shared)
            else:
                yield Source(file, name)
        return
    if is_mapped:
        raise ValueError("f must be a file path in order to use the mmap argument")
    _check_seekable(f)
    yield Source(f, _name_of(f))


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0").lower() in ("1", "y", "yes", "true")


def _check_tar(source: Source) -> None:
    if source.size > 512 and source.read(257, 5) == b"ustar":
        raise RuntimeError(
            f"load: {source.name}: this is a tar archive, the format of PyTorch before 0.2; load "
            "it in PyTorch with weights_only=False and save it again"
        )


def _name_of(file: IO[bytes]) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else type(file).__name__


def _check_seekable(file: Any) -> None:
    try:
        file.seek(file.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the "
            "data into a buffer like io.BytesIO and try to load from it instead."
        ) from None

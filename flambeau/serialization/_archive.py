"""Loading an archive: the pickle, and the storages that it names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._core.storage import untyped_storage
from flambeau.serialization._identity import PersistentLoad, StorageIdentity
from flambeau.serialization._options import LoadEndianness, settings
from flambeau.serialization._rebuild import storages_come_later
from flambeau.serialization._zip_reader import ZipReader

__all__: list[str] = []

Unpickle = Callable[[bytes, PersistentLoad], Any]


def load_archive(
    archive: ZipReader, unpickle: Unpickle, restore: Callable[[Any, str], Any], is_eager: bool
) -> Any:
    """Load the object of an archive, whose storages ``restore`` moves to their devices.

    They are read all together at the end, unless ``is_eager`` says that their values are needed
    earlier.
    """
    if "constants.pkl" in archive:
        raise RuntimeError(
            f"load: {archive.source.name}: this is a TorchScript archive; in PyTorch, save the "
            "state_dict() of what torch.jit.load returns"
        )
    pickled = archive.read("data.pkl")
    storages = _Storages(archive, restore)
    if is_eager or not storages.can_wait:
        return unpickle(pickled, storages.load)
    with storages_come_later(storages.fill):
        value = unpickle(pickled, storages.reserve)
    storages.fill()
    return value


class _Storages:
    """The storages of an archive, each read once: immediately, or all together at the end."""

    def __init__(self, archive: ZipReader, restore: Callable[[Any, str], Any]) -> None:
        self._archive = archive
        self._restore = restore
        self._is_swapped = _is_swapped(archive)
        self._loaded: dict[str, Any] = {}
        self._offsets: list[int] = []
        self._waiting: list[Tensor] = []
        # Storages of another device, which get their values from here.
        self._moved: list[tuple[Tensor, Any]] = []

    @property
    def can_wait(self) -> bool:
        """Whether storages can be made before they are read."""
        return not self._is_swapped and not self._archive.source.is_mapped

    def load(self, pid: Any) -> Any:
        """The storage with an identity, read from its record."""
        identity = StorageIdentity.parse(pid)
        if identity.key not in self._loaded:
            memory = self._archive.source.tensor(*self._place(identity))
            if self._is_swapped:
                memory = _swapped(memory, identity)
            self._keep(memory, identity)
        return identity.typed(self._loaded[identity.key])

    def reserve(self, pid: Any) -> Any:
        """The same storage, without its values until `fill`."""
        identity = StorageIdentity.parse(pid)
        if identity.key not in self._loaded:
            offset, size = self._place(identity)
            memory = fb.empty(size, dtype=fb.uint8, device="cpu")
            self._offsets.append(offset)
            self._waiting.append(memory)
            self._keep(memory, identity)
            restored = self._loaded[identity.key]
            if restored.device.type == "cuda":
                self._moved.append((memory, restored))
        return identity.typed(self._loaded[identity.key])

    def fill(self) -> None:
        """Read all storages that are still without values."""
        self._archive.source.fill(self._offsets, self._waiting)
        for memory, restored in self._moved:
            restored._bytes.copy_(memory)
        self._offsets, self._waiting, self._moved = [], [], []

    def _keep(self, memory: Tensor, identity: StorageIdentity) -> None:
        restored = self._restore(untyped_storage(memory), identity.location)
        self._loaded[identity.key] = restored

    def _place(self, identity: StorageIdentity) -> tuple[int, int]:
        offset, size = self._archive.place(f"data/{identity.key}")
        if size != identity.nbytes:
            raise UnpicklingError(
                f"storage {identity.key!r} should have {identity.nbytes} bytes, "
                f"its record has {size}"
            )
        return offset, size


def _swapped(memory: Tensor, identity: StorageIdentity) -> Tensor:
    dtype = identity.kind.dtype
    if dtype is None:
        return memory
    width = dtype.itemsize // (2 if dtype.is_complex else 1)
    return memory.reshape(-1, width).flip(1).reshape(-1)


def _is_swapped(archive: ZipReader) -> bool:
    if "byteorder" in archive:
        order = archive.read("byteorder").decode("ascii", "replace")
        if order not in ("little", "big"):
            raise RuntimeError(f"load: Unknown endianness type: {order!r}")
        return order != sys.byteorder
    default = settings.endianness
    if default is None or default is LoadEndianness.NATIVE:
        return False
    return (default is LoadEndianness.BIG) != (sys.byteorder == "big")

"""The format of PyTorch before 1.6: pickles one after the other, then the bare storages."""

from __future__ import annotations

import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import flambeau as fb
from flambeau._core.storage import UntypedStorage, untyped_storage
from flambeau.serialization._identity import PersistentLoad, StorageIdentity, refuse_identity
from flambeau.serialization._pickler import Storages
from flambeau.serialization._rebuild import storages_come_later
from flambeau.serialization._sink import Sink
from flambeau.serialization._source import Source

__all__: list[str] = []

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001


def write(sink: Sink, pickled: bytes, storages: Storages) -> None:
    """Write a pickle and its storages in this format."""
    system = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": {"short": 2, "int": 4, "long": 4},
    }
    for header in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        sink.write(pickle.dumps(header, protocol=2))
    sink.write(pickled)
    keys = sorted(storages.by_key)
    sink.write(pickle.dumps(keys, protocol=2))
    for key in keys:
        contents = storages.contents(key)
        sink.write(struct.pack("<q", contents.numel() // storages.kinds[key].itemsize))
        sink.write_tensor(contents)


class LegacyReader:
    """A file of this format. ``unpickle(position, persistent_load)`` gives object and end."""

    def __init__(
        self, source: Source, unpickle: Callable[[int, PersistentLoad], tuple[Any, int]]
    ) -> None:
        self._source = source
        self._unpickle = unpickle
        self._waiting: dict[str, tuple[UntypedStorage, int]] = {}  # with the size of an element
        self._promised = 0

    def load(self, restore: Callable[[Any, str], Any]) -> Any:
        """Read everything; ``restore`` moves a storage to its device."""
        position = self._read_header()
        loaded: dict[str, Any] = {}

        def persistent_load(pid: Any) -> Any:
            if type(pid) is tuple and len(pid) > 1 and pid[0] == "module":
                return pid[1]  # a class, with its source beside it
            identity = StorageIdentity.parse(pid)
            if identity.key not in loaded:
                loaded[identity.key] = self._reserve(identity, restore)
            return identity.typed(loaded[identity.key])

        with storages_come_later() as they_are_here:
            value, position = self._unpickle(position, persistent_load)
            keys, position = self._unpickle(position, refuse_identity)
            self._source.move_to(self._fill(keys, position))
            they_are_here()
        return value

    def _read_header(self) -> int:
        magic, position = self._unpickle(0, refuse_identity)
        if type(magic) is not int or magic != MAGIC_NUMBER:
            self._refuse("Invalid magic number; corrupt file?")
        version, position = self._unpickle(position, refuse_identity)
        if type(version) is not int or version != PROTOCOL_VERSION:
            self._refuse("Invalid protocol version of the file")
        system, position = self._unpickle(position, refuse_identity)
        if not isinstance(system, dict) or system.get("little_endian") is False:
            self._refuse("it was written on a big-endian machine")
        return position

    def _reserve(self, identity: StorageIdentity, restore: Callable[[Any, str], Any]) -> Any:
        """Allocate a storage whose bytes come later in the file: never more than it holds."""
        self._promised += identity.nbytes
        if self._promised > self._source.size:
            self._refuse(f"its storages would need {self._promised} bytes, more than it has")
        memory = untyped_storage(fb.empty(identity.nbytes, dtype=fb.uint8, device="cpu"))
        restored = restore(memory, identity.location)
        self._waiting[identity.key] = (restored, identity.kind.itemsize)
        return restored

    def _fill(self, keys: Any, position: int) -> int:
        if type(keys) is not list or not all(type(key) is str for key in keys):
            self._refuse("the list of its storages is damaged")
        if sorted(keys) != sorted(self._waiting):
            self._refuse("the list of its storages is not that of its tensors")
        for key in keys:
            storage, itemsize = self._waiting[key]
            memory = storage._bytes
            (count,) = struct.unpack("<q", self._source.read(position, 8))
            if count * itemsize != memory.numel():
                self._refuse(f"storage {key} has another size than its tensors expect")
            memory.copy_(self._source.tensor(position + 8, memory.numel()))
            position += 8 + memory.numel()
        return position

    def _refuse(self, what: str) -> NoReturn:
        raise RuntimeError(f"load: {self._source.name}: {what}")

"""The persistent id of a storage in a pickle: type, name in the file, location and size."""

from __future__ import annotations

from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, NamedTuple, NoReturn

from flambeau._core.storage import TypedStorage, UntypedStorage
from flambeau.serialization._names import UNTYPED, StorageKind

__all__: list[str] = []

PersistentLoad = Callable[[Any], Any]


class StorageIdentity(NamedTuple):
    kind: StorageKind
    key: str
    location: str
    numel: int

    @classmethod
    def parse(cls, pid: Any) -> StorageIdentity:
        """Parse an id from a file; UnpicklingError if it is not one."""
        if type(pid) is not tuple or len(pid) < 5 or type(pid[0]) is not str or pid[0] != "storage":
            raise UnpicklingError("a persistent id of the pickle is not that of a storage")
        _, kind, key, location, count, *rest = pid
        if kind is UntypedStorage:
            kind = UNTYPED
        if (
            type(kind) is not StorageKind
            or type(key) is not str
            or type(location) is not str
            or type(count) is not int
        ):
            raise UnpicklingError("the identity of a storage has parts of the wrong types")
        if count < 0:
            raise UnpicklingError(f"storage {key!r} has a negative size: {count}")
        if rest and rest[0] is not None:
            raise UnpicklingError(
                "views of storages, as PyTorch wrote them before 0.4, are unknown"
            )
        return cls(kind, key, location, count)

    @property
    def nbytes(self) -> int:
        return self.numel * self.kind.itemsize

    def typed(self, storage: Any) -> Any:
        """Return a storage as the pickle wants it: of elements, or of bytes."""
        if self.kind.dtype is None:
            return storage
        return TypedStorage(wrap_storage=storage, dtype=self.kind.dtype)


def refuse_identity(pid: Any) -> NoReturn:
    """For pickles that hold no storages."""
    raise UnpicklingError("this part of the file cannot refer to a storage")

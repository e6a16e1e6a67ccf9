"""Settings of ``save`` and ``load`` that hold until they are changed."""

from __future__ import annotations

import enum
import mmap
from types import TracebackType

__all__: list[str] = []


class LoadEndianness(enum.Enum):
    """The byte order of files that do not specify it."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class skip_data:
    """Within it ``save`` leaves the space of storages empty, and ``load`` does not read them.

    So a file of the right layout can be filled in another pass. ``materialize_fake_tensors`` is
    accepted for PyTorch's sake: there are no fake tensors here.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = settings.skips_data
        settings.skips_data = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        settings.skips_data = self._before


class _Settings:
    computes_crc32 = True
    endianness: LoadEndianness | None = None
    mmap_flags: int = mmap.MAP_PRIVATE
    skips_data = False


settings = _Settings()


def get_crc32_options() -> bool:
    """Return whether ``save`` writes checksums of the records."""
    return settings.computes_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Choose whether ``save`` writes checksums; without them other tools refuse the archive."""
    settings.computes_crc32 = compute_crc32


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the byte order that ``load`` assumes for a file that does not specify it."""
    return settings.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order that ``load`` assumes for a file that does not specify it."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    settings.endianness = endianness


def get_default_mmap_options() -> int:
    """Return how ``load(mmap=True)`` maps a file."""
    return settings.mmap_flags


class set_default_mmap_options:
    """Choose how ``load(mmap=True)`` maps a file; as a context, for its duration.

    With ``mmap.MAP_PRIVATE`` changes of a tensor stay in memory, with ``mmap.MAP_SHARED`` they go
    to the file.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE "
                f"or mmap.MAP_SHARED, but got {flags}"
            )
        self._before = settings.mmap_flags
        settings.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        settings.mmap_flags = self._before

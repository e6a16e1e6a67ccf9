"""What the native module shows to the dynamic linker, and what it asks for."""

from __future__ import annotations

import mmap
import struct
import sys
from collections.abc import Iterator

import pytest

from flambeau import _C

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sys.maxsize < 2**32, reason="reads 64-bit ELF files"
)

DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
THREAD_LOCAL = 6  # STT_TLS
UNDEFINED, ABSOLUTE = 0, 0xFFF1  # section numbers; an absolute symbol names a version


def dynamic_symbols() -> Iterator[tuple[str, int, int]]:
    """The name, section number and type of every symbol in the module's dynamic table."""
    with (
        open(_C.__file__, "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        assert data[:6] == b"\x7fELF\x02\x01"  # 64 bits, least significant byte first
        (start,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * i) for i in range(count)]
        table = next(section for section in sections if section[1] == DYNAMIC_SYMBOLS)
        names = sections[table[6]][4]
        for at in range(table[4] + 24, table[4] + table[5], 24):  # the first symbol is none
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            end = data.find(b"\0", names + name)
            yield data[names + name : end].decode(), section, info & 15


def test_python_finds_its_entry_and_nobody_anything_else() -> None:
    """A symbol that two libraries of a process have is one for both: they share its state."""
    shown = {name for name, at, _ in dynamic_symbols() if at not in (UNDEFINED, ABSOLUTE)}
    assert shown == {"PyInit__C"}


def test_no_streams() -> None:
    """They work by locales, of which a process with two C++ libraries has two sets."""
    asked = {name for name, section, _ in dynamic_symbols() if section == UNDEFINED}
    assert "PyList_New" in asked  # the table was read
    streams = (
        "basic_ostream",
        "basic_istream",
        "basic_ios",
        "ios_base",
        "basic_stringbuf",
        "_ZNSo",
    )
    locales = ("St6locale", "_ZNSi", "_ZNSd")
    assert not {name for name in asked if any(part in name for part in (*streams, *locales))}


def test_no_thread_local_variable_of_another_library() -> None:
    """It would have to lie in the loader's static space, which may be full: see core/once.h."""
    types = {name: kind for name, _, kind in dynamic_symbols()}
    assert "PyList_New" in types  # the table was read
    assert not [name for name, kind in types.items() if kind == THREAD_LOCAL]

"""Reading of a checkpoint's zip archive, without trusting anything it says.

Every record must be stored as it is, lie inside the file and not overlap another one, so that what
is read is never more than the file holds.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, NoReturn

from flambeau.serialization import _zip_format as zf
from flambeau.serialization._source import Source

__all__: list[str] = []

_LONGEST_COMMENT = 0xFFFF


class _Record(NamedTuple):
    name: str
    offset: int  # of its own header
    size: int


class ZipReader:
    """The records of an archive. All lie in one folder, whose name is left out."""

    def __init__(self, source: Source) -> None:
        self.source = source
        start, size, count = self._find_table()
        records = self._read_table(start, size, count)
        self._check_overlap(records, start)
        self._places = {record.name: self._locate(record, start) for record in records}
        if len(self._places) != len(records):
            self._refuse("two records have the same name")
        self._folder = self._find_folder()

    def __contains__(self, name: str) -> bool:
        return self._folder + name in self._places

    def names(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self._folder) for name in self._places]

    def read(self, name: str) -> bytes:
        """The contents of a record."""
        return self.source.read(*self.place(name))

    def place(self, name: str) -> tuple[int, int]:
        """Where the contents of a record are in the file, and how many bytes."""
        if name not in self:
            self._refuse(f"it has no record {name!r}")
        return self._places[self._folder + name]

    def _refuse(self, what: str) -> NoReturn:
        raise RuntimeError(
            f"load: {self.source.name}: failed reading zip archive: {what}. The file is damaged "
            "or incomplete: save it again, or copy it again from where it came."
        )

    def _find_folder(self) -> str:
        for name in self._places:
            folder, slash, rest = name.partition("/")
            if slash and rest in ("data.pkl", "constants.pkl"):
                return folder + slash
        return self._refuse("it has no record 'data.pkl', so it is not a checkpoint")

    def _find_table(self) -> tuple[int, int, int]:
        """Where the table of records starts, its size, and how many there are."""
        tail_size = min(self.source.size, zf.END.size + _LONGEST_COMMENT)
        tail_start = self.source.size - tail_size
        tail = self.source.read(tail_start, tail_size)
        at = tail.rfind(zf.END_MARK)
        if at < 0 or at + zf.END.size > len(tail):
            self._refuse("failed finding central directory")
        _, _, _, _, count, size, start, _ = zf.END.unpack_from(tail, at)
        place_at = tail_start + at - zf.END64_PLACE.size
        if place_at >= 0:
            place = zf.END64_PLACE.unpack(self.source.read(place_at, zf.END64_PLACE.size))
            if place[0] == zf.END64_PLACE_MARK:
                start, size, count = self._find_wide_table(place[2])
        if start + size > tail_start + at or count * zf.CENTRAL.size > size:
            self._refuse("the central directory does not fit into the file")
        return start, size, count

    def _find_wide_table(self, at: int) -> tuple[int, int, int]:
        if at + zf.END64.size > self.source.size:
            self._refuse("the central directory lies outside of the file")
        mark, *_, count, size, start = zf.END64.unpack(self.source.read(at, zf.END64.size))
        if mark != zf.END64_MARK:
            self._refuse("the central directory is damaged")
        return start, size, count

    def _read_table(self, start: int, size: int, count: int) -> list[_Record]:
        table = self.source.read(start, size)
        records = []
        at = 0
        for _ in range(count):
            if at + zf.CENTRAL.size > len(table):
                self._refuse("the central directory ends too early")
            fields = zf.CENTRAL.unpack_from(table, at)
            mark, flags, method = fields[0], fields[3], fields[4]
            stored, size, name_size, extra_size, comment_size = fields[8:13]
            if mark != zf.CENTRAL_MARK:
                self._refuse("the central directory is damaged")
            name_at = at + zf.CENTRAL.size
            extra_at = name_at + name_size
            at = extra_at + extra_size + comment_size
            if at > len(table):
                self._refuse("the central directory ends too early")
            name = table[name_at:extra_at].decode("utf-8", "replace")
            extra = table[extra_at : extra_at + extra_size]
            size, stored, offset = _widened((size, stored, fields[16]), extra)
            if flags & 1 or method != 0 or stored != size:
                self._refuse(
                    f"record {name!r} is compressed or encrypted, which a checkpoint never is "
                    "(repack the folder with `zip -0 -r`)"
                )
            records.append(_Record(name, offset, size))
        return records

    def _check_overlap(self, records: list[_Record], end: int) -> None:
        """Each record ends before the next one, and the last one before the table."""
        for record in sorted(records, key=lambda record: record.offset, reverse=True):
            if record.offset + zf.LOCAL.size + len(record.name) + record.size > end:
                self._refuse(f"record {record.name!r} overlaps another one or ends outside")
            end = record.offset

    def _locate(self, record: _Record, end: int) -> tuple[int, int]:
        """Where the contents are, behind a header that may be longer than the table says."""
        fields = zf.LOCAL.unpack(self.source.read(record.offset, zf.LOCAL.size))
        start = record.offset + zf.LOCAL.size + fields[9] + fields[10]
        if fields[0] != zf.LOCAL_MARK or start + record.size > end:
            self._refuse(f"the header of record {record.name!r} is damaged")
        return start, record.size


def _widened(values: tuple[int, int, int], extra: bytes) -> list[int]:
    """Sizes and offset with those that need 64 bits taken from the extra field."""
    wide = b""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == zf.WIDE_ID:
            wide = extra[at + 4 : at + 4 + length]
        at += 4 + length
    numbers = iter(struct.unpack(f"<{len(wide) // 8}Q", wide[: len(wide) // 8 * 8]))
    return [next(numbers, value) if value == zf.WIDE else value for value in values]

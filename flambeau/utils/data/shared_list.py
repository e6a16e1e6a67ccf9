"""`SharedList`: a list whose items lie in shared memory and are rebuilt when they are read.

Looking at an object of a Python list writes its reference count, and so a forked process that reads
a large list ends up with a copy of it. Items that are packed have no reference counts.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from flambeau import _C, Tensor

__all__ = ["SharedList"]

_AT_ONCE = 4096
_RECENT = 256
_PLAIN = (str, bytes, int, float, bool, complex, type(None))


class SharedList(list[Any]):
    """List whose items lie in shared memory, so that worker processes do not copy them.

    It reads like the list that it was made of, in this process, in forked ones and in those that it
    is sent to. Items that are set are seen by this process alone. Its length is fixed.

    Args:
        items: Numbers, strings, bytes or other items that can be pickled. Default: none.

    Example:
        >>> from flambeau.utils.data.shared_list import SharedList
        >>> names = SharedList(f"{i}.png" for i in range(1000))
        >>> names[3], len(names)
        ('3.png', 1000)

    See also:
        `utils.data.DataLoader`.
    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__()
        self._packed: _Packed = _pack(list(items) if type(items) is not list else items)
        self._changed: dict[int, Any] = {}

    def is_constant(self) -> bool:
        """Whether all items are of immutable types."""
        return self._packed.is_constant

    def __reduce__(self) -> Any:
        return _restored, (self._packed, self._changed)

    def __len__(self) -> int:
        return len(self._packed)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __getitem__(self, index: Any, /) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = self._place(index)
        if self._changed and place in self._changed:
            return self._changed[place]
        return self._packed[place]

    def __setitem__(self, index: Any, value: Any, /) -> None:
        if not isinstance(index, slice):
            self._changed[self._place(index)] = value
            return
        places = range(*index.indices(len(self)))
        values = list(value)
        if len(places) != len(values):
            raise ValueError(
                f"SharedList: cannot set {len(places)} items to {len(values)}: its length is fixed"
            )
        self._changed.update(zip(places, values, strict=True))

    def _place(self, index: Any) -> int:
        place: int = index.__index__()
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError("list index out of range")
        return place

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def __reversed__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self) - 1, -1, -1))

    def __contains__(self, item: object) -> bool:
        return any(each is item or each == item for each in self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list) or len(self) != len(other):
            return NotImplemented if not isinstance(other, list) else False
        return all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None

    def __lt__(self, other: list[Any]) -> bool:
        return list(self) < list(other)

    def __gt__(self, other: list[Any]) -> bool:
        return list(self) > list(other)

    def __le__(self, other: list[Any]) -> bool:
        return list(self) <= list(other)

    def __ge__(self, other: list[Any]) -> bool:
        return list(self) >= list(other)

    def __add__(self, other: Any) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Any) -> list[Any]:
        return [*other, *self]

    def __mul__(self, times: Any) -> list[Any]:
        return [*self] * int(times)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return repr(list(self))

    def index(self, value: Any, start: Any = 0, stop: Any = sys.maxsize, /) -> int:
        for place in range(*slice(start, stop).indices(len(self))):
            if self[place] == value:
                return place
        raise ValueError(f"{value!r} is not in list")

    def count(self, value: Any, /) -> int:
        return sum(each == value for each in self)

    def copy(self) -> list[Any]:
        return list(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedList:
        return _restored(self._packed, dict(self._changed))

    def _refuse(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError("SharedList has a fixed length; make a list of it to change that")

    append = clear = extend = insert = pop = remove = _refuse
    __delitem__ = __iadd__ = __imul__ = _refuse

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        self[:] = sorted(self, key=key, reverse=reverse)

    def reverse(self) -> None:
        self[:] = list(reversed(self))


def _restored(packed: _Packed, changed: dict[int, Any]) -> SharedList:
    made = SharedList()
    made._packed, made._changed = packed, changed
    return made


class _Numbers:
    """Whole numbers of 64 bits, or floating point ones."""

    is_constant = True

    def __init__(self, numbers: Tensor) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: int) -> Any:
        return _C._packed_number(self._numbers, place)


class _Strings:
    """Strings and bytes."""

    is_constant = True

    def __init__(self, blob: Tensor, index: Tensor) -> None:
        self._blob = blob
        self._index = index

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, place: int) -> Any:
        return _C._packed_string(self._blob, self._index, place)


class _Pickles:
    """Other objects. Those asked for last are kept, so that what is done to one is not lost."""

    def __init__(self, pickles: _Strings, is_constant: bool) -> None:
        self._pickles = pickles
        self.is_constant = is_constant
        self._recent: dict[int, Any] = {}
        self._altered: dict[int, Any] = {}

    def __reduce__(self) -> Any:
        return _Pickles, (self._pickles, self.is_constant)

    def __len__(self) -> int:
        return len(self._pickles)

    def __getitem__(self, place: int) -> Any:
        for kept in (self._recent, self._altered):
            if place in kept:
                return kept[place]
        item = pickle.loads(self._pickles[place])
        if not self.is_constant:
            if len(self._recent) >= _RECENT:
                self._let_go()
            self._recent[place] = item
        return item

    def _let_go(self) -> None:
        """Forget the object that was kept longest, unless it is in use or was changed."""
        place = next(iter(self._recent))
        item = self._recent.pop(place)
        in_use = sys.getrefcount(item) > 2  # by `item` and by the argument of this call
        if in_use or pickle.dumps(item, protocol=5) != self._pickles[place]:
            self._altered[place] = item


_Packed = _Numbers | _Strings | _Pickles


def _is_immutable(item: Any) -> bool:
    return type(item) in _PLAIN or (type(item) is tuple and all(map(_is_immutable, item)))


def _pack(items: list[Any]) -> _Packed:
    kind = type(items[0]) if items else int
    if kind in (int, float):
        pack: Callable[[list[Any]], Tensor | None]
        pack = _C._pack_integers if kind is int else _C._pack_floats
        numbers = pack(items)
        if numbers is not None:
            return _Numbers(numbers)
    if kind in (str, bytes):
        try:
            return _packed_strings([items])
        except TypeError:
            pass  # not all of them are
    parts = (items[start : start + _AT_ONCE] for start in range(0, len(items), _AT_ONCE))
    pickles = _packed_strings([pickle.dumps(item, protocol=5) for item in part] for part in parts)
    return _Pickles(pickles, is_constant=all(map(_is_immutable, items)))


def _packed_strings(parts: Iterable[list[Any]]) -> _Strings:
    writer = _C._BlobWriter()
    for part in parts:
        writer.extend(part)
    return _Strings(*writer.finish())

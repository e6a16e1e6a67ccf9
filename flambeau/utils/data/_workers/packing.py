"""Packing of a dataset's large lists into shared memory before worker processes start.

Reading an object writes its reference count. In a forked process that copies the page it is on, so
that each worker that goes through a list of Python objects ends up with a list of its own. Before
the workers start, lists of a dataset that take much memory are packed once; in the workers, and
nowhere else, a `SharedList` takes the place of each.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flambeau import _C, Tensor
from flambeau.utils.data.shared_list import SharedList

if TYPE_CHECKING:
    from flambeau.utils.data.dataloader import DataLoader

__all__ = ["Replacement", "packed_lists", "swapped"]

# Bytes from which on a list is worth it, items looked at to estimate that, and how deep lists are
# searched for in the attributes of a dataset.
_LARGE = 64 << 20
_LOOKED_AT = 256
_DEPTH = 6
_PLAIN = (str, bytes, int, float, bool, complex, type(None))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_NOT_SEARCHED = (type, types.ModuleType, types.FunctionType, types.MethodType, Tensor)


@dataclass
class Replacement:
    """A list in a dataset, its holder, and what replaces it in a worker."""

    holder: Any
    key: Any
    original: list[Any]
    packed: SharedList

    def apply(self) -> None:
        """Put the packed list in its place."""
        self._put(self.packed)

    def undo(self) -> None:
        """Restore the list itself."""
        self._put(self.original)

    def _put(self, value: list[Any]) -> None:
        if isinstance(self.holder, (dict, list)):
            self.holder[self.key] = value
        else:
            object.__setattr__(self.holder, self.key, value)


@contextlib.contextmanager
def swapped(replacements: list[Replacement]) -> Iterator[None]:
    """A block in which the dataset holds the packed lists, so that it is sent with them."""
    try:
        for replacement in replacements:
            replacement.apply()
        yield
    finally:
        for replacement in replacements:
            replacement.undo()


def packed_lists(loader: DataLoader[Any], root: Any) -> list[Replacement]:
    """The large lists that `root` holds, packed: once for all passes of the loader.

    A list whose items have changed since is packed again, and so is one with mutable items.
    """
    known: dict[int, tuple[list[Any], SharedList]] = loader.__dict__.get("_fb_packed_lists", {})
    kept: dict[int, tuple[list[Any], SharedList]] = {}
    replacements = []
    for holder, key, items in _large_lists(root):
        last = known.get(id(items))
        if last is None or not _C._same_items(last[0], items):
            try:
                packed = SharedList(items)
            except Exception:  # not everything can be pickled: such a list stays what it is
                continue
            # The copy keeps the items, so that it can be told later whether they are the same.
            last = (list(items), packed) if packed.is_constant() else ([], packed)
        if last[0]:
            kept[id(items)] = last
        replacements.append(Replacement(holder, key, items, last[1]))
    loader.__dict__["_fb_packed_lists"] = kept
    return replacements


def _large_lists(root: Any) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Large lists of plain data below `root`, with the object that holds each."""
    seen: set[int] = set()
    level: list[Any] = [root]
    for _ in range(_DEPTH):
        found = [place for holder in level for place in _places(holder)]
        level = []
        for holder, key, value in found:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if type(value) is list and _is_large(value):
                if type(holder) is not tuple:  # whose items cannot be replaced
                    yield holder, key, value
            elif _may_hold_lists(value):
                level.append(value)


def _places(holder: Any) -> Iterator[tuple[Any, Any, Any]]:
    """What an object holds: its attributes, or the items of a container that is not long."""
    items: Any
    if type(holder) is dict:
        items = holder.items()
    elif type(holder) in (list, tuple):
        items = enumerate(holder)
    else:
        items = getattr(holder, "__dict__", {}).items()
    return ((holder, key, value) for key, value in itertools.islice(items, _LOOKED_AT))


def _may_hold_lists(value: Any) -> bool:
    if type(value) in (list, tuple, dict):
        return len(value) <= _LOOKED_AT
    return hasattr(value, "__dict__") and not isinstance(value, _NOT_SEARCHED)


def _sample(items: list[Any]) -> list[Any]:
    step = max(1, len(items) // _LOOKED_AT)
    return items[::step]


def _is_large(items: list[Any]) -> bool:
    if len(items) <= _LOOKED_AT:  # its items may be lists to pack, each by itself
        return False
    sample = _sample(items)
    size = sys.getsizeof(items) + sum(map(_rough_size, sample)) * len(items) / len(sample)
    return size >= _LARGE and all(map(_is_builtin, sample))


def _rough_size(item: Any, depth: int = 4) -> float:
    """The bytes of an item and, from a sample of them, of what it contains."""
    size: float = sys.getsizeof(item)
    if type(item) not in _CONTAINERS or not item or depth == 0:
        return size
    parts = list(itertools.islice(_parts(item), _LOOKED_AT))
    return size + sum(_rough_size(part, depth - 1) for part in parts) / len(parts) * len(item)


def _parts(item: Any) -> Iterator[Any]:
    return itertools.chain.from_iterable(item.items()) if type(item) is dict else iter(item)


def _is_builtin(item: Any) -> bool:
    """Whether an item is made of numbers, strings and containers only."""
    if type(item) in _PLAIN:
        return True
    if type(item) not in _CONTAINERS:
        return False
    return all(map(_is_builtin, itertools.islice(_parts(item), _LOOKED_AT)))

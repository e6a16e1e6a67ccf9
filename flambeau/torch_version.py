"""The class of ``torch.__version__``: a string that compares as a version does."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import Any, cast

__all__ = ["TorchVersion"]

_FORM = re.compile(r"v?(\d+(?:\.\d+)*)(?:\.?(dev|a|b|rc)(\d*))?(?:\+(.*))?")
_FINAL = ("z", 0)  # sorts behind dev, a, b and rc

_Key = tuple[list[int], tuple[str, int], str]


class TorchVersion(str):
    """A version that can be compared with strings and tuples: ``version >= (2, 1)``."""

    def __lt__(self, other: object) -> bool:
        return self._compared(lt, other)

    def __le__(self, other: object) -> bool:
        return self._compared(le, other)

    def __gt__(self, other: object) -> bool:
        return self._compared(gt, other)

    def __ge__(self, other: object) -> bool:
        return self._compared(ge, other)

    def __eq__(self, other: object) -> bool:
        return self._compared(eq, other)

    def __ne__(self, other: object) -> bool:
        return self._compared(ne, other)

    __hash__ = str.__hash__

    def _compared(self, compare: Callable[[Any, Any], Any], other: object) -> bool:
        if isinstance(other, (tuple, list)):
            other = ".".join(map(str, other))
        if not isinstance(other, str):
            return cast(bool, NotImplemented)
        own, others = _key(self), _key(other)
        if own is None or others is None:  # not versions: compared as text
            return bool(compare(str(self), str(other)))
        return bool(compare(own, others))


def _key(text: str) -> _Key | None:
    found = _FORM.fullmatch(text.strip())
    if not found:
        return None
    release, stage, number, local = found.groups()
    numbers = [int(part) for part in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers, (stage, int(number or 0)) if stage else _FINAL, local or ""

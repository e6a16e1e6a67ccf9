"""Weak references to tensors, and dictionaries whose keys are compared by identity.

A tensor's ``==`` compares elements, so the dictionaries of ``weakref`` cannot hold tensors.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any

from flambeau import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that equals another one if both refer to the same object."""

    __slots__ = ("_id",)

    _id: int

    def __new__(cls, key: Any, callback: Any = None) -> WeakIdRef:
        made = super().__new__(cls, key, callback)
        made._id = id(key)
        return made

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, WeakIdRef) else None
        if mine is not None and its is not None:
            return mine is its
        return self is other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary that drops an entry when nobody else holds its key."""

    def __init__(self, entries: Any = None, ref_type: type[WeakIdRef] = WeakIdRef) -> None:
        self.data: dict[WeakIdRef, Any] = {}
        self.ref_type = ref_type
        self._forget = _forgetting(weakref.ref(self))
        if entries is not None:
            self.update(entries)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # to something that does not support weak references
            return False

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Return a dictionary with the same entries."""
        return type(self)(self)


def _forgetting(owner: weakref.ref[WeakIdKeyDictionary]) -> Any:
    def forget(reference: WeakIdRef) -> None:
        alive = owner()
        if alive is not None:
            alive.data.pop(reference, None)

    return forget


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"TensorWeakRef: expected a tensor, got {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()

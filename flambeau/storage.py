"""``torch.storage``: the memory behind tensors, and the old classes for storages of one type."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau._core.storage import TypedStorage, UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]


class StorageType(type):
    """The class of ``FloatStorage`` and others: a name for the storages of one element type.

    Calling it makes a ``TypedStorage``, and ``isinstance`` asks for the element type; there are no
    instances of its own.
    """

    dtype: fb.dtype

    def __new__(cls, name: str, dtype: fb.dtype) -> StorageType:
        made = super().__new__(cls, name, (), {"__doc__": f"A storage of {dtype}."})
        made.dtype = dtype
        return made

    def __init__(cls, name: str, dtype: fb.dtype) -> None:
        super().__init__(name, (), {})

    def __call__(cls, *args: Any, wrap_storage: UntypedStorage | None = None) -> TypedStorage:
        if wrap_storage is not None:
            return TypedStorage(wrap_storage=wrap_storage, dtype=cls.dtype)
        return TypedStorage(*args, dtype=cls.dtype)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype

    def from_buffer(cls, *args: Any, **kwargs: Any) -> TypedStorage:
        """A storage with the elements that a buffer holds; see ``TypedStorage.from_buffer``."""
        return TypedStorage.from_buffer(*args, dtype=cls.dtype, **kwargs)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


FloatStorage: StorageType = StorageType("FloatStorage", fb.float32)
DoubleStorage: StorageType = StorageType("DoubleStorage", fb.float64)
HalfStorage: StorageType = StorageType("HalfStorage", fb.float16)
BFloat16Storage: StorageType = StorageType("BFloat16Storage", fb.bfloat16)
ByteStorage: StorageType = StorageType("ByteStorage", fb.uint8)
CharStorage: StorageType = StorageType("CharStorage", fb.int8)
ShortStorage: StorageType = StorageType("ShortStorage", fb.int16)
IntStorage: StorageType = StorageType("IntStorage", fb.int32)
LongStorage: StorageType = StorageType("LongStorage", fb.int64)
BoolStorage: StorageType = StorageType("BoolStorage", fb.bool)
ComplexFloatStorage: StorageType = StorageType("ComplexFloatStorage", fb.complex64)
ComplexDoubleStorage: StorageType = StorageType("ComplexDoubleStorage", fb.complex128)
Storage = FloatStorage

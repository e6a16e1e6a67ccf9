"""Storages: the memory behind tensors as an object of its own.

There is one ``UntypedStorage`` object per storage as long as anybody holds it, so that tensors
that share memory still do after pickling or ``deepcopy``.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor

__all__ = [
    "TypedStorage",
    "UntypedStorage",
    "is_storage",
]

_alive: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()


class UntypedStorage:
    """The bytes behind one or more tensors."""

    __slots__ = ("__weakref__", "_holder")

    _holder: Tensor  # any tensor on the storage; keeps it alive

    def __new__(cls, size: int = 0, *, device: Any = None) -> UntypedStorage:
        return untyped_storage(fb.empty(size, dtype=fb.uint8, device=device))

    @property
    def _bytes(self) -> Tensor:
        """All of the memory as a tensor; rebuilt each time because a storage can be resized."""
        made = _C._storage_bytes(self._holder)
        return made.as_subclass(type(self._holder)) if self._holder.is_meta else made

    @property
    def device(self) -> fb.device:
        return self._holder.device

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    def nbytes(self) -> int:
        return self._bytes.numel()

    def size(self) -> int:
        return self.nbytes()

    def __sizeof__(self) -> int:
        """``sys.getsizeof``: includes the elements."""
        return super().__sizeof__() + self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def element_size(self) -> int:
        return 1

    def data_ptr(self) -> int:
        return self._bytes.data_ptr()

    def resizable(self) -> bool:
        return _C._storage_is_resizable(self._holder)

    def resize_(self, size: int) -> UntypedStorage:
        """Resize the storage to ``size`` bytes, keeping its contents; its tensors see that."""
        _C._resize_storage(self._holder, size)
        return self

    def is_shared(self) -> bool:
        """Return whether the memory is shared with other processes."""
        return self._holder.is_shared()

    def share_memory_(self) -> UntypedStorage:
        """Move the bytes to shared memory; tensors follow them there."""
        _C._share_memory(self._holder)
        return self

    def _share_fd_cpu_(self) -> tuple[int, int]:
        """Return the descriptor of the memory's file, which keeps owning it, and the size."""
        self.share_memory_()
        return _C._shared_file(self._holder), self.nbytes()

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = None) -> UntypedStorage:
        """Make a new storage in shared memory."""
        return untyped_storage(_C._new_shared(size))

    @classmethod
    def _new_shared_fd_cpu(cls, fd: int, size: int) -> UntypedStorage:
        """The bytes of a file that another process has made; the descriptor stays the caller's."""
        return untyped_storage(_C._attach_shared(fd, size))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Map a file; shared mappings are written back, and create the file if needed."""
        import mmap  # rarely needed

        with open(filename, "a+b" if shared else "rb") as file:
            size = file.seek(0, 2)
            if shared and size < nbytes:
                file.truncate(nbytes)
            elif size < nbytes:
                raise RuntimeError(
                    f"UntypedStorage.from_file: {filename!r} has {size} bytes, expected {nbytes}"
                )
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            contents = mmap.mmap(file.fileno(), nbytes, access=access)
        return untyped_storage(fb.frombuffer(contents, dtype=fb.uint8))

    def is_pinned(self) -> bool:
        return self._bytes.is_pinned()

    def tolist(self) -> list[int]:
        values: list[int] = self._bytes.tolist()
        return values

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            return self._bytes[index].item()
        return untyped_storage(self._bytes[index].clone())

    def __setitem__(self, index: Any, value: Any) -> None:
        self._bytes[index] = value

    def fill_(self, value: int) -> UntypedStorage:
        self._bytes.fill_(value)
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> UntypedStorage:
        self._bytes.copy_(source._bytes)
        return self

    def clone(self) -> UntypedStorage:
        return untyped_storage(self._bytes.clone())

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """Return the bytes on a device: this storage itself if they are there already."""
        moved = self._bytes.to(device, non_blocking=non_blocking)
        return self if moved.device == self.device else untyped_storage(moved)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> UntypedStorage:
        """Return the bytes on a GPU, by default on the current one."""
        place = fb.device("cuda" if device is None else device)
        return self.to(device=place, non_blocking=non_blocking)

    def cpu(self) -> UntypedStorage:
        return self if self.device.type == "cpu" else untyped_storage(self._bytes.cpu())

    def untyped(self) -> UntypedStorage:
        return self

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> UntypedStorage:
        return self.clone()

    def __reduce_ex__(self, protocol: Any) -> Any:
        contents = self.cpu()._bytes
        if self.device.type != "cpu":
            return _from_bytes, (bytearray(memoryview(contents)), str(self.device))
        if protocol >= 5:  # may be passed out of band, without a copy
            from pickle import PickleBuffer  # only pickling needs it: `import flambeau` does not

            return _from_buffer, (PickleBuffer(contents),)
        return _from_buffer, (bytearray(memoryview(contents)),)

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self)
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage:
    """An untyped storage seen as elements of one type, one after the other."""

    __slots__ = ("_untyped_storage", "dtype")

    _untyped_storage: UntypedStorage
    dtype: fb.dtype

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: fb.dtype | None = None,
        device: Any = None,
    ) -> None:
        """Wrap an untyped storage, or make one: of no elements, of a number of them, of values."""
        self.dtype = fb.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            wrap_storage = _new_storage(args, self.dtype, device)
        self._untyped_storage = wrap_storage

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: fb.dtype | None = None,
    ) -> TypedStorage:
        """Copy ``count`` elements from a buffer, from the byte ``offset`` on."""
        kind = fb.get_default_dtype() if dtype is None else dtype
        contents = _bytes_of_buffer(buffer, kind, byte_order, count, offset)
        return cls(wrap_storage=untyped_storage(contents), dtype=kind)

    @property
    def _elements(self) -> Tensor:
        whole = self._untyped_storage._bytes
        count = whole.numel() // self.element_size()
        return window_on(whole, self.dtype, 0, (count,), (1,))

    @property
    def device(self) -> fb.device:
        return self._untyped_storage.device

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    def element_size(self) -> int:
        return self.dtype.itemsize

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        return self.nbytes() // self.element_size()

    __len__ = size

    def data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def is_shared(self) -> bool:
        """Return whether the memory is shared with other processes."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """Move the elements to shared memory."""
        self._untyped_storage.share_memory_()
        return self

    def tolist(self) -> list[Any]:
        values: list[Any] = self._elements.tolist()
        return values

    def __iter__(self) -> Any:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        picked = self._elements[index]
        return picked.item() if picked.dim() == 0 else picked.tolist()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements[index] = value

    def fill_(self, value: Any) -> TypedStorage:
        self._elements.fill_(value)
        return self

    def resize_(self, size: int) -> TypedStorage:
        self._untyped_storage.resize_(size * self.element_size())
        return self

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        self._elements.copy_(source._elements)
        return self

    def clone(self) -> TypedStorage:
        return self.to(self.dtype)

    def to(self, dtype: fb.dtype) -> TypedStorage:
        """Return the elements in new memory, as another type."""
        copied = self._elements.to(dtype, copy=True)
        return TypedStorage(wrap_storage=untyped_storage(copied), dtype=dtype)

    def cpu(self) -> TypedStorage:
        return self if self.device.type == "cpu" else typed_storage(self._elements.cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> TypedStorage:
        """Return the elements on a GPU, by default on the current one."""
        moved = self._untyped_storage.cuda(device, non_blocking)
        return TypedStorage(wrap_storage=moved, dtype=self.dtype)

    @property
    def is_cuda(self) -> bool:
        return self._untyped_storage.is_cuda

    def pickle_storage_type(self) -> str:
        """Return the name of the old class for storages of this type: ``FloatStorage``."""
        from flambeau.serialization._names import STORAGE_KINDS

        return STORAGE_KINDS[self.dtype].name

    def __repr__(self) -> str:
        lines = "".join(f" {value}\n" for value in self)
        kind = f"torch.storage.TypedStorage(dtype={self.dtype}, device={self.device})"
        return f"{lines}[{kind} of size {len(self)}]"


def window_on(
    whole: Tensor, dtype: fb.dtype, offset: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """Make a tensor on the storage whose bytes are ``whole``."""
    made = _C._tensor_on_storage(whole, dtype, offset, size, stride)
    return made.as_subclass(type(whole)) if whole.is_meta else made


def untyped_storage(tensor: Tensor) -> UntypedStorage:
    """``Tensor.untyped_storage``: the storage behind the tensor."""
    address = _C._storage_address(tensor)
    storage = _alive.get(address)
    if storage is None:
        storage = object.__new__(UntypedStorage)
        storage._holder = _C._storage_bytes(tensor)
        if tensor.is_meta:
            storage._holder = storage._holder.as_subclass(type(tensor))
        _alive[address] = storage
    return storage


def typed_storage(tensor: Tensor) -> TypedStorage:
    """Return the storage behind the tensor, as elements of the tensor's type.

    This is ``Tensor.storage``. Views of a tensor have the same storage.

    Args:
        tensor: The tensor.

    Example:
        >>> x = torch.tensor([[1, 2], [3, 4]])
        >>> x[1].storage().tolist()
        [1, 2, 3, 4]

    See also:
        `Tensor.untyped_storage`.
    """
    return TypedStorage(wrap_storage=untyped_storage(tensor), dtype=tensor.dtype)


def set_(
    tensor: Tensor,
    source: Any = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> Tensor:
    """``Tensor.set_``: make a tensor a window on the memory of another tensor or of a storage."""
    _C._note_read("set_", tensor)
    if source is None:
        window = fb.empty(0, dtype=tensor.dtype, device=tensor.device)
    elif isinstance(source, Tensor) and size is None:
        window = source
    else:
        if isinstance(source, Tensor):
            source = untyped_storage(source)
        memory = source.untyped()._bytes
        if size is None:
            size = (memory.numel() // tensor.element_size() - storage_offset,)
        if stride is None:
            stride = tuple(math.prod(size[dim + 1 :]) for dim in range(len(size)))
        window = window_on(memory, tensor.dtype, storage_offset, size, stride)
    if tensor.grad_fn is not None and fb.is_grad_enabled():
        raise NotImplementedError("the derivative for 'set_' is not implemented.")
    if window.dtype != tensor.dtype:
        raise RuntimeError(f"set_: expected a source of {tensor.dtype}, got {window.dtype}")
    if tensor.requires_grad and tensor.is_leaf and _C.is_grad_enabled():
        raise RuntimeError(
            "set_: a leaf Variable that requires grad is being used in an in-place operation."
        )
    _C._move_to(tensor, window)
    return tensor


def is_storage(obj: Any, /) -> bool:
    """Whether ``obj`` is a storage."""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def _new_storage(args: tuple[Any, ...], dtype: fb.dtype, device: Any) -> UntypedStorage:
    if len(args) > 1:
        raise RuntimeError(
            "TypedStorage: expected a number of elements or a sequence of values, "
            f"got {len(args)} arguments"
        )
    if not args or isinstance(args[0], int):
        return untyped_storage(fb.empty(*(args or (0,)), dtype=dtype, device=device))
    if isinstance(args[0], (bytes, str)):
        raise TypeError(f"new(): invalid data type {type(args[0]).__name__!r}")
    return untyped_storage(fb.tensor(args[0], dtype=dtype, device=device))


def _bytes_of_buffer(
    buffer: Any, dtype: fb.dtype, byte_order: str | None, count: int, offset: int
) -> Tensor:
    """Copy some elements of a buffer as bytes in native order."""
    if byte_order is None and dtype not in (fb.uint8, fb.int8):
        raise RuntimeError("from_buffer: function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "big", "little", "native"):
        raise ValueError(
            f"invalid byte_order {byte_order!r} (expected 'big', 'little', or 'native')"
        )
    view = memoryview(buffer).cast("B")[offset:]
    if count < 0 and len(view) % dtype.itemsize:
        raise ValueError(
            f"buffer size ({len(view)}) must be a multiple of element size ({dtype.itemsize})"
        )
    size = len(view) if count < 0 else count * dtype.itemsize
    if size > len(view):
        raise ValueError(
            f"buffer has only {len(view)} bytes after offset {offset}, "
            f"but {count} elements of {dtype} take {size}"
        )
    contents = fb.frombuffer(bytearray(view[:size]), dtype=fb.uint8) if size else fb.empty(0)
    part = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
    if byte_order not in (None, "native", sys.byteorder):
        contents = contents.reshape(-1, part).flip(1).reshape(-1)
    return contents


def _from_bytes(contents: bytearray, device: str) -> UntypedStorage:
    if not contents:
        return UntypedStorage(0, device=device)
    return untyped_storage(fb.frombuffer(contents, dtype=fb.uint8).to(device))


def _from_buffer(buffer: Any) -> UntypedStorage:
    if isinstance(buffer, Tensor):
        return untyped_storage(buffer)
    view = memoryview(buffer)
    if view.nbytes == 0:
        return UntypedStorage(0)
    # A pickle that came as bytes must not be written to.
    owned = bytearray(view) if view.readonly else view
    return untyped_storage(fb.frombuffer(owned, dtype=fb.uint8))

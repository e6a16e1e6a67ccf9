"""What the pickles in checkpoints call, under PyTorch's names; every argument is checked.

The arguments come from a file that may be damaged or hostile, so nothing here trusts them: sizes
and offsets are held against the storage, and attributes are only set on objects made here.
"""

from __future__ import annotations

import contextlib
import functools
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._core.storage import window_on
from flambeau.nn.parameter import Parameter

__all__: list[str] = []


class _Waiting(NamedTuple):
    """The state of storages that are read later than they are named."""

    fill: Callable[[], None] | None  # reads those that were named so far, if that can be done
    acts: list[Callable[[], object]]  # what has to be done afterwards


_waiting: ContextVar[_Waiting | None] = ContextVar("_waiting", default=None)


@contextlib.contextmanager
def storages_come_later(fill: Callable[[], None] | None = None) -> Iterator[Callable[[], None]]:
    """A block in which storages of new tensors are empty; yields what to call afterwards."""
    waiting = _Waiting(fill, [])
    token = _waiting.set(waiting)

    def act() -> None:
        for each in waiting.acts:
            each()

    try:
        yield act
    finally:
        _waiting.reset(token)


def _have_values() -> bool:
    """Return whether elements of tensors can be read; read them now if they were not."""
    waiting = _waiting.get()
    if waiting is not None and waiting.fill is not None:
        waiting.fill()
    return waiting is None or waiting.fill is not None


def _when_filled(act: Callable[[], object]) -> None:
    """Run what needs the elements of tensors, now or as soon as they are there."""
    waiting = _waiting.get()
    if _have_values() or waiting is None:
        act()
    else:
        waiting.acts.append(act)


def _ints(values: Any, what: str) -> tuple[int, ...]:
    if isinstance(values, (tuple, list)) and set(map(type, values)) <= {int}:
        return tuple(values)
    raise RuntimeError(f"a tensor's {what} must be a tuple of integers, got {_kind(values)}")


def _kind(value: Any) -> str:
    return type(value).__name__


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """A view of a typed storage."""
    if not isinstance(storage, fb.TypedStorage):
        raise RuntimeError(f"a tensor lies on a typed storage, not on {_kind(storage)}")
    return _rebuild_on(storage.untyped(), storage.dtype, storage_offset, size, stride)


def _rebuild_on(
    storage: fb.UntypedStorage, dtype: fb.dtype, offset: Any, size: Any, stride: Any
) -> Tensor:
    if type(offset) is not int:
        raise RuntimeError(f"a tensor's offset must be an integer, got {_kind(offset)}")
    sizes, strides = _ints(size, "size"), _ints(stride, "stride")
    return window_on(storage._bytes, dtype, offset, sizes, strides)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """Rebuild a tensor of the usual element types."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    return _finished(tensor, requires_grad, metadata)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """Rebuild a tensor on an untyped storage, with the element type beside it."""
    if not isinstance(storage, fb.UntypedStorage) or not isinstance(dtype, fb.dtype):
        raise RuntimeError(
            f"expected an untyped storage and a dtype, got {_kind(storage)} and {_kind(dtype)}"
        )
    tensor = _rebuild_on(storage, dtype, storage_offset, size, stride)
    return _finished(tensor, requires_grad, metadata)


def _finished(tensor: Tensor, requires_grad: Any, metadata: Any) -> Tensor:
    if isinstance(metadata, dict):  # the lazy flags of PyTorch: conjugation and negation
        tensor = _computed(tensor, bool(metadata.get("conj")), bool(metadata.get("neg")))
    return tensor.requires_grad_() if requires_grad is True else tensor


# Storages with the flags of their tensors applied, as long as the storages live.
_computed_storages: WeakKeyDictionary[Any, dict[tuple[Any, ...], Tensor]] = WeakKeyDictionary()


def _computed(tensor: Tensor, conj: bool, neg: bool) -> Tensor:
    """The same view of a copy of the storage, with the flags applied.

    One copy serves all tensors with these flags on the storage. Copies of views could be larger
    than the storage, which they may cover many times, and as many as the file has tensors.
    """
    storage = tensor.untyped_storage()
    copies = _computed_storages.setdefault(storage, {})
    key = (tensor.dtype, conj, neg)
    if key not in copies:
        count = storage.nbytes() // tensor.dtype.itemsize
        source = tensor.detach().as_strided((count,), (1,), 0)
        copies[key] = fb.empty_like(source)
        _when_filled(functools.partial(_compute, copies[key], source, conj, neg))
    return copies[key].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _compute(result: Tensor, source: Tensor, conj: bool, neg: bool) -> None:
    value = source.conj() if conj else source
    result.copy_(value.neg() if neg else value)


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Parameter:
    """A parameter on the memory of ``data``."""
    if not isinstance(data, Tensor):
        raise RuntimeError(f"a parameter is made of a tensor, not of {_kind(data)}")
    return Parameter(data, requires_grad=requires_grad is True)


def _rebuild_parameter_with_state(
    data: Any, requires_grad: Any, backward_hooks: Any, state: Any
) -> Parameter:
    """A parameter that programs have given attributes."""
    parameter = _rebuild_parameter(data, requires_grad, backward_hooks)
    _set_attributes(parameter, state)
    return parameter


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Tensor:
    """A tensor of a subclass, or one that programs have given attributes."""
    if not any(func is builder for builder in TENSOR_BUILDERS) or not isinstance(args, tuple):
        raise RuntimeError("a tensor of a subclass must be made of a tensor")
    if not isinstance(new_type, type) or not issubclass(new_type, Tensor):
        raise RuntimeError("the class of a tensor must be a subclass of Tensor")
    tensor: Tensor = func(*args)
    if type(tensor) is not new_type:
        tensor = tensor.as_subclass(new_type)
    own = getattr(new_type, "__setstate__", None)
    if own is not None and own is not getattr(Tensor, "__setstate__", None):
        own(tensor, state)
    else:
        _set_attributes(tensor, state)
    return tensor


def _set_attributes(target: Tensor, state: Any) -> None:
    """Set the state as ``pickle`` does: a dictionary, or one with the values of slots beside it."""
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for values in (attributes, slots):
        if values is None:
            continue
        if not isinstance(values, dict) or not all(type(name) is str for name in values):
            raise RuntimeError("the attributes of a tensor must be a dictionary with names as keys")
    target.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Tensor:
    """A tensor of indices and values."""
    if layout is not fb.sparse_coo or not isinstance(data, tuple) or len(data) not in (3, 4):
        raise RuntimeError(
            f"tensors of layout {layout} cannot be loaded; save them as tensor.to_dense()"
        )
    indices, values, size, *coalesced = data
    if not isinstance(indices, Tensor) or not isinstance(values, Tensor):
        raise RuntimeError("a sparse tensor is made of two tensors")
    if indices.numel() * indices.element_size() > indices.untyped_storage().nbytes():
        raise RuntimeError(
            f"a sparse tensor has {indices.numel()} indices, its storage holds "
            f"{indices.untyped_storage().nbytes()} bytes"
        )
    make = functools.partial(_C._sparse_coo_tensor, indices, values, _ints(size, "size"))
    if _have_values():
        return make(coalesced == [True])
    # Indices of zeros are neither wrong nor sorted; those that take their place are checked.
    indices.detach().zero_()
    _when_filled(make)
    return make(False)


def _rebuild_meta_tensor_no_storage(
    dtype: Any, size: Any, stride: Any, requires_grad: Any
) -> Tensor:
    """A tensor without elements."""
    if not isinstance(dtype, fb.dtype):
        raise RuntimeError(f"expected a dtype, got {_kind(dtype)}")
    sizes, strides = _ints(size, "size"), _ints(stride, "stride")
    made = fb.empty_strided(sizes, strides, dtype=dtype, device="meta")
    return made.requires_grad_() if requires_grad is True else made


def _get_layout(name: Any) -> fb.layout:
    """The layout called ``name``, such as ``"torch.strided"``."""
    layout = getattr(fb, str(name).removeprefix("torch."), None)
    if not isinstance(layout, fb.layout):
        raise RuntimeError(f"there is no layout {name!r}")
    return layout


TENSOR_BUILDERS = (
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_meta_tensor_no_storage,
)


def encode(text: Any, encoding: Any = "latin1") -> bytes:
    """``_codecs.encode``, which is how old protocols write bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1", "utf-8", "utf8"):
        raise RuntimeError("bytes are written as text in latin1 or utf-8")
    return text.encode(encoding)


def make_bytearray(contents: Any = b"", encoding: Any = None) -> bytearray:
    """A ``bytearray`` of given bytes; of a length alone it could be of any size."""
    if isinstance(contents, str):
        contents = encode(contents, encoding)
    if not isinstance(contents, (bytes, bytearray)):
        raise RuntimeError(f"a bytearray is made of bytes, not of {_kind(contents)}")
    return bytearray(contents)


def make_bytes(contents: Any = b"") -> bytes:
    """Bytes, which old protocols write as a call when they are empty."""
    return bytes(make_bytearray(contents))


def make_complex(real: Any = 0.0, imag: Any = 0.0) -> complex:
    """A complex number of its two parts."""
    if not isinstance(real, (int, float)) or not isinstance(imag, (int, float)):
        raise RuntimeError("a complex number is made of two numbers")
    return complex(real, imag)


def make_size(sizes: Any = ()) -> fb.Size:
    """The shape of a tensor."""
    return fb.Size(_ints(sizes, "size"))


def make_device(name: Any, index: Any = None) -> fb.device:
    """A device of its name and number."""
    if not isinstance(name, str) or not (index is None or type(index) is int):
        raise RuntimeError("a device is made of a name and a number")
    return fb.device(name) if index is None else fb.device(name, index)


def make_ordered_dict(items: Any = ()) -> OrderedDict[Any, Any]:
    """An ordered dictionary of pairs."""
    made: OrderedDict[Any, Any] = OrderedDict()
    for key, value in items.items() if isinstance(items, dict) else items:
        check_key(key)
        made[key] = value
    return made


def make_counter(counts: Any = ()) -> Counter[Any]:
    """Counted things, from a dictionary."""
    made: Counter[Any] = Counter()
    made.update(make_ordered_dict(counts))
    return made


def make_set(members: Any = ()) -> set[Any]:
    """A set of given members."""
    for member in members:
        check_key(member)
    return set(members)


_PLAIN_KEYS = frozenset({str, int, float, bool, bytes, complex, type(None)})
_LARGEST_KEY = 1000


def check_key(key: Any) -> None:
    """Refuse a tuple that has no end: hashing visits all its parts, over and over if shared."""
    if type(key) in _PLAIN_KEYS:
        return
    left = _LARGEST_KEY
    waiting = [key]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (tuple, frozenset)):
            left -= len(part)
            if left < 0:
                raise RuntimeError(f"a key has more than {_LARGEST_KEY} parts")
            waiting.extend(part)

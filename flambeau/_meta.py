"""The device ``meta``: tensors with a shape and a type, but without elements.

A model made there takes no memory: ``with torch.device("meta"): Model()``. It is used to see
shapes, and to load weights into a model that was never initialised.

Such a tensor is an object of a subclass whose ``__torch_function__`` answers for every function.
Behind it lie pages of zeros that the operating system has promised and never has to give, so that
an operator can be called on them to see what it returns; what changes elements in place does
nothing.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._printing import PLAIN_TYPES
from flambeau.overrides import TorchFunctionMode
from flambeau.utils._pytree import tree_flatten, tree_map

__all__ = ["MetaTensor", "OnDevice", "call_on_meta"]

META = fb.device("meta")

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_PAGE = mmap.PAGESIZE


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READ_ELEMENTS = _words(
    "item tolist numpy __array__ __bool__ __int__ __float__ __complex__ __index__ __contains__ "
    "equal allclose nonzero masked_select unique cpu __dlpack__"
)
# In place, yet not on elements.
_CHANGE_THE_TENSOR = _words(
    "requires_grad_ detach_ unsqueeze_ squeeze_ t_ transpose_ swapaxes_ swapdims_ as_strided_ "
    "share_memory_"
)
_IN_PLACE = frozenset(
    f"__i{name}__"
    for name in _words("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift")
)
_CREATE = _words(
    "arange asarray as_tensor bartlett_window blackman_window empty empty_permuted empty_strided "
    "eye full hamming_window hann_window kaiser_window linspace logspace normal ones rand randint "
    "randn randperm range scalar_tensor tensor tril_indices triu_indices zeros"
)
# Functions whose first arguments are the size of what they make: nothing need be computed.
_OF_A_SIZE = _words("empty zeros ones rand randn")
# Functions that are asked for what another one returns, which makes no elements.
_NEW = _words("dtype requires_grad")
_LIKE = _words("zeros_like ones_like rand_like randn_like clone")
_CASTS = {
    "half": fb.float16,
    "bfloat16": fb.bfloat16,
    "float": fb.float32,
    "double": fb.float64,
    "int": fb.int32,
    "long": fb.int64,
    "bool": fb.bool,
}


class MetaTensor(Tensor):
    """A tensor without elements."""

    def __new__(cls, data: Any = None, requires_grad: bool | None = None) -> Any:
        # Parameters on `meta` are of this class too, and packages call the class of a parameter
        # to put one with elements in its place.
        if requires_grad is None:
            return Tensor() if data is None else Tensor(data)
        return fb.nn.Parameter(data, requires_grad)

    device = property(lambda self: META)
    is_meta = property(lambda self: True)
    is_cpu = property(lambda self: False)

    def data_ptr(self) -> int:
        return 0

    def __repr__(self, **options: Any) -> str:
        text = super().__repr__(**options)
        return f"Parameter containing:\n{text}" if hasattr(self, "_is_param") else text

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        copied = memo.setdefault(id(self), self.detach().requires_grad_(self.requires_grad))
        vars(copied).update(vars(self))
        return copied

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        device = _taken_device(name, args, kwargs)
        if name == "__get__":  # of an attribute: what the class does not answer itself
            value = _as_it_is(func, args, kwargs)
            return _without_elements(value, {_home(args[0])}) if _is_plain(value) else value
        if name in _READ_ELEMENTS or (device is not None and name == "to"):
            raise _no_elements(name, device)
        if _changes_elements(name):
            return _unchanged(name, args)
        if device is not None:  # made elsewhere, after the shape of this one
            return _as_it_is(func, args, {**kwargs, "device": device})
        return call_on_meta(func, args, kwargs)


PLAIN_TYPES.add(MetaTensor)


def call_on_meta(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """What a function returns, without elements, for arguments of which some are on ``meta``."""
    name = getattr(func, "__name__", "")
    kwargs = {key: value for key, value in kwargs.items() if not _is_meta(value)}
    if (made := _made(name, args, kwargs)) is not None:
        return made
    if name == "to":
        return _to(args[0], [each for each in args[1:] if not _is_meta(each)], kwargs)
    if name in _CASTS:
        return _cast(args[0], _CASTS[name])
    if name in _LIKE:
        func = fb.empty_like
        kwargs.pop("generator", None)
    given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, Tensor)]
    _check_places(name, given)
    result = _as_it_is(func, args, kwargs)
    homes = {_home(each) for each in given if isinstance(each, MetaTensor)}
    return tree_map(lambda each: _without_elements(each, homes), result)


def _of_a_size(sizes: Any, kwargs: dict[str, Any]) -> Tensor:
    """What ``empty`` makes, of a size that no memory may have room for."""
    size = kwargs.get("size", sizes[0] if len(sizes) == 1 else sizes)
    shape = fb.Size([size] if isinstance(size, int) else size)
    options = {key: value for key, value in kwargs.items() if key not in ("size", "generator")}
    model = fb.empty(fb.Size(min(each, 2) for each in shape), **options)  # refuses what is wrong
    if model.layout != fb.strided:
        return model
    last = options.get("memory_format") in (fb.channels_last, fb.channels_last_3d)
    inward = [0, *range(2, len(shape)), 1] if last else range(len(shape))
    strides, step = [0] * len(shape), 1
    for dim in reversed(inward):
        strides[dim] = step
        step *= max(shape[dim], 1)
    made: Tensor = _promised(shape, strides, model.dtype)
    return made.requires_grad_(model.requires_grad)


def _made(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A new tensor of which nothing but the size has to be known; None for other calls."""
    if name in _OF_A_SIZE:
        return _of_a_size(args, kwargs)
    if name == "full" and len(args) == 2:
        return _of_a_size(args[:1], {"dtype": fb.full((), args[1]).dtype, **kwargs})
    if not isinstance(args[0] if args else None, MetaTensor):
        return None
    if name in ("new_empty", "new_zeros", "new_ones"):
        return _of_a_size(args[1:], {"dtype": args[0].dtype, **kwargs})
    if name not in ("empty_like", *_LIKE) or len(args) != 1 or kwargs.keys() - _NEW:
        return None
    if not args[0].is_contiguous() or args[0].requires_grad:  # the operator knows what comes out
        return None
    return _of_a_size((args[0].shape,), {"dtype": args[0].dtype, **kwargs})


def _to(tensor: Tensor, args: list[Any], kwargs: dict[str, Any]) -> Tensor:
    """``tensor.to("meta", ...)``, or to another type there."""
    others = [each.dtype if isinstance(each, Tensor) else each for each in args]
    dtype = kwargs.get("dtype", next((each for each in others if isinstance(each, fb.dtype)), None))
    return _cast(tensor, dtype or tensor.dtype)


def _cast(tensor: Tensor, dtype: fb.dtype) -> Tensor:
    if isinstance(tensor, MetaTensor) and dtype == tensor.dtype:
        return tensor
    made: Tensor = _promised(tensor.shape, tensor.stride(), dtype)
    return made.requires_grad_(tensor.requires_grad and dtype.is_floating_point)


def _as_it_is(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    with _C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def _is_plain(value: Any) -> bool:
    """Whether it is a tensor that has not yet been said to have no elements."""
    return isinstance(value, Tensor) and not isinstance(value, MetaTensor)


def _is_meta(value: Any) -> bool:
    return value == "meta" or (isinstance(value, fb.device) and value.type == "meta")


def _taken_device(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """The device that a call names, if it is another one; it is no longer among the arguments."""
    if name not in ("to", "empty_like", *_LIKE) and not name.startswith("new_"):
        return None
    places = [kwargs.pop("device", None)]
    if name == "to":
        places += [each for each in args[1:] if isinstance(each, (str, fb.device))]
        places += [each.device for each in args[1:] if isinstance(each, Tensor)]
    return next((place for place in places if place is not None and not _is_meta(place)), None)


def _changes_elements(name: str) -> bool:
    if name == "__setitem__" or name in _IN_PLACE:
        return True
    return name.endswith("_") and not name.startswith("__") and name not in _CHANGE_THE_TENSOR


def _unchanged(name: str, args: Any) -> Any:
    if not isinstance(args[0], MetaTensor):  # elements that are to come from nowhere
        raise _no_elements(name, args[0].device)
    return None if name == "__setitem__" else args[0]


def _no_elements(name: str, device: Any) -> Exception:
    if name in ("to", "cpu", "copy_", "__setitem__"):
        return NotImplementedError(
            f"{name}: a meta tensor has no elements to copy to {device or 'the CPU'}; "
            "torch.nn.Module.to_empty() moves a module without them"
        )
    return RuntimeError(f"Tensor.{name}() cannot be called on meta tensors: they have no elements")


def _check_places(name: str, given: list[Tensor]) -> None:
    if all(isinstance(each, MetaTensor) or each.dim() == 0 for each in given):
        return
    if any(isinstance(each, MetaTensor) for each in given):
        raise RuntimeError(
            f"{name}: expected all tensors to be on the same device, "
            "but found at least two devices, meta and cpu"
        )


def _home(tensor: Tensor) -> int:
    return int(Tensor.untyped_storage(tensor.as_subclass(Tensor)).data_ptr())


def _without_elements(value: Any, homes: set[int]) -> Any:
    """A tensor of a result on ``meta``; a view of one that is there shares its promised pages."""
    if not isinstance(value, Tensor):
        return value
    with _C.DisableTorchFunctionSubclass():
        if value.numel() and _home(value) in homes:
            return value if isinstance(value, MetaTensor) else value.as_subclass(MetaTensor)
        made = _promised(value.shape, value.stride(), value.dtype)
        return made.requires_grad_(value.requires_grad)


def _promised(shape: Any, strides: Any, dtype: fb.dtype) -> Any:
    """Zeros that take no memory until they are written to, which nobody does."""
    # Of a tensor without elements, strides say nothing about its memory.
    steps = [(size - 1) * step for size, step in zip(shape, strides, strict=True)]
    extent = 1 if 0 in shape else 1 + sum(steps)
    with _C.DisableTorchFunctionSubclass(), _C.DisableTorchFunction():
        if 0 in shape or extent * dtype.itemsize <= _PAGE:
            zeros = fb.zeros(extent, dtype=dtype)
        else:
            size = math.ceil(extent * dtype.itemsize / _PAGE) * _PAGE
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
            try:
                pages = mmap.mmap(-1, size, flags)
            except (OSError, OverflowError) as error:
                raise fb.OutOfMemoryError(
                    f"a tensor on meta of {tuple(shape)} needs {size} bytes of addresses, more "
                    "than a process can have; make it smaller, or of several tensors"
                ) from error
            zeros = fb.frombuffer(pages, dtype=dtype, count=extent)
        return Tensor._make_subclass(MetaTensor, zeros.as_strided(shape, strides))


class OnDevice(TorchFunctionMode):
    """New tensors live on a device, unless the call says where: ``with torch.device(...)``."""

    def __init__(self, device: fb.device) -> None:
        self.device = device

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in _CREATE and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)

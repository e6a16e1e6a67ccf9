"""Tensor methods written in Python: protocols of the language and of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flambeau import _C, Tensor
from flambeau._core import legacy, pickling, storage
from flambeau._core.interop import cuda_array_interface, dlpack_capsule, dlpack_device
from flambeau._core.overriding import overridable, torch_function
from flambeau._limits.refusing import refused_in

__all__ = ["is_tensor"]


def is_tensor(obj: object, /) -> bool:
    """Return whether an object is a tensor.

    Args:
        obj: Any object.

    Example:
        >>> torch.is_tensor(torch.ones(2)), torch.is_tensor([1.0])
        (True, False)
    """
    return isinstance(obj, Tensor)


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """Convert to a NumPy array, which shares the tensor's memory unless a copy is needed."""
    array = self.numpy()
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"a copy is needed to make an array of {dtype} of this tensor")
        return array.astype(dtype)
    return array.copy() if copy else array


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """Convert results of NumPy functions back to tensors."""
    return _C.from_numpy(array)


def _iter(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _reversed(self: Tensor) -> Tensor:
    return self if self.dim() == 0 else self.flip(0)


def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex)):
        return bool((self == element).any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def _format(self: Tensor, spec: str) -> str:
    if self.dim() == 0 and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


def _complex(self: Tensor) -> complex:
    return complex(self.item())


def _cuda(self: Tensor, device: Any = None, non_blocking: bool = False, **options: Any) -> Tensor:
    """Return the tensor on a GPU.

    Args:
        device: The GPU. Default: the current one.
        non_blocking: Whether the copy may run in the background. Default: False.
        **options: Further options of `Tensor.to`.

    Example:
        >>> x = torch.ones(2)
        >>> if torch.cuda.is_available():
        ...     x = x.cuda()

    See also:
        `Tensor.to`, `Tensor.cpu`.
    """
    place = _C.device("cuda" if device is None else device)
    if place.type != "cuda":
        raise RuntimeError(f"cuda: expected a cuda device, got {place}")
    return self.to(place, non_blocking=non_blocking, **options)


def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Return the elements in page-locked memory, which a GPU reads directly. It needs a GPU.

    Args:
        device: Deprecated.

    Raises:
        RuntimeError: There is no GPU.

    Example:
        >>> x = torch.ones(2)
        >>> x = x.pin_memory() if torch.cuda.is_available() else x
    """
    if not _C._cuda_device_count():
        raise RuntimeError("pin_memory: page-locked memory needs a GPU, and there is none here")
    return self if _C._cuda_is_pinned(self) else _C._cuda_pin(self)


def _record_stream(self: Tensor, stream: Any) -> None:
    """Keep the memory until the work in a GPU stream is done with it."""
    if not self.is_cuda:
        raise RuntimeError(f"record_stream: expected a tensor on a GPU, got one on {self.device}")
    _C._cuda_record_stream(self, stream.cuda_stream)


def _describe(self: Tensor) -> Any:
    """Describe the tensor in one line: range, mean, deviation, counts of NaN, infinity and zero.

    Range, mean and deviation are those of the finite elements.

    Returns:
        A `Description`, with the attributes `shape`, `dtype`, `device`, `nbytes`, `requires_grad`,
        `min`, `max`, `mean`, `std`, `nan`, `inf`, `zeros` and `numel`.

    Example:
        >>> torch.tensor([1.0, 0.0, 3.0, float("nan")]).describe()
        float32 4 | range 0 .. 3 | mean 1.333, std 1.247 | zero 25 % | nan 1, inf 0 | 16 B
        >>> torch.tensor([1.0, 3.0]).describe().mean
        2.0
    """
    from flambeau._display.describe import describe  # rarely needed

    return describe(self)


def _share_memory_(self: Tensor) -> Tensor:
    """Move the elements to memory that other processes can see, in place.

    Returns:
        The tensor.

    Example:
        >>> torch.ones(2).share_memory_().is_shared()
        True

    See also:
        `torch.multiprocessing`.
    """
    _C._share_memory(self)
    return self


def _new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Make a tensor of the same type, the old way. Prefer `new_empty` and `new_tensor`.

    Args:
        *args: Sizes, or a sequence of values.
        device: Where it lives; must be of the kind of this one. Default: that of this one.

    Example:
        >>> torch.ones(2).new([1, 2])
        tensor([1., 2.])
    """
    return legacy.construct(self.dtype, args, device, self.device)


def _dequantize(self: Tensor) -> Tensor:
    """The elements as float32: no tensor is quantized."""
    return self.to(_C.float32)


def _complex_half(self: Tensor) -> Tensor:
    """Return the elements as complex32, which is not supported yet."""
    return self.to(_C.complex32)


def _dim_order(self: Tensor, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Return the dimensions in the order of their strides, the largest first."""
    stride = self.stride()
    order = sorted(range(self.dim()), key=lambda dim: -stride[dim])
    if ambiguity_check and len({stride[dim] for dim in order if self.shape[dim] != 1}) < self.dim():
        raise RuntimeError("dim_order: the tensor does not have a unique order of its dimensions")
    return tuple(order)


def _module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """Return the replacement of this tensor when `load_state_dict` swaps tensors."""
    return other.detach() if assign else self.copy_(other).detach()


def _storage_type(self: Tensor) -> Any:
    """The old class for storages of this element type: ``FloatStorage``."""
    from flambeau import storage  # rarely needed

    return getattr(storage, self.storage().pickle_storage_type())


def _is_distributed(self: Tensor) -> bool:
    """Whether the elements are spread over processes: never."""
    return False


def _reflected_division(self: Tensor, other: Any) -> Any:
    """``other / self``, under its name of Python 2."""
    return self.reciprocal() * other


def _narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """Return a copy of ``narrow``."""
    return self.narrow(dim, start, length).clone(memory_format=_C.contiguous_format)


def _hermitian(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix."""
    from flambeau._operators.matrices import hermitian  # rarely needed

    return hermitian(self)


def _adjoint(self: Tensor) -> Tensor:
    """The conjugate transpose of each matrix of a batch."""
    from flambeau._operators.matrices import adjoint  # rarely needed

    return adjoint(self)


_METHODS: dict[str, Any] = {
    **refused_in("Tensor"),
    "H": property(_hermitian),
    "mH": property(_adjoint),
    "__array__": _array,
    "__array_wrap__": _array_wrap,
    "__array_priority__": 1000,  # NumPy gives precedence to the tensor's operators
    "__complex__": _complex,
    "__contains__": _contains,
    "__deepcopy__": pickling.deepcopy_tensor,
    "__cuda_array_interface__": property(cuda_array_interface),
    "__dlpack__": dlpack_capsule,
    "__dlpack_device__": dlpack_device,
    "__format__": _format,
    "__iter__": _iter,
    "__rdiv__": _reflected_division,
    "__reduce_ex__": pickling.reduce_tensor,
    "__reversed__": _reversed,
    "chalf": _complex_half,
    "const_data_ptr": Tensor.data_ptr,
    "cuda": _cuda,
    "dequantize": _dequantize,
    "describe": _describe,
    "dim_order": _dim_order,
    "is_distributed": _is_distributed,
    "module_load": _module_load,
    "narrow_copy": _narrow_copy,
    "new": _new,
    "pin_memory": _pin_memory,
    "record_stream": _record_stream,
    "share_memory_": _share_memory_,
    "storage": storage.typed_storage,
    "storage_type": _storage_type,
    "type": legacy.convert_type,
    "untyped_storage": storage.untyped_storage,
}

# Iteration and the attributes use other methods of the tensor, which can be overridden.
_NOT_OVERRIDABLE = {"__iter__", "__array_priority__", "__cuda_array_interface__", "H", "mH"}

for _name, _value in _METHODS.items():
    setattr(Tensor, _name, _value if _name in _NOT_OVERRIDABLE else overridable(_value))
Tensor.__torch_function__ = classmethod(torch_function)  # type: ignore[attr-defined]

"""Old spellings: ``FloatTensor``, ``LongTensor(2, 3)``, ``tensor.type("torch.DoubleTensor")``."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Size, Tensor

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "set_default_tensor_type",
    "typename",
]


_DOC = """Old constructor of tensors of {1} on {2}. Prefer `torch.tensor` and `torch.empty`.

Args:
    *args: Sizes, a sequence of values, or a tensor of this type to share memory with.
    device: Where the tensor lives; it must be this one. Default: this one.

Example:
    >>> torch.{0}([0, 1]).dtype == {1}
    True
    >>> torch.{0}(2, 3).shape
    torch.Size([2, 3])
"""


class TensorType(type):
    """The class of ``FloatTensor`` and others: a name for one element type on one device.

    Calling it makes a tensor, ``isinstance`` asks for the element type and the device; there are no
    instances of its own.
    """

    dtype: fb.dtype
    layout: fb.layout
    place = "cpu"
    is_cuda = False
    is_sparse = False

    def __new__(cls, name: str, dtype: fb.dtype) -> TensorType:
        place = cls.place.upper()
        made = super().__new__(cls, name, (), {"__doc__": _DOC.format(name, dtype, place)})
        made.dtype = dtype
        made.layout = fb.sparse_coo if cls.is_sparse else fb.strided
        return made

    def __init__(cls, name: str, dtype: fb.dtype) -> None:
        super().__init__(name, (), {})

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        if len(args) == 1 and isinstance(args[0], Tensor) and args[0].dtype != cls.dtype:
            raise TypeError(f"new(): expected a tensor of {cls.dtype}, got {args[0].dtype}")
        return construct(cls.dtype, args, device, cls.place)

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype == cls.dtype
            and instance.device.type == cls.place
            and instance.layout == cls.layout
        )

    def __repr__(cls) -> str:
        prefix = "" if cls.place == "cpu" else f"{cls.place}."
        return f"<class 'torch.{prefix}{cls.__name__}'>"


FloatTensor: TensorType = TensorType("FloatTensor", fb.float32)
DoubleTensor: TensorType = TensorType("DoubleTensor", fb.float64)
HalfTensor: TensorType = TensorType("HalfTensor", fb.float16)
BFloat16Tensor: TensorType = TensorType("BFloat16Tensor", fb.bfloat16)
ByteTensor: TensorType = TensorType("ByteTensor", fb.uint8)
CharTensor: TensorType = TensorType("CharTensor", fb.int8)
ShortTensor: TensorType = TensorType("ShortTensor", fb.int16)
IntTensor: TensorType = TensorType("IntTensor", fb.int32)
LongTensor: TensorType = TensorType("LongTensor", fb.int64)
BoolTensor: TensorType = TensorType("BoolTensor", fb.bool)

# The complex types have a name for `tensor.type()` and no class.
_NAMES = {
    **{
        kind.dtype: kind.__name__
        for kind in [
            FloatTensor,
            DoubleTensor,
            HalfTensor,
            BFloat16Tensor,
            ByteTensor,
            CharTensor,
            ShortTensor,
            IntTensor,
            LongTensor,
            BoolTensor,
        ]
    },
    fb.complex64: "ComplexFloatTensor",
    fb.complex128: "ComplexDoubleTensor",
}
_DTYPES = {f"torch.{name}": dtype for dtype, name in _NAMES.items()}


def range(
    start: float,
    end: float,
    step: float = 1,
    *,
    out: Tensor | None = None,
    dtype: fb.dtype | None = None,
    layout: fb.layout | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``arange`` that includes the end; of floating-point numbers, unless given a dtype."""
    import warnings

    warnings.warn(
        "torch.range is deprecated: use torch.arange, which leaves `end` out like Python's range",
        stacklevel=2,
    )
    if step == 0:
        raise RuntimeError("range: step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"range: upper bound and lower bound inconsistent with step sign: from {start} to "
            f"{end} by {step}"
        )
    count = int((end - start) / step) + 1
    kind = dtype or (fb.get_default_dtype() if out is None else out.dtype)
    places = fb.arange(count, dtype=fb.float64, layout=layout, device=device)
    values = places.mul_(step).add_(start).to(kind)
    if out is not None:
        if out.numel() == count:  # in whatever shape it has
            return out.copy_(values.reshape(out.shape))
        return out.resize_(count).copy_(values)
    return values.requires_grad_(requires_grad)


def construct(
    dtype: fb.dtype, args: tuple[Any, ...], device: Any = None, place: Any = "cpu"
) -> Tensor:
    """``Tensor(2, 3)`` of this shape, ``Tensor([2, 3])`` of values, ``Tensor(t)`` on ``t``.

    ``place`` is the device of the type that is made; ``device`` may only be one of its kind.
    """
    home = fb.device(place)
    if device is not None:
        if fb.device(device).type != home.type:
            raise RuntimeError(
                f"legacy constructor expects device type: {home.type} but device type: "
                f"{fb.device(device).type} was passed"
            )
        home = fb.device(device)
    if len(args) == 1 and not isinstance(args[0], int):
        data = args[0]
        if isinstance(data, Tensor):
            if data.device.type != home.type:
                raise RuntimeError(f"new(): expected a tensor on {home.type}, got {data.device}")
            return data.detach()
        if isinstance(data, Size):
            return fb.empty(data, dtype=dtype, device=home)
        if isinstance(data, (float, complex)) or not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        return fb.tensor(data, dtype=dtype, device=home)
    return fb.empty(args or (0,), dtype=dtype, device=home)


def new_tensor(*args: Any, device: Any = None) -> Tensor:
    """``Tensor(...)``: the old constructor, for the default element type."""
    return construct(fb.get_default_dtype(), args, device)


def type_name(tensor: Tensor) -> str:
    """``"torch.FloatTensor"``, ``"torch.cuda.LongTensor"``, ``"torch.sparse.FloatTensor"``."""
    place = "" if tensor.device.type == "cpu" else f"{tensor.device.type}."
    form = "sparse." if tensor.is_sparse else ""
    return f"torch.{place}{form}{_NAMES[tensor.dtype]}"


def convert_type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the tensor's type, or the tensor converted to another type.

    Args:
        dtype: Type to convert to: a dtype, an old class, or a name such as `"torch.LongTensor"`.
            Default: None, which asks for the name.
        non_blocking: Whether a copy may run in the background. Default: False.

    Example:
        >>> torch.ones(2).type()
        'torch.FloatTensor'
        >>> torch.ones(2).type(torch.int64)
        tensor([1, 1])

    See also:
        `Tensor.to`, `Tensor.dtype`.
    """
    if dtype is None:
        return type_name(self)
    place = None
    if isinstance(dtype, TensorType):
        place, dtype = dtype.place, dtype.dtype
    elif isinstance(dtype, str):
        name = dtype.replace("torch.cuda.", "torch.")
        if name not in _DTYPES:
            raise ValueError(f"invalid type: {dtype!r}")
        place, dtype = "cpu" if name == dtype else "cuda", _DTYPES[name]
    elif not isinstance(dtype, fb.dtype):
        raise ValueError(f"invalid type: {getattr(dtype, '__name__', dtype)!r}")
    return self.to(place, dtype, non_blocking=non_blocking)


def set_default_tensor_type(t: Any) -> None:
    """Set the default element type by an old name: ``FloatTensor``, ``"torch.DoubleTensor"``."""
    if isinstance(t, str):
        if t.replace("torch.cuda.", "torch.") not in _DTYPES:
            raise TypeError(f"invalid type object: {t!r}")
        name = t.replace("torch.cuda.", "torch.")
        dtype, place = _DTYPES[name], "cpu" if name == t else "cuda"
    elif isinstance(t, TensorType):
        dtype, place = t.dtype, t.place
    else:
        raise TypeError(
            "invalid type object: only floating-point types are supported as the default type"
        )
    if place == "cuda" and not fb.cuda.is_available():
        raise TypeError(f"{t!r} is not available: no GPU can be used here")
    fb.set_default_dtype(dtype)
    fb.set_default_device(None if place == "cpu" else place)


def typename(obj: Any, /) -> str:
    """Return the name of an object's type, with its module."""
    if isinstance(obj, Tensor):
        return type_name(obj)
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", "")
    prefix = "" if module in ("", "builtins") else f"{module}."
    return f"{prefix}{kind.__qualname__}"

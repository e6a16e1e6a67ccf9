"""``finfo`` and ``iinfo``: the limits of the floating-point and integer types."""

from __future__ import annotations

from typing import Any, ClassVar

from flambeau import _C

__all__ = [
    "finfo",
    "iinfo",
]

# What the user may write instead of a dtype.
_PYTHON_TYPES = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}

# name: (bits, bits of the significand without the hidden one, least exponent, resolution, largest)
_FLOATS = {
    "float16": (16, 10, -14, 1e-3, 65504.0),
    "bfloat16": (16, 7, -126, 1e-2, (2 - 2.0**-7) * 2.0**127),
    "float32": (32, 23, -126, 1e-6, (2 - 2.0**-23) * 2.0**127),
    "float64": (64, 52, -1022, 1e-15, (2 - 2.0**-52) * 2.0**1023),
    # The 8-bit types differ in the bit patterns that they use for infinity and NaN.
    "float8_e4m3fn": (8, 3, -6, 1.0, 448.0),
    "float8_e4m3fnuz": (8, 3, -7, 1.0, 240.0),
    "float8_e5m2": (8, 2, -14, 1.0, 57344.0),
    "float8_e5m2fnuz": (8, 3, -15, 1.0, 57344.0),  # PyTorch gives the eps of e4m3 here
    "float8_e8m0fnu": (8, 0, -127, 1.0, 2.0**127),
}
_UNSIGNED_FLOATS = {"float8_e8m0fnu"}  # the smallest value is then the smallest positive one
# A complex type has the limits of its parts.
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_INTEGERS |= {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


class _TypeInfo:
    """Read-only attributes, compared by type; no hash, as in PyTorch."""

    __slots__ = ("bits", "dtype", "max", "min")

    bits: int
    dtype: str

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"attribute {name!r} of {type(self).__name__!r} objects is not writable"
        )

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dtype == other.dtype

    __hash__: ClassVar[None] = None  # type: ignore[assignment]


class finfo(_TypeInfo):
    """Limits of a floating-point type.

    Args:
        type: The dtype. Default: the default floating-point type.

    Attributes:
        bits: Number of bits.
        eps: Distance from 1 to the next number.
        max, min: Largest and lowest number.
        tiny, smallest_normal: Smallest positive normal number.
        resolution: Decimal resolution.

    Raises:
        TypeError: The type is not a floating-point type.

    Example:
        >>> torch.finfo(torch.float32).eps
        1.1920928955078125e-07
        >>> torch.finfo(torch.bfloat16).max
        3.3895313892515355e+38

    See also:
        `torch.iinfo`.
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    max: float
    min: float
    eps: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: Any = ...) -> None:
        name = _dtype_name("finfo", _C.get_default_dtype() if type is ... else type)
        name = _PARTS.get(name, name)
        if name not in _FLOATS:
            raise TypeError(
                "torch.finfo() requires a floating point input type. "
                "Use torch.iinfo to handle 'torch.finfo'"
            )
        bits, digits, least_exponent, resolution, largest = _FLOATS[name]
        tiny = 2.0**least_exponent
        self._set(
            bits=bits,
            dtype=name,
            max=largest,
            min=tiny if name in _UNSIGNED_FLOATS else -largest,
            eps=2.0**-digits,
            tiny=tiny,
            smallest_normal=tiny,
            resolution=resolution,
        )

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.tiny:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo(_TypeInfo):
    """Limits of an integer type.

    Args:
        type: The dtype.

    Attributes:
        bits: Number of bits.
        max, min: Largest and smallest number.

    Raises:
        TypeError: The type is not an integer type.

    Example:
        >>> torch.iinfo(torch.int8).max
        127
    """

    __slots__ = ()

    max: int
    min: int

    def __init__(self, type: Any = ...) -> None:
        if type is ...:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        name = _dtype_name("iinfo", type)
        if name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if name not in _INTEGERS:
            raise TypeError(
                "torch.iinfo() requires an integer input type. "
                "Use torch.finfo to handle 'torch.iinfo'"
            )
        bits = _INTEGERS[name]
        low = 0 if name.startswith("u") else -(1 << (bits - 1))
        self._set(bits=bits, dtype=name, min=low, max=low + (1 << bits) - 1)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _dtype_name(function: str, dtype: Any) -> str:
    """``"float32"`` for ``float32``, ``"float64"`` for ``float``."""
    if isinstance(dtype, _C.dtype):
        return str(dtype).rpartition(".")[2]
    try:
        return _PYTHON_TYPES[dtype]
    except (KeyError, TypeError):
        raise TypeError(
            f"{function}(): argument 'type' (position 1) must be torch.dtype, "
            f"not {type(dtype).__name__}"
        ) from None

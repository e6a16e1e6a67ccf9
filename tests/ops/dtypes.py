"""Element types as the tests see them: names, NumPy carriers and tolerances."""

import numpy as np

BOOL = ("bool",)
INTEGRAL = ("uint8", "int8", "int16", "int32", "int64")
FLOATING = ("float16", "bfloat16", "float32", "float64")
HALF = ("float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
ALL = BOOL + INTEGRAL + FLOATING + COMPLEX

# Relative and absolute tolerance against a float64 reference. A result is computed in float32 at
# least and rounded once, so a half type is allowed a few units of its own last place.
TOLERANCE = {
    "float16": (2e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-10, 1e-12),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-10, 1e-12),
}

# Bits of precision class: a complex number is as precise as its parts.
_PRECISION = {"complex64": "float32", "complex128": "float64"}


def precision(dtype: str) -> str | None:
    """The floating type of the parts of `dtype`, or None for exact types."""
    if dtype in FLOATING:
        return dtype
    return _PRECISION.get(dtype)


def category(dtype: str) -> str:
    """`bool`, `integral`, `floating` or `complex`."""
    for name, group in (("bool", BOOL), ("integral", INTEGRAL), ("floating", FLOATING)):
        if dtype in group:
            return name
    return "complex"


def carrier(dtype: str) -> np.dtype:
    """The NumPy type that holds every value of `dtype` (NumPy has no bfloat16)."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def widened(dtype: str) -> np.dtype:
    """The type in which a reference computes: double precision, exact types as they are."""
    return np.dtype({"floating": "float64", "complex": "complex128"}.get(category(dtype), dtype))


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """`values` in the carrier of `dtype`, rounded to what `dtype` can represent."""
    with np.errstate(all="ignore"):
        array = np.asarray(values).astype(carrier(dtype))
    return _round_to_bfloat16(array) if dtype == "bfloat16" else array


def _round_to_bfloat16(array: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape)
    nearest_even = bits + 0x7FFF + ((bits >> 16) & 1)
    out = (nearest_even & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(array), array, out.reshape(array.shape)).astype(np.float32)

"""The autocast state, per thread and kind of device.

Operators read those of the CPU and of CUDA, which are native; the others are stored for queries.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import flambeau as fb
from flambeau import _C

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
]

_native = _C._autocast

# The kinds of devices that operators look at.
_NATIVE = ("cpu", "cuda")
# What was set for another kind of device: whether autocast is on, and the 16-bit type.
Elsewhere: TypeAlias = Mapping[str, tuple[bool, fb.dtype]]
# Of a region: the kind of device, whether autocast is on for it, the 16-bit type, and whether casts
# are kept.
Region: TypeAlias = tuple[str, bool, fb.dtype, bool]

# The default type of each kind of device.
_DTYPES = {
    "cpu": fb.bfloat16,
    "cuda": fb.float16,
    "hpu": fb.bfloat16,
    "ipu": fb.float16,
    "maia": fb.bfloat16,
    "mps": fb.float16,
    "mtia": fb.float16,
    "privateuseone": fb.float16,
    "xla": fb.bfloat16,
    "xpu": fb.float16,
}
# Kinds of devices that PyTorch knows without autocast.
_OTHERS = ["fpga", "hip", "ideep", "lazy", "meta", "mkldnn", "opencl", "opengl", "ve", "vulkan"]


def _elsewhere() -> Elsewhere:
    """A dictionary that is replaced and never changed: regions restore the previous one."""
    switches: Elsewhere = _native.elsewhere()
    return switches


def _set(kind: str, enabled: bool, dtype: fb.dtype) -> Elsewhere:
    return {**_elsewhere(), kind: (enabled, dtype)}


def kind_of(device_type: str) -> str:
    """``cuda`` for ``cuda:0``; refuse anything but a kind of device."""
    kind = device_type.partition(":")[0]
    if kind not in _DTYPES and kind not in _OTHERS:
        raise RuntimeError(
            f"expected a device type, one of {', '.join([*_DTYPES, *_OTHERS])}, got {device_type!r}"
        )
    return kind


def casting_kind(device_type: Any, function: str) -> str:
    """Return the kind of a device that has autocast; refuse others in the name of a function."""
    if device_type in _DTYPES:
        return str(device_type)
    if not isinstance(device_type, str):
        name = type(device_type).__name__
        raise TypeError(
            f"{function}(): argument 'device_type' (position 1) must be str, not {name}"
        )
    kind = kind_of(device_type)
    if kind not in _DTYPES:
        raise RuntimeError(f"{function}(): there is no autocast for the device type {kind!r}")
    return kind


def is_autocast_available(device_type: str) -> bool:
    """Return whether autocast supports a kind of device."""
    return kind_of(device_type) in _DTYPES


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether autocast is on in this thread.

    Args:
        device_type: Kind of device. Default: `"cuda"`.

    Example:
        >>> with torch.autocast("cpu"):
        ...     torch.is_autocast_enabled("cpu")
        True
    """
    kind = casting_kind(device_type, "is_autocast_enabled")
    return _native.is_on(kind) if kind in _NATIVE else _elsewhere().get(kind, (False,))[0]


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """Switch autocast on or off; a single argument is for CUDA."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    kind = casting_kind(device_type, "set_autocast_enabled")
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_autocast_enabled(): argument 'enabled' must be bool, not {type(enabled).__name__}"
        )
    if kind in _NATIVE:
        _native.switch(kind, enabled)
    else:
        _native.set_elsewhere(_set(kind, enabled, get_autocast_dtype(kind)))


def get_autocast_dtype(device_type: str) -> fb.dtype:
    """The 16-bit type that autocast uses for a kind of device."""
    kind = casting_kind(device_type, "get_autocast_dtype")
    if kind in _NATIVE:
        return _native.lower(kind)
    return _elsewhere().get(kind, (False, _DTYPES[kind]))[1]


def set_autocast_dtype(device_type: str, dtype: fb.dtype) -> None:
    """Set the 16-bit type that autocast uses for a kind of device."""
    kind = casting_kind(device_type, "set_autocast_dtype")
    if not isinstance(dtype, fb.dtype):
        raise TypeError(
            "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
            f"{type(dtype).__name__}"
        )
    if kind in _NATIVE:
        _native.set_lower(kind, dtype)
    else:
        _native.set_elsewhere(_set(kind, is_autocast_enabled(kind), dtype))


def is_autocast_cache_enabled() -> bool:
    """Return whether casts of parameters are cached until the outermost region ends."""
    return bool(_native.caches())


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether casts of parameters are cached."""
    _native.set_caches(enabled)


def clear_autocast_cache() -> None:
    """Clear the cached casts of parameters."""
    _native.forget_casts()


def autocast_increment_nesting() -> int:
    """Count the beginning of a region; return the nesting depth."""
    return int(_native.nest(1))


def autocast_decrement_nesting() -> int:
    """Count the end of a region; return the remaining depth."""
    return int(_native.nest(-1))


# --- regions


def region(kind: str, enabled: bool, dtype: fb.dtype, caches: bool) -> Region:
    """The state at the beginning of a region."""
    return kind, enabled, dtype, caches


# --- the older functions, one for each device


def _deprecate(old: str, new: str) -> None:
    warnings.warn(
        f"torch.{old} is deprecated. Please use torch.{new} instead.",
        DeprecationWarning,
        stacklevel=3,
    )


def is_autocast_cpu_enabled() -> bool:
    """The older form of ``is_autocast_enabled("cpu")``."""
    _deprecate("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The older form of ``set_autocast_enabled("cpu", enabled)``."""
    _deprecate("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> fb.dtype:
    """The older form of ``get_autocast_dtype("cpu")``."""
    _deprecate("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: fb.dtype) -> None:
    """The older form of ``set_autocast_dtype("cpu", dtype)``."""
    _deprecate("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> fb.dtype:
    """The older form of ``get_autocast_dtype("cuda")``."""
    _deprecate("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: fb.dtype) -> None:
    """The older form of ``set_autocast_dtype("cuda", dtype)``."""
    _deprecate("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)

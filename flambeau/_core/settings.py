"""Global settings of the process."""

from __future__ import annotations

import warnings
from typing import Any

import flambeau as fb
from flambeau import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compiled_with_cxx11_abi",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_default_device",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

_PRECISIONS = ("highest", "high", "medium")
_DEBUG_MODES = ("default", "warn", "error")


# Which libraries the CPU kernels are built on.
has_lapack = True
has_mkl = False
has_openmp = False
has_spectral = True


class _State:
    deterministic = False
    warn_only = False
    interop_threads = 1
    warn_always = False
    default_device: Any = None  # the mode that puts new tensors there


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in every run, whatever the number of threads.

    On a CPU all operators do so anyway. On a GPU the gradients of `grid_sample`, `roi_align`,
    `ps_roi_pool` and `deform_conv2d` do not, and raise an error.

    Args:
        mode: Whether to ask for them.
        warn_only: Whether a missing algorithm is only a warning. Default: False.

    Example:
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.are_deterministic_algorithms_enabled()
        True
        >>> torch.use_deterministic_algorithms(False)

    See also:
        `torch.manual_seed`.
    """
    _State.deterministic = bool(mode)
    _State.warn_only = bool(warn_only)
    _C._set_determinism(get_deterministic_debug_mode())
    from flambeau._limits.accepted import accepted  # rarely needed, as are the others
    from flambeau.utils import deterministic

    if mode and deterministic.fill_uninitialized_memory:
        accepted("torch.utils.deterministic.fill_uninitialized_memory")


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether deterministic algorithms were asked for.

    Example:
        >>> torch.are_deterministic_algorithms_enabled()
        False
    """
    return _State.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether a missing deterministic algorithm is to be a warning only."""
    return _State.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set the same by number or name: 0 ``"default"``, 1 ``"warn"``, 2 ``"error"``."""
    modes = dict(zip(_DEBUG_MODES, range(3), strict=True))
    level = modes.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(
            f"set_deterministic_debug_mode: expected 0, 1, 2, 'default', 'warn' or 'error', "
            f"got {debug_mode!r}"
        )
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: see ``set_deterministic_debug_mode``."""
    if not _State.deterministic:
        return 0
    return 1 if _State.warn_only else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Set how precise products of float32 matrices must be. The CPU always computes in float32.

    Args:
        precision: `"highest"`, `"high"` or `"medium"`.

    Example:
        >>> torch.set_float32_matmul_precision("high")
        >>> torch.get_float32_matmul_precision()
        'high'
        >>> torch.set_float32_matmul_precision("highest")
    """
    if precision not in _PRECISIONS:
        warnings.warn(
            f"set_float32_matmul_precision: expected one of {_PRECISIONS}, got {precision!r}; "
            "the call has no effect",
            stacklevel=2,
        )
        return
    from flambeau.backends import _precision  # rarely needed

    _precision.set_matmul_precision(precision)


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` has set.

    Example:
        >>> torch.get_float32_matmul_precision()
        'highest'
    """
    from flambeau.backends import _precision  # rarely needed

    return _precision.matmul_precision()


def set_default_device(device: Any) -> None:
    """Set the default device of new tensors.

    Args:
        device: The CPU, or `"meta"` for tensors without elements; None resets it to the CPU.

    Example:
        >>> torch.set_default_device("meta")
        >>> torch.ones(2).device
        device(type='meta')
        >>> torch.set_default_device(None)

    See also:
        `torch.device`, which does so for a block.
    """
    if _State.default_device is not None:
        _State.default_device.__exit__(None, None, None)
        _State.default_device = None
    if device is not None and _is_elsewhere(device):
        _State.default_device = _on_device(fb.device(device))
        _State.default_device.__enter__()


def get_default_device() -> fb.device:
    """Return the default device of new tensors.

    Example:
        >>> torch.get_default_device()
        device(type='cpu')
    """
    return fb.empty(0).device


def _is_elsewhere(device: Any) -> bool:
    """Whether a device differs from the default; refuse a wrong device."""
    return bool(fb.empty(0, device=device).device.type != "cpu")


def _on_device(device: fb.device) -> Any:
    from flambeau._meta.tensors import OnDevice  # rarely needed

    return OnDevice(device)


def _block_on(device: fb.device) -> Any:
    """The mode of ``with torch.device("meta"):``, which the device itself enters and leaves."""
    _is_elsewhere(device)
    return _on_device(device)


def set_num_interop_threads(num: int) -> None:
    """Accepted for compatibility: operators run one after the other."""
    if type(num) is not int:
        raise TypeError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if num >= 1 << 31:
        raise ValueError(f"set_num_interop_threads expects an int of 32 bits, got {num}")
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads expects a positive integer, got {num}")
    _State.interop_threads = num


def get_num_interop_threads() -> int:
    """Return the number that was set last, 1 at first."""
    return _State.interop_threads


def compiled_with_cxx11_abi() -> bool:
    """Whether the C++ library's newer binary interface is in use."""
    return True


def set_flush_denormal(mode: bool) -> bool:
    """Return False: subnormal numbers are never flushed to zero."""
    return False


def set_warn_always(b: bool) -> None:
    """Set what ``is_warn_always_enabled`` says; ``warnings`` decides how often one is shown."""
    if not isinstance(b, bool):
        raise RuntimeError(f"set_warn_always: expected a bool, got {type(b).__name__}")
    _State.warn_always = b


def is_warn_always_enabled() -> bool:
    """Whether ``set_warn_always(True)`` was called."""
    return _State.warn_always

"""Autocast: regions in which operators choose the types they compute in."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import flambeau as fb
from flambeau import _C
from flambeau.amp import _switches
from flambeau.amp._switches import is_autocast_available, kind_of

__all__ = [
    "autocast",
    "autocast_decorator",
    "current_region",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_HALF_TYPES = (fb.bfloat16, fb.float16)


class autocast(_C._SelfScope):
    """Mixed precision for a block or a function: operators choose the type that they compute in.

    Matrix products and convolutions run in `dtype`, losses and similar operators in float32,
    others in the type of their inputs. Parameters stay as they are. Wrap the forward pass and the
    loss, not the backward pass.

    Args:
        device_type: `"cpu"` or `"cuda"`.
        dtype: Lower precision. Default: bfloat16 on the CPU, float16 on a GPU.
        enabled: Whether it is on. Default: True.
        cache_enabled: Whether converted weights are kept within the block. Default: True.

    Example:
        >>> layer = nn.Linear(4, 2)
        >>> with torch.autocast("cpu", dtype=torch.bfloat16):
        ...     y = layer(torch.ones(1, 4))
        >>> y.dtype, layer.weight.dtype
        (torch.bfloat16, torch.float32)

    See also:
        `torch.amp.GradScaler`.
    """

    _begin = staticmethod(_C._autocast.enter)
    _end = staticmethod(_C._autocast.leave)

    def __init__(
        self,
        device_type: str,
        dtype: fb.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self._kind = _switches.casting_kind(device_type, "autocast")
        if dtype is None:
            dtype = _switches.get_autocast_dtype(self._kind)
        if cache_enabled is None:
            cache_enabled = _switches.is_autocast_cache_enabled()
        self.device = device_type
        self.fast_dtype = dtype
        self._enabled = bool(enabled) and _is_usable(device_type, dtype)
        self._value = _switches.region(self._kind, self._enabled, dtype, cache_enabled)

    def __call__(self, func: _Function) -> _Function:
        return autocast_decorator(self, func)


def _is_usable(device_type: str, dtype: fb.dtype) -> bool:
    """Whether autocast can be enabled with these arguments; warn if not."""
    if device_type == "cuda" and not fb.cuda.is_available():
        warnings.warn(
            "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3
        )
        return False
    if dtype not in _HALF_TYPES:
        name = device_type.upper()
        warnings.warn(
            f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
            f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
            stacklevel=3,
        )
        return False
    return True


def autocast_decorator(autocast_instance: Any, func: _Function) -> _Function:
    """``func`` with the region around each of its calls."""

    @functools.wraps(func)
    def within_region(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return within_region  # type: ignore[return-value]


def current_region(device_type: str) -> autocast:
    """A region with the caller's autocast state, or with autocast off."""
    return autocast(
        device_type,
        dtype=_switches.get_autocast_dtype(device_type),
        enabled=_switches.is_autocast_enabled(device_type),
        cache_enabled=_switches.is_autocast_cache_enabled(),
    )


def _enter_autocast(*vals: Any) -> autocast:
    """Begin a region that `_exit_autocast` ends: for graphs, which have no blocks."""
    return autocast(*vals).__enter__()


def _exit_autocast(mode: autocast) -> None:
    """End a region that `_enter_autocast` began."""
    mode.__exit__(None, None, None)


# --- custom autograd functions


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: fb.dtype | None = None,
) -> Any:
    """Decorate the `forward` of an `autograd.Function` to remember its autocast state.

    Args:
        fwd: The method. Default: None, for a decorator with options.
        device_type: Kind of device.
        cast_inputs: Type that tensors are converted to within autocast, which is then off.
            Default: None.

    Example:
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu")
        ...     def forward(ctx, x):
        ...         return 2 * x
        ...
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, grad):
        ...         return 2 * grad
        >>> Double.apply(torch.ones(1))
        tensor([2.])
    """
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = _switches.get_autocast_dtype(device_type)
        within = _switches.is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = within and cast_inputs is None
        if not within or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(
                ctx,
                *_cast(args, device_type, cast_inputs),
                **_cast(kwargs, device_type, cast_inputs),
            )

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the `backward` of an `autograd.Function` to run in its forward's autocast state.

    Args:
        bwd: The method. Default: None, for a decorator with options.
        device_type: Kind of device.

    Example:
        >>> @torch.amp.custom_bwd(device_type="cpu")
        ... def backward(ctx, grad):
        ...     return 2 * grad

    See also:
        `amp.custom_fwd`, with a whole example.
    """
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _check_device_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _cast(value: Any, device_type: str, dtype: fb.dtype) -> Any:
    """Convert tensors of floating-point types, except float64, to another type."""
    if isinstance(value, fb.Tensor):
        is_eligible = (
            value.is_floating_point()
            and value.dtype != fb.float64
            and value.device.type == kind_of(device_type)
        )
        return value.to(dtype) if is_eligible else value
    if isinstance(value, Mapping):
        return {
            _cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(each, device_type, dtype) for each in value)
    return value

"""``torch.compile``: accepts what PyTorch's does, and runs the function eagerly for now.

Results are those of the function itself. The logger ``flambeau.compile`` says once, at the level
INFO, that nothing was compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["compile"]

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
# For those who look for errors in a compiler.
DEBUG_BACKENDS = ("aot_eager", "aot_eager_decomp_partition", "aot_ts", "eager", "eager_noexcept")


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """A function or module with the results of ``model``; without ``model``, a decorator."""
    if mode is not None and options is not None:
        raise RuntimeError("compile: mode and options exclude each other, got both")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"compile: expected mode to be one of {', '.join(MODES)}, got {mode!r}")
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"compile: expected options to be a dict, got {type(options).__name__}")
    check_backend(backend)
    if model is None:
        return functools.partial(_wrapped, disable=disable)
    return _wrapped(model, disable)


def check_backend(backend: Any) -> None:
    """Refuse a backend that PyTorch does not know either."""
    if backend is None or callable(backend) or backend in (*BACKENDS, *DEBUG_BACKENDS):
        return
    from flambeau._dynamo.exc import InvalidBackend

    raise InvalidBackend(backend)


def _wrapped(model: Any, disable: bool) -> Any:
    if not callable(model):
        raise AssertionError(f"compile: expected a function or module, got {type(model).__name__}")
    if disable or isinstance(model, type):
        return model
    from flambeau._dynamo.eval_frame import OptimizedModule
    from flambeau.nn import Module

    _say_once()
    if isinstance(model, OptimizedModule):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model)
    return _function(model)


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    compiled._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    return compiled


@functools.cache
def _say_once() -> None:
    import logging

    logging.getLogger("flambeau.compile").info("torch.compile: functions run eagerly for now")

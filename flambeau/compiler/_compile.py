"""``torch.compile``: runs functions eagerly for now, and gives their graphs to backends of the
program's own.

Results are those of the function itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flambeau._limits.accepted import accepted

if TYPE_CHECKING:
    from flambeau._dynamo._graphs import Plan

__all__ = ["compile"]

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
# For those who look for errors in a compiler: they run functions eagerly in PyTorch, too.
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
    """Return a function or module with the same results; without `model`, a decorator.

    Named backends do not compile yet: the result runs as the model does, and a warning says so
    once. A `backend` that is a function is called with graphs of the model and example inputs, and
    what it returns runs in their place.

    Args:
        model: Function or module to compile. Default: None, for a decorator.
        fullgraph: Whether the model must be one graph. Default: False.
        dynamic: Whether graphs are for inputs of any size. Default: found out.
        backend: Function of graph and example inputs, or a name. Default: `"inductor"`.
        mode: Passed on to a backend that is a function. Default: None.
        options: Passed on to a backend that is a function. Default: None.
        name: Accepted. Default: None.
        disable: Whether to return the model as it is. Default: False.
        recompile_limit: Number of graphs for one function. Default: 8.
        isolate_recompiles: Accepted. Default: False.
        shapes_spec: Accepted. Default: None.

    Example:
        >>> @torch.compile
        ... def double(x):
        ...     return x * 2
        >>> double(torch.ones(2))
        tensor([2., 2.])
        >>> model = torch.compile(nn.Linear(2, 1))
        >>> model(torch.ones(3, 2)).shape
        torch.Size([3, 1])
    """
    if mode is not None and options is not None:
        raise RuntimeError("compile: mode and options exclude each other, got both")
    if mode is not None and mode not in MODES:
        raise RuntimeError(f"compile: expected mode to be one of {', '.join(MODES)}, got {mode!r}")
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"compile: expected options to be a dict, got {type(options).__name__}")
    backend = check_backend(backend)
    if isinstance(backend, str):
        check_options(backend, options)
        plan = None
    else:
        plan = _plan(backend, mode, options, fullgraph, dynamic, recompile_limit)
    if plan is None and not disable:
        _say(backend, fullgraph)
    wrapped = functools.partial(_wrapped, disable=disable, plan=plan)
    return wrapped if model is None else wrapped(model)


def check_backend(backend: Any) -> str | Callable[..., Any]:
    """The backend that is meant; refuses one that PyTorch does not know either."""
    if backend is None:
        from flambeau.compiler import get_default_backend

        backend = get_default_backend()
    if callable(backend) or backend in (*BACKENDS, *DEBUG_BACKENDS):
        return backend  # type: ignore[no-any-return]
    from flambeau._dynamo.exc import InvalidBackend

    raise InvalidBackend(backend)


def check_options(backend: str, options: dict[str, Any] | None) -> None:
    """Refuse options that the code generator does not have."""
    if backend != "inductor" or not options:
        return
    from flambeau._inductor import list_options

    known = {*list_options(), "guard_filter_fn"}
    for name in options:
        if name.replace("-", "_") not in known:
            raise RuntimeError(
                f"Unexpected optimization option {name}: torch._inductor.list_options() names them"
            )


def _plan(
    backend: Callable[..., Any],
    mode: str | None,
    options: dict[str, Any] | None,
    fullgraph: bool,
    dynamic: bool | None,
    limit: int | None,
) -> Plan:
    from flambeau._dynamo._graphs import Plan

    arguments: dict[str, Any] = {}
    if mode not in (None, "default"):
        arguments["mode"] = mode
    if options:
        arguments["options"] = options
    return Plan(backend, arguments, fullgraph, dynamic, limit)


def _say(backend: Any, fullgraph: bool) -> None:
    if backend not in DEBUG_BACKENDS:
        accepted("torch.compile", stacklevel=2)
    if fullgraph:
        accepted("torch.compile(fullgraph)", stacklevel=2)


def _wrapped(model: Any, disable: bool = False, plan: Plan | None = None) -> Any:
    if not callable(model):
        raise AssertionError(f"compile: expected a function or module, got {type(model).__name__}")
    if disable or isinstance(model, type):
        return model
    from flambeau._dynamo.eval_frame import OptimizedModule
    from flambeau.nn import Module

    if isinstance(model, OptimizedModule):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, _in_graphs(model, plan))
    return _function(model, _in_graphs(model, plan))


def _in_graphs(model: Callable[..., Any], plan: Plan | None) -> Callable[..., Any]:
    """What is called in place of ``model``."""
    if plan is None:
        return model
    from flambeau._dynamo._graphs import GraphFunction

    return GraphFunction(model, plan)


def _function(function: Callable[..., Any], run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs)

    compiled._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    return compiled

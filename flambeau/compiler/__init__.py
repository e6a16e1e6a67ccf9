"""Marks and questions around ``torch.compile``, which runs functions eagerly for now."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import flambeau as fb
from flambeau.compiler import config
from flambeau.compiler._compile import BACKENDS, DEBUG_BACKENDS, check_backend, compile
from flambeau.compiler._exporting import is_exporting
from flambeau.compiler._stance import set_stance
from flambeau.utils._pytree import tree_map

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "config",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "load_cache_artifacts",
    "nested_compile_region",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "substitute_in_graph",
    "wrap_numpy",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_default_backend: Any = "inductor"


def is_compiling() -> bool:
    """Return whether the caller is being exported. Functions are not compiled yet.

    Example:
        >>> torch.compiler.is_compiling()
        False
    """
    return is_exporting()


def is_dynamo_compiling() -> bool:
    """Whether the caller is being compiled: never yet."""
    return False


def reset() -> None:
    """Forget everything that was compiled.

    Example:
        >>> torch.compiler.reset()

    See also:
        `torch.compile`.
    """


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that ``backend`` accepts."""
    return sorted(BACKENDS if "debug" in exclude_tags else (*BACKENDS, *DEBUG_BACKENDS))


def set_default_backend(backend: Any) -> None:
    """Choose the backend of calls without one."""
    global _default_backend
    _default_backend = "inductor" if backend is None else check_backend(backend)


def get_default_backend() -> Any:
    """The backend of calls without one."""
    return _default_backend


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Mark a function as one that is never compiled; without one, a decorator.

    Args:
        fn: The function. Default: None.
        recursive: Whether what it calls is not compiled either. Default: True.
        reason: Text for messages. Default: None.

    Example:
        >>> @torch.compiler.disable
        ... def double(x):
        ...     return 2 * x
        >>> double(torch.ones(2))
        tensor([2., 2.])
    """
    return _unchanged if fn is None else _unchanged(fn)


def _unchanged(fn: _Function) -> _Function:
    if not callable(fn):
        raise AssertionError(f"disable: expected a function or module, got {type(fn).__name__}")
    return fn


def allow_in_graph(fn: Any) -> Any:
    """Mark a function, or each of a list, as one step of a compiled function."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(each) for each in fn]
    if not callable(fn):
        raise AssertionError(f"allow_in_graph: expected a function, got {type(fn).__name__}")
    return fn


def assume_constant_result(fn: _Function) -> _Function:
    """Mark a function as one that always returns the same."""
    return fn


def substitute_in_graph(
    original_fn: Callable[..., Any],
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
) -> Callable[[_Function], _Function]:
    """Mark a function as one that the compiler takes in place of another."""
    if not callable(original_fn):
        raise TypeError(f"substitute_in_graph: expected a function, got {original_fn!r}")

    def checked(replacement: _Function) -> _Function:
        if not callable(replacement):
            raise TypeError(f"substitute_in_graph: expected a function, got {replacement!r}")
        if not skip_signature_check:
            _check_same_names(original_fn, replacement)
        return replacement

    return checked


def _check_same_names(original: Callable[..., Any], replacement: Callable[..., Any]) -> None:
    try:
        names = [list(inspect.signature(each).parameters) for each in (original, replacement)]
    except ValueError:  # some builtin functions have no signature
        return
    if names[0] != names[1]:
        raise TypeError(
            f"substitute_in_graph: the function takes {names[0]} and its substitute {names[1]}; "
            "skip_signature_check=True lets them differ"
        )


def nested_compile_region(
    fn: Any = None,
    *,
    options: Any = None,
    max_reuse_entries: int = 8,
    reuse_hash_fn: Any = None,
) -> Any:
    """Mark a function as one that is compiled once, wherever it is called."""
    return _unchanged if fn is None else _unchanged(fn)


def cudagraph_mark_step_begin() -> None:
    """Say that a new step begins, and results of the last one may go."""


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Let processes agree on compiling; returns what was set before."""
    return False


def save_cache_artifacts() -> tuple[bytes, Any] | None:
    """What was compiled, as bytes: None, as nothing was."""
    return None


def load_cache_artifacts(serialized_artifacts: bytes) -> Any:
    """Take over what another process has compiled: nothing."""
    return None


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors from one of NumPy arrays."""

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        import numpy as np

        def array(value: Any) -> Any:
            return value.numpy() if isinstance(value, fb.Tensor) else value

        def tensor(value: Any) -> Any:
            return fb.as_tensor(value) if isinstance(value, np.ndarray) else value

        args, kwargs = tree_map(array, (args, kwargs))
        return tree_map(tensor, fn(*args, **kwargs))

    return wrapped

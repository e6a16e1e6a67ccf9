"""The protocol of __torch_function__: classes and modes that answer for functions."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._C import (
    _has_torch_function as has_torch_function,
)
from flambeau._C import (
    _has_torch_function_unary as has_torch_function_unary,
)
from flambeau._C import (
    _has_torch_function_variadic as has_torch_function_variadic,
)
from flambeau._core.overriding import OVERRIDABLE, Function
from flambeau._core.overriding import nowrap_functions as _nowrap_functions

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

Mode = TypeVar("Mode", bound="TorchFunctionMode")

# Functions that take no tensor, or ask what a tensor is: called as they are, whatever is given.
_NEVER_HANDED_OVER = (
    "as_subclass",
    "compiled_with_cxx11_abi",
    "empty_cache",
    "enable_grad",
    "from_numpy",
    "frombuffer",
    "get_default_dtype",
    "get_num_threads",
    "get_rng_state",
    "inference_mode",
    "initial_seed",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_storage",
    "is_tensor",
    "load",
    "manual_seed",
    "memory_stats",
    "no_grad",
    "reset_peak_memory_stats",
    "save",
    "seed",
    "set_cache_limit",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
)
# Parts of Python's data model that say nothing about elements, or that Python calls for itself:
# the buffer protocol has methods from Python 3.12 on, which take and give nothing but buffers.
_NEVER_HANDED_OVER_METHODS = (
    "__buffer__",
    "__class__",
    "__del__",
    "__delattr__",
    "__delitem__",
    "__dir__",
    "__getattribute__",
    "__getstate__",
    "__hash__",
    "__init__",
    "__init_subclass__",
    "__iter__",
    "__new__",
    "__reduce__",
    "__release_buffer__",
    "__setattr__",
    "__sizeof__",
    "__str__",
    "__subclasshook__",
    "__torch_function__",
    "_make_subclass",
    "as_subclass",
    "new",
)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Hand a call of ``public_api`` over to the mode and the arguments that override."""
    return _C._handle_torch_function(public_api, tuple(relevant_args), args, kwargs)


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Function], Function]:
    """Let the arguments that ``dispatcher`` picks out of a call answer for a function."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def public(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return _C._handle_torch_function(public, relevant, args, kwargs)
            return function(*args, **kwargs)

        return public  # type: ignore[return-value]

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether functions of the package take ``inp`` where they take a tensor."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Attributes whose tensors keep their own class when a subclass is asked for them."""
    return set(_nowrap_functions())


# --- what can be overridden


@functools.cache
def _namespaces() -> dict[str, Any]:
    spaces = {"torch": fb, "torch.nn.functional": fb.nn.functional}
    for name in ("functional", "linalg", "fft", "special"):
        if (place := getattr(fb, name, None)) is not None:
            spaces[f"torch.{name}"] = place
    return spaces


def _is_function(value: Any) -> bool:
    return callable(value) and not inspect.isclass(value) and not isinstance(value, fb.dtype)


def _is_overridable(value: Any) -> bool:
    """A native entry point, or a Python function that was made overridable."""
    if isinstance(value, types.BuiltinFunctionType):
        home = getattr(value, "__self__", None)
        return isinstance(home, types.ModuleType) and home.__name__.startswith("flambeau._C")
    return value in OVERRIDABLE


@functools.cache
def _functions() -> dict[str, dict[str, Any]]:
    """Overridable functions by the name of their namespace, and their own name."""
    found: dict[str, dict[str, Any]] = {}
    for space, module in _namespaces().items():
        # Not dir(), which knows modules that are loaded when asked for.
        for name, value in vars(module).items():
            if name.startswith("_") or name in _NEVER_HANDED_OVER:
                continue
            if _is_function(value) and _is_overridable(value):
                found.setdefault(space, {})[name] = value
    return found


@functools.cache
def _methods() -> dict[str, Any]:
    """Overridable methods of Tensor, and accessors of its attributes, by name."""
    found = {}
    for name in dir(Tensor):
        if name in _NEVER_HANDED_OVER_METHODS:
            continue
        value = inspect.getattr_static(Tensor, name)
        if isinstance(value, (types.GetSetDescriptorType, property)):
            if name not in ("__dict__", "H", "mH"):
                found[f"{name}.__get__"] = value.__get__
        elif _is_function(value):
            found[name] = value
    return found


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Functions that ``__torch_function__`` sees, by the namespace or class that they are in."""
    spaces = _namespaces()
    made: dict[Any, list[Callable[..., Any]]] = {
        spaces[space]: list(functions.values()) for space, functions in _functions().items()
    }
    made[Tensor] = list(_methods().values())
    return made


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that are called as they are, with whatever arguments."""
    ignored = {
        value
        for name in _NEVER_HANDED_OVER
        if _is_function(value := getattr(fb, name, None)) or inspect.isclass(value)
    }
    ignored |= {getattr(Tensor, n) for n in _NEVER_HANDED_OVER_METHODS if hasattr(Tensor, n)}
    return ignored  # type: ignore[return-value]


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether ``func`` is a method of Tensor, or the accessor of one of its attributes."""
    return getattr(func, "__name__", None) == "__get__" or func in _method_set()


@functools.cache
def _method_set() -> frozenset[Any]:
    return frozenset(_methods().values())


@functools.cache
def _names() -> dict[Any, str]:
    names = {value: f"torch.Tensor.{name}" for name, value in _methods().items()}
    for space, functions in _functions().items():
        for name, value in functions.items():
            names.setdefault(value, f"{space}.{name}")
    return names


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The full name of an overridable function, ``torch.Tensor.add``; None of any other."""
    if getattr(f, "__name__", None) == "__set__":
        return f"torch.Tensor.{f.__self__.__name__}.__set__"  # type: ignore[attr-defined]
    return _names().get(f)


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For every overridable function one with the same signature that returns -1."""
    return {function: _dummy(function) for function in _names()}


def _dummy(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # what is bound by hand tells none
        return lambda *args, **kwargs: -1
    # Only the names and kinds matter: a default stands for itself, whatever its value.
    defaults: dict[str, Any] = {}
    parameters = []
    for parameter in signature.parameters.values():
        defaults[parameter.name] = parameter.default
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty))

    def dummy(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    dummy.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return dummy


# --- modes


class TorchFunctionMode(_C._FunctionMode):
    """A context in which one object sees every call of an overridable function.

    Subclasses define ``__torch_function__(self, func, types, args=(), kwargs=None)``. While it
    runs, the mode is out of the way: what it calls goes to the mode around it, if there is one.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} must define __torch_function__(self, func, types, args, kwargs)"
        )

    @classmethod
    def push(cls: type[Mode], *args: Any, **kwargs: Any) -> Mode:
        """The old spelling of making one."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    depth = _C._len_torch_function_stack()
    return _C._get_function_stack_at(depth - 1) if depth else None


def _get_current_function_mode_stack() -> list[Any]:
    return [_C._get_function_stack_at(place) for place in range(_C._len_torch_function_stack())]


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    """Set the innermost mode aside for a while."""
    mode = _C._pop_torch_function_stack()
    try:
        yield mode
    finally:
        _C._push_on_torch_function_stack(mode)

"""Dispatch of functionals to the kernel for the type of their input.

A functional is declared with its arguments and has no body; its kernels are the functions that do
the work. A kernel for a tv_tensor gets a plain tensor, those arguments that it has
names for, and, if it asks for them, the `format`, `canvas_size` and `clamping_mode` of its
input; the result is wrapped like the input.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, TVTensor, Video

__all__ = [
    "PIL",
    "PIXELS",
    "call_kernel",
    "functional",
    "is_pure_tensor",
    "kernel",
    "register_kernel",
]

_Function = Callable[..., Any]
_F = TypeVar("_F", bound=Callable[..., Any])


class PIL:
    """Stands for PIL images, since Pillow may be absent."""


PIXELS = (Tensor, Image, Video)  # what most image kernels are for
_BUILT_IN = (Image, Video, Mask, BoundingBoxes, KeyPoints)
_SAID = ("format", "canvas_size", "clamping_mode")


def is_pure_tensor(inpt: Any) -> bool:
    """Whether a value is a plain tensor, not a tv_tensor."""
    return isinstance(inpt, Tensor) and not isinstance(inpt, TVTensor)


class _Entry:
    """A functional with its kernels by type of input."""

    def __init__(self, function: _Function) -> None:
        self.name = function.__name__
        parameters = list(inspect.signature(function).parameters.values())[1:]
        self.names: tuple[str, ...] = tuple(each.name for each in parameters)
        self.defaults: dict[str, Any] = {
            each.name: each.default for each in parameters if each.default is not each.empty
        }
        self.kernels: dict[type, _Function] = {}
        self.found: dict[type, _Function] = {}  # also for subclasses; cleared when one is added

    def find(self, inpt: Any) -> _Function | None:
        """Return the kernel for an input, None if there is none."""
        kind = type(inpt)
        run = self.found.get(kind)
        if run is None:
            run = self._search(inpt)
            if run is not None:
                self.found[kind] = run
        return run

    def _search(self, inpt: Any) -> _Function | None:
        if is_pil_image(inpt):
            return self.kernels.get(PIL)
        for kind in type(inpt).__mro__:
            if kind in self.kernels:
                return self.kernels[kind]
            if kind is TVTensor:  # users' tv_tensors are not images
                return None
        return None

    def refuse(self, inpt: Any) -> TypeError:
        """Return the error for an input without a kernel."""
        known = ", ".join("PIL.Image" if k is PIL else k.__name__ for k in self.kernels)
        return TypeError(
            f"Functional F.{self.name} supports inputs of type {known}, but got {type(inpt)} "
            "instead."
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return all arguments by name."""
        if len(args) > len(self.names):
            raise TypeError(
                f"{self.name}() takes {len(self.names)} arguments after the input, got {len(args)}"
            )
        unknown = kwargs.keys() - self.names
        if unknown:
            raise TypeError(f"{self.name}() got an unexpected keyword argument {min(unknown)!r}")
        return {**self.defaults, **dict(zip(self.names, args, strict=False)), **kwargs}


_ENTRIES: dict[_Function, _Entry] = {}


def functional(function: _F) -> _F:
    """Make a functional from a declaration."""
    entry = _Entry(function)

    @functools.wraps(function)
    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        run = entry.found.get(type(inpt)) or entry.find(inpt)
        if run is None:
            raise entry.refuse(inpt)
        return run(inpt, *args, **kwargs)

    _ENTRIES[call] = entry
    return call  # type: ignore[return-value]


def call_kernel(function: _Function, inpt: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a functional; tv_tensors without a kernel are returned unchanged."""
    entry = _ENTRIES.get(function)
    if entry is None:
        return function(inpt, *args, **kwargs)
    run = entry.found.get(type(inpt)) or entry.find(inpt)
    return inpt if run is None else run(inpt, *args, **kwargs)


def kernel(function: _Function, *kinds: type, whole: bool = False) -> Callable[[_F], _F]:
    """Add a kernel for some types of input; `whole` passes tv_tensors without unwrapping them."""

    def add(run: _F) -> _F:
        entry = _ENTRIES[function]
        for kind in kinds:
            plain = whole or not issubclass(kind, TVTensor)
            entry.kernels[kind] = _fitted(entry, run) if plain else _unwrapping(entry, run)
        return run

    return add


def _chosen(entry: _Entry, run: _Function) -> Callable[..., dict[str, Any]] | None:
    """Return how the arguments of a functional map to those of a kernel; None if they are equal."""
    names = tuple(inspect.signature(run).parameters)[1:]
    if names == entry.names:
        return None
    said = [name for name in names if name in _SAID and name not in entry.names]

    def choose(inpt: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = entry.bind(args, kwargs)
        chosen = {name: bound[name] for name in names if name in bound}
        for name in said:
            chosen[name] = getattr(inpt, name)
        return chosen

    return choose


def _fitted(entry: _Entry, run: _Function) -> _Function:
    """Make a kernel that takes the arguments of its functional."""
    choose = _chosen(entry, run)
    if choose is None:
        return run

    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        return run(inpt, **choose(inpt, args, kwargs))

    return call


def _unwrapping(entry: _Entry, run: _Function) -> _Function:
    """Make a kernel for tv_tensors from one for plain tensors."""
    choose = _chosen(entry, run)

    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        return _with_meaning(run(inpt.as_subclass(Tensor), *args, **kwargs), inpt)

    def choosing_call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = choose(inpt, args, kwargs)  # type: ignore[misc]
        return _with_meaning(run(inpt.as_subclass(Tensor), **arguments), inpt)

    return call if choose is None else choosing_call


def _with_meaning(output: Any, inpt: Any) -> Any:
    """Wrap a result, several of them, or a result and its new canvas, like the input."""
    wrap = type(inpt).wrap
    if isinstance(output, Tensor):
        return wrap(output, inpt)
    if isinstance(output[-1], Tensor):
        return tuple(wrap(each, inpt) for each in output)
    return wrap(output[0], inpt, canvas_size=output[1])


def register_kernel(functional: _Function | str, tv_tensor_cls: type) -> Callable[[_F], _F]:
    """Register a decorated kernel of a functional for a user's tv_tensor class.

    The kernel gets its input as it is and the other arguments by name.
    """
    entry = _entry_of(functional)
    if not (isinstance(tv_tensor_cls, type) and issubclass(tv_tensor_cls, TVTensor)):
        raise ValueError(
            "Kernels can only be registered for subclasses of torchvision.tv_tensors.TVTensor, "
            f"but got {tv_tensor_cls}."
        )
    if tv_tensor_cls in _BUILT_IN:
        raise ValueError(
            f"Kernels cannot be registered for the builtin tv_tensor classes, but got "
            f"{tv_tensor_cls}"
        )

    def add(run: _F) -> _F:
        def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
            return run(inpt, **entry.bind(args, kwargs))

        entry.kernels[tv_tensor_cls] = call
        entry.found.clear()
        return run

    return add


def _entry_of(function: _Function | str) -> _Entry:
    if isinstance(function, str):
        from flambeau.vision.transforms.v2 import functional as namespace

        found = getattr(namespace, function, None)
        if found is None:
            raise ValueError(
                f"Could not find functional with name '{function}' in "
                "torchvision.transforms.v2.functional."
            )
        function = found
    if function not in _ENTRIES:
        raise ValueError(
            "Kernels can only be registered on functionals from the "
            f"torchvision.transforms.v2.functional namespace, but got {function}."
        )
    return _ENTRIES[function]

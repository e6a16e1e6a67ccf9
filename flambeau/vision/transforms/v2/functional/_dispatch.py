"""The functions of the first interface for inputs of the second."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from flambeau import Tensor
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.tv_tensors import Mask, TVTensor

__all__ = ["is_pure_tensor", "keeping_masks", "moving_masks"]

_Function = Callable[..., Any]


def is_pure_tensor(inpt: Any) -> bool:
    """Whether a value is a tensor without a meaning."""
    return isinstance(inpt, Tensor) and not isinstance(inpt, TVTensor)


def _like(result: Any, inpt: Any) -> Any:
    """A result with the meaning of what it was made of."""
    if not isinstance(inpt, TVTensor):
        return result
    if isinstance(result, tuple):
        return tuple(each.as_subclass(type(inpt)) for each in result)
    return result.as_subclass(type(inpt))


def _plain(inpt: Any) -> Any:
    return inpt.as_subclass(Tensor) if isinstance(inpt, TVTensor) else inpt


def keeping_masks(function: _Function) -> _Function:
    """A change of colours: a mask stays as it is."""

    @functools.wraps(function)
    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inpt, Mask):
            return inpt
        return _like(function(_plain(inpt), *args, **kwargs), inpt)

    return _named(call, function)


def moving_masks(function: _Function) -> _Function:
    """A change of places: a mask moves too, without values between its values."""
    parameters = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(inpt: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(inpt, Mask):
            return _like(function(_plain(inpt), *args, **kwargs), inpt)
        bound = dict(zip(list(parameters)[1:], args, strict=False)) | kwargs
        if "interpolation" in parameters:
            bound["interpolation"] = InterpolationMode.NEAREST
        planes = inpt.as_subclass(Tensor)
        flat = planes.unsqueeze(0) if planes.ndim == 2 else planes
        result = function(flat, **bound)
        if planes.ndim == 2:
            result = tuple(r[0] for r in result) if isinstance(result, tuple) else result[0]
        return _like(result, inpt)

    return _named(call, function)


def _named(call: _Function, function: _Function) -> _Function:
    """The first argument is called ``inpt`` here."""
    signature = inspect.signature(function)
    first, *rest = signature.parameters.values()
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[first.replace(name="inpt"), *rest]
    )
    return call

"""Modules made without initial values."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from flambeau.nn import init
from flambeau.nn.modules.module import Module

__all__ = ["skip_init"]

_M = TypeVar("_M", bound=Module)


def skip_init(module_cls: type[_M], *args: Any, **kwargs: Any) -> _M:
    """Make a module whose parameters are not set yet, for values that will be loaded anyway.

    No random numbers are drawn. Only what `nn.init` sets is left out.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with init._skipped():
        return module_cls(*args, **kwargs)

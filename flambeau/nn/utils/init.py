"""Construction of modules without initialisation."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from flambeau.nn import init
from flambeau.nn.modules.module import Module

__all__ = ["skip_init"]

_M = TypeVar("_M", bound=Module)


def skip_init(module_cls: type[_M], *args: Any, **kwargs: Any) -> _M:
    """Make a module with uninitialised parameters, for values that will be loaded.

    Args:
        module_cls: Class of the module; its constructor takes `device`.
        *args: Arguments of the constructor.
        **kwargs: Its keyword arguments.

    Example:
        >>> nn.utils.skip_init(nn.Linear, 4, 2)
        Linear(in_features=4, out_features=2, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with init._skipped():
        return module_cls(*args, **kwargs)

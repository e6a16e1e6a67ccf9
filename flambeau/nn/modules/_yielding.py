"""Methods of modules that PyTorch's have not, which give way to members of the same name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from flambeau.nn.modules._members import Members

__all__ = ["has_attribute", "yielding"]

_Method = TypeVar("_Method", bound=Callable[..., Any])

_KINDS = ("_parameters", "_buffers", "_modules")


class _Yielding:
    """Finds a method, unless the object has a member of its name.

    Python looks at classes before it asks ``__getattr__``, which finds members: a plain method
    would hide them.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method: Any = method
        self.__doc__ = method.__doc__

    def __get__(self, module: Members | None, owner: type[Members]) -> Any:
        if module is not None:
            name = self._method.__name__
            if any(name in module.__dict__.get(kind, ()) for kind in _KINDS):
                raise AttributeError(name)  # and Python asks __getattr__
        return self._method.__get__(module, owner)


def yielding(method: _Method) -> _Method:
    """Make a method one that programs do not know of: their members may have its name."""
    made: Any = _Yielding(method)
    return made  # type: ignore[no-any-return]


def has_attribute(module: Members, name: str) -> bool:
    """Whether a module has an attribute that a new member must not take the name of."""
    if not hasattr(module, name):
        return False
    found = inspect.getattr_static(module, name, None)  # None where it is a member
    return not isinstance(found, _Yielding) or any(
        name in module.__dict__.get(kind, ()) for kind in _KINDS
    )

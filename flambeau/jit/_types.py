"""``torch.jit.isinstance``: questions about containers and their elements."""

from __future__ import annotations

import builtins
import types
import typing
from typing import Any

__all__: list[str] = []


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether ``obj`` is of a type such as ``List[int]`` or ``Optional[Dict[str, Tensor]]``."""
    if builtins.isinstance(target_type, tuple):
        return any(isinstance(obj, each) for each in target_type)
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if target_type in (list, dict, tuple, typing.List, typing.Dict, typing.Tuple):  # noqa: UP006
        raise RuntimeError(
            f"jit.isinstance: expected the type of the elements too, as in List[int], got "
            f"{target_type!r}"
        )
    if target_type is Any:
        return True
    if target_type is None:
        return obj is None
    if origin in (typing.Union, types.UnionType):
        return any(isinstance(obj, each) for each in inner)
    if origin is list:
        return builtins.isinstance(obj, list) and all(isinstance(each, inner[0]) for each in obj)
    if origin is dict:
        return builtins.isinstance(obj, dict) and all(
            isinstance(key, inner[0]) and isinstance(value, inner[1]) for key, value in obj.items()
        )
    if origin is tuple:
        return builtins.isinstance(obj, tuple) and _are_of(obj, inner)
    return builtins.isinstance(obj, target_type)


def _are_of(values: tuple[Any, ...], types: tuple[Any, ...]) -> bool:
    if len(types) == 2 and types[1] is Ellipsis:
        return all(isinstance(value, types[0]) for value in values)
    return len(values) == len(types) and all(map(isinstance, values, types))

"""Where layers that make tensors find out how to make them."""

from __future__ import annotations

from typing import Any

__all__ = ["factory_kwargs"]


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The arguments for making tensors among those of a layer.

    They are given one by one or together as ``factory_kwargs``; any other argument is refused.
    """
    if kwargs is None:
        return {}
    kinds = {"device", "dtype", "memory_format"}
    if not kwargs.keys() <= kinds | {"factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {kwargs.keys() - kinds - {'factory_kwargs'}}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in kinds & kwargs.keys():
        if name in found:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        found[name] = kwargs[name]
    return found

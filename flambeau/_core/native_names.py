"""What the native module lacks: names that Flambeau has elsewhere, and signatures of classes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from flambeau import _C, Tensor

__all__: list[str] = []


def _no_arguments() -> None: ...


class Signature:
    """What `inspect.signature` says of a class whose constructor is native."""

    __slots__ = ("like",)

    def __init__(self, like: Callable[..., None] = _no_arguments) -> None:
        self.like: Callable[..., None] = like

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is not None:
            raise AttributeError("__signature__")  # objects may be callable themselves
        import inspect

        return inspect.signature(self.like)


def _device(type: Any, index: int | None = None) -> None: ...


def _generator(device: Any = None) -> None: ...


_C.device.__signature__ = Signature(_device)  # type: ignore[attr-defined]
_C.Generator.__signature__ = Signature(_generator)  # type: ignore[attr-defined]


def _find(name: str) -> Any:
    if name == "_TensorMeta":
        return type(Tensor)
    if name == "_nn":
        from flambeau.nn.modules._conversion import _parse_to

        _C._nn = SimpleNamespace(_parse_to=_parse_to)  # type: ignore[attr-defined]
        return _C._nn  # type: ignore[attr-defined]
    raise AttributeError(f"module 'flambeau._C' has no attribute {name!r}")


_C.__getattr__ = _find  # type: ignore[method-assign,assignment,unused-ignore]

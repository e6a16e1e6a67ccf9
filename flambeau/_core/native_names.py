"""Names that PyTorch has in its native module, and Flambeau elsewhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from flambeau import _C, Tensor

__all__: list[str] = []


def _find(name: str) -> Any:
    if name == "_TensorMeta":
        return type(Tensor)
    if name == "_nn":
        from flambeau.nn.modules._conversion import _parse_to

        _C._nn = SimpleNamespace(_parse_to=_parse_to)  # type: ignore[attr-defined]
        return _C._nn  # type: ignore[attr-defined]
    raise AttributeError(f"module 'flambeau._C' has no attribute {name!r}")


_C.__getattr__ = _find  # type: ignore[method-assign,assignment,unused-ignore]

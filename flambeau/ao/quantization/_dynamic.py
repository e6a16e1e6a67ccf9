"""``quantize_dynamic``: weights of 8 bits in linear and recurrent layers."""

from __future__ import annotations

import copy
from typing import Any

import flambeau as fb
from flambeau import nn
from flambeau.ao.nn.quantized import dynamic

__all__: list[str] = []

_KINDS: dict[type[nn.Module], Any] = {
    nn.Linear: dynamic.Linear,
    nn.LSTM: dynamic.LSTM,
    nn.GRU: dynamic.GRU,
}


def quantize_dynamic(
    model: nn.Module,
    qconfig_spec: Any = None,
    dtype: fb.dtype = fb.qint8,
    mapping: Any = None,
    inplace: bool = False,
) -> nn.Module:
    """A model whose layers of some classes, or of some names, keep their weights in 8 bits."""
    if dtype not in (fb.qint8, fb.float16):
        raise RuntimeError(f"quantize_dynamic: expected torch.qint8 or torch.float16, got {dtype}")
    chosen = set(_KINDS if qconfig_spec is None else qconfig_spec)
    unknown = [each for each in chosen if isinstance(each, type) and each not in _KINDS]
    if unknown:
        names = ", ".join(sorted(each.__name__ for each in unknown))
        raise NotImplementedError(
            f"quantize_dynamic: expected nn.Linear, nn.LSTM or nn.GRU, got {names}"
        )
    changed = model if inplace else copy.deepcopy(model)
    _replace(changed, "", chosen, dtype, mapping or _KINDS)
    return changed


def _replace(
    module: nn.Module, path: str, chosen: set[Any], dtype: fb.dtype, mapping: dict[Any, Any]
) -> None:
    for name, child in module.named_children():
        child_path = f"{path}.{name}" if path else name
        kind = type(child)
        if kind in mapping and (kind in chosen or child_path in chosen):
            setattr(module, name, mapping[kind].from_float(child, dtype))
        else:
            _replace(child, child_path, chosen, dtype, mapping)

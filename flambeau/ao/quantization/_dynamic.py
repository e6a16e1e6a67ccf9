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
_TYPES = (fb.qint8, fb.float16)


def quantize_dynamic(
    model: nn.Module,
    qconfig_spec: Any = None,
    dtype: fb.dtype = fb.qint8,
    mapping: Any = None,
    inplace: bool = False,
) -> nn.Module:
    """A model whose layers of some classes, or of some names, keep their weights in 8 bits.

    A dictionary as ``qconfig_spec`` has a ``QConfig`` for each of them, or None for layers that
    stay as they are; what holds for a module holds for those in it that have none of their own.
    """
    spec = _types_of_weights(_KINDS if qconfig_spec is None else qconfig_spec, dtype)
    kinds = mapping or _KINDS
    _check_classes(model, spec, kinds)
    changed = model if inplace else copy.deepcopy(model)
    _replace(changed, "", spec.get(type(model)), spec, kinds)
    return changed


def _types_of_weights(spec: Any, dtype: fb.dtype) -> dict[Any, fb.dtype | None]:
    """The types of weights by class or name; without a dictionary of its own, ``dtype`` for all."""
    if isinstance(spec, dict) and spec is not _KINDS:
        return {key: _type_of_weights(key, qconfig) for key, qconfig in spec.items()}
    if dtype not in _TYPES:
        raise RuntimeError(f"quantize_dynamic: expected torch.qint8 or torch.float16, got {dtype}")
    return dict.fromkeys(spec, dtype)


def _type_of_weights(key: Any, qconfig: Any) -> fb.dtype | None:
    if qconfig is None:
        return None
    weight = getattr(qconfig, "weight", None)
    if weight not in _TYPES:
        raise NotImplementedError(
            f"quantize_dynamic: expected default_dynamic_qconfig, float16_dynamic_qconfig or None "
            f"for {key!r}, got {qconfig!r}"
        )
    return weight  # type: ignore[no-any-return]


def _check_classes(
    model: nn.Module, spec: dict[Any, fb.dtype | None], mapping: dict[Any, Any]
) -> None:
    """Refuse classes that would stay as they are, and do not stand for layers in them."""
    containers = {
        type(module) for module in model.modules() if any(True for _ in module.children())
    }
    unknown = [
        each.__name__
        for each, dtype in spec.items()
        if isinstance(each, type) and dtype and each not in mapping and each not in containers
    ]
    if unknown:
        names = ", ".join(sorted(unknown))
        raise NotImplementedError(
            f"quantize_dynamic: expected nn.Linear, nn.LSTM or nn.GRU, got {names}"
        )


def _replace(
    module: nn.Module,
    path: str,
    inherited: fb.dtype | None,
    spec: dict[Any, fb.dtype | None],
    mapping: dict[Any, Any],
) -> None:
    inherited = spec.get(path, inherited)
    for name, child in module.named_children():
        child_path = f"{path}.{name}" if path else name
        dtype = spec.get(child_path, spec.get(type(child), inherited))
        if type(child) in mapping and dtype is not None:
            setattr(module, name, mapping[type(child)].from_float(child, dtype))
        else:
            _replace(child, child_path, dtype, spec, mapping)

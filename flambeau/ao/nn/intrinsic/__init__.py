"""Layers that belong together, as ``fuse_modules`` leaves them."""

from __future__ import annotations

from typing import Any

from flambeau import nn

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearReLU",
]


class _FusedModule(nn.Sequential):
    """Layers that are called one after the other."""

    _fb_kinds: tuple[type[nn.Module], ...] = ()

    def __init__(self, *layers: nn.Module) -> None:
        kinds = self._fb_kinds
        if len(layers) != len(kinds) or not all(map(isinstance, layers, kinds)):
            expected = ", ".join(kind.__name__ for kind in kinds)
            given = ", ".join(type(layer).__name__ for layer in layers)
            raise TypeError(f"{type(self).__name__}: expected {expected}, got {given}")
        super().__init__(*layers)


class _ConvReLU(_FusedModule):
    def __init__(self, conv: nn.Module, relu: nn.Module) -> None:
        super().__init__(conv, relu)


class _ConvBn(_FusedModule):
    def __init__(self, conv: nn.Module, bn: nn.Module) -> None:
        super().__init__(conv, bn)


class _ConvBnReLU(_FusedModule):
    def __init__(self, conv: nn.Module, bn: nn.Module, relu: nn.Module) -> None:
        super().__init__(conv, bn, relu)


class _LinearReLU(_FusedModule):
    def __init__(self, linear: nn.Module, relu: nn.Module) -> None:
        super().__init__(linear, relu)


class _LinearBn(_FusedModule):
    def __init__(self, linear: nn.Module, bn: nn.Module) -> None:
        super().__init__(linear, bn)


class _BNReLU(_FusedModule):
    def __init__(self, batch_norm: nn.Module, relu: nn.Module) -> None:
        super().__init__(batch_norm, relu)


def _fused(name: str, base: type[_FusedModule], *kinds: type[nn.Module]) -> type[_FusedModule]:
    """The class of some layers in this order."""
    body: dict[str, Any] = {
        "_fb_kinds": kinds,
        "__doc__": " and ".join(kind.__name__ for kind in kinds) + " as one.",
        "__module__": __name__,
    }
    return type(name, (base,), body)


ConvReLU1d: type[_FusedModule] = _fused("ConvReLU1d", _ConvReLU, nn.Conv1d, nn.ReLU)
ConvReLU2d: type[_FusedModule] = _fused("ConvReLU2d", _ConvReLU, nn.Conv2d, nn.ReLU)
ConvReLU3d: type[_FusedModule] = _fused("ConvReLU3d", _ConvReLU, nn.Conv3d, nn.ReLU)
LinearReLU: type[_FusedModule] = _fused("LinearReLU", _LinearReLU, nn.Linear, nn.ReLU)
LinearBn1d: type[_FusedModule] = _fused("LinearBn1d", _LinearBn, nn.Linear, nn.BatchNorm1d)
ConvBn1d: type[_FusedModule] = _fused("ConvBn1d", _ConvBn, nn.Conv1d, nn.BatchNorm1d)
ConvBn2d: type[_FusedModule] = _fused("ConvBn2d", _ConvBn, nn.Conv2d, nn.BatchNorm2d)
ConvBn3d: type[_FusedModule] = _fused("ConvBn3d", _ConvBn, nn.Conv3d, nn.BatchNorm3d)
ConvBnReLU1d: type[_FusedModule] = _fused(
    "ConvBnReLU1d", _ConvBnReLU, nn.Conv1d, nn.BatchNorm1d, nn.ReLU
)
ConvBnReLU2d: type[_FusedModule] = _fused(
    "ConvBnReLU2d", _ConvBnReLU, nn.Conv2d, nn.BatchNorm2d, nn.ReLU
)
ConvBnReLU3d: type[_FusedModule] = _fused(
    "ConvBnReLU3d", _ConvBnReLU, nn.Conv3d, nn.BatchNorm3d, nn.ReLU
)
BNReLU2d: type[_FusedModule] = _fused("BNReLU2d", _BNReLU, nn.BatchNorm2d, nn.ReLU)
BNReLU3d: type[_FusedModule] = _fused("BNReLU3d", _BNReLU, nn.BatchNorm3d, nn.ReLU)

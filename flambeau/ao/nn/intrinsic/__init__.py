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


def _fused(name: str, *kinds: type[nn.Module]) -> type[_FusedModule]:
    """The class of some layers in this order."""

    def __init__(self: _FusedModule, *layers: nn.Module) -> None:
        given = [type(layer) for layer in layers]
        if len(layers) != len(kinds) or not all(map(isinstance, layers, kinds)):
            expected = ", ".join(kind.__name__ for kind in kinds)
            names = ", ".join(kind.__name__ for kind in given)
            raise TypeError(f"{name}: expected {expected}, got {names}")
        nn.Sequential.__init__(self, *layers)

    body: dict[str, Any] = {
        "__init__": __init__,
        "__doc__": " and ".join(kind.__name__ for kind in kinds) + " as one.",
        "__module__": __name__,
    }
    return type(name, (_FusedModule,), body)


ConvReLU1d: type[_FusedModule] = _fused("ConvReLU1d", nn.Conv1d, nn.ReLU)
ConvReLU2d: type[_FusedModule] = _fused("ConvReLU2d", nn.Conv2d, nn.ReLU)
ConvReLU3d: type[_FusedModule] = _fused("ConvReLU3d", nn.Conv3d, nn.ReLU)
LinearReLU: type[_FusedModule] = _fused("LinearReLU", nn.Linear, nn.ReLU)
LinearBn1d: type[_FusedModule] = _fused("LinearBn1d", nn.Linear, nn.BatchNorm1d)
ConvBn1d: type[_FusedModule] = _fused("ConvBn1d", nn.Conv1d, nn.BatchNorm1d)
ConvBn2d: type[_FusedModule] = _fused("ConvBn2d", nn.Conv2d, nn.BatchNorm2d)
ConvBn3d: type[_FusedModule] = _fused("ConvBn3d", nn.Conv3d, nn.BatchNorm3d)
ConvBnReLU1d: type[_FusedModule] = _fused("ConvBnReLU1d", nn.Conv1d, nn.BatchNorm1d, nn.ReLU)
ConvBnReLU2d: type[_FusedModule] = _fused("ConvBnReLU2d", nn.Conv2d, nn.BatchNorm2d, nn.ReLU)
ConvBnReLU3d: type[_FusedModule] = _fused("ConvBnReLU3d", nn.Conv3d, nn.BatchNorm3d, nn.ReLU)
BNReLU2d: type[_FusedModule] = _fused("BNReLU2d", nn.BatchNorm2d, nn.ReLU)
BNReLU3d: type[_FusedModule] = _fused("BNReLU3d", nn.BatchNorm3d, nn.ReLU)

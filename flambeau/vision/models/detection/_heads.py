"""Initialisation of detection heads, and conversion of names in old weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flambeau import nn

__all__ = ["draw_kaiming", "draw_normal", "rename"]


def draw_normal(module: nn.Module, std: float = 0.01) -> None:
    """Initialise all convolutions in a module with small weights and zero bias."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.normal_(layer.weight, std=std)
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0)


def draw_kaiming(module: nn.Module) -> None:
    """Initialise convolutions for ReLU (Kaiming, fan out), with zero bias."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
            if layer.bias is not None:
                nn.init.constant_(layer.bias, 0)


def rename(state_dict: dict[str, Any], prefix: str, names: Mapping[str, str]) -> None:
    """Rename weights and biases in a state dict to the current names of layers."""
    for old, new in names.items():
        for kind in ("weight", "bias"):
            value = state_dict.pop(f"{prefix}{old}.{kind}", None)
            if value is not None:
                state_dict[f"{prefix}{new}.{kind}"] = value

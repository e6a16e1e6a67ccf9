"""Initialisation of the networks: the same numbers as torchvision for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau import nn

__all__ = ["constant", "conv_fan_out", "linear_normal", "linear_truncated", "norm_unit", "start"]

_NORMS = (nn.BatchNorm2d, nn.BatchNorm3d, nn.GroupNorm)


def start(model: nn.Module, *rules: Callable[[nn.Module], None]) -> None:
    """Apply rules to every module, in the order in which they were made."""
    for module in model.modules():
        for rule in rules:
            rule(module)


def constant(parameter: Any, value: float) -> None:
    """Fill a parameter, if it exists."""
    if parameter is not None:
        nn.init.constant_(parameter, value)


def conv_fan_out(module: nn.Module) -> None:
    """Kaiming initialisation of convolutions (fan out), with zero bias."""
    if isinstance(module, (nn.Conv2d, nn.Conv3d)):
        nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        constant(module.bias, 0.0)


def norm_unit(module: nn.Module) -> None:
    """Identity initialisation of normalisation layers."""
    if isinstance(module, _NORMS):
        constant(module.weight, 1.0)
        constant(module.bias, 0.0)


def linear_normal(module: nn.Module) -> None:
    """Small normal weights and zero bias."""
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, 0, 0.01)
        constant(module.bias, 0.0)


def linear_truncated(module: nn.Module) -> None:
    """Small truncated normal weights and zero bias."""
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
        constant(module.bias, 0.0)

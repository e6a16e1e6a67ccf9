"""Copies of a module on several devices."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau.nn.modules.module import Module

__all__ = ["replicate"]


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """One copy for each device. On the CPU, where memory is shared, a copy shares parameters.

    With ``detach`` their gradients do not reach those of ``network``.
    """
    return [_copied(network, fb.device(device), detach) for device in devices]


def _copied(module: Module, device: fb.device, detach: bool) -> Module:
    replica = copy.copy(module)
    for members in ("_parameters", "_buffers", "_modules"):
        replica.__dict__[members] = dict(module.__dict__[members])
    for name, parameter in module._parameters.items():
        if parameter is not None:
            # A copy on another device is no parameter, but gradients go through it.
            moved = (parameter.detach() if detach else parameter).to(device)
            replica._parameters[name] = moved  # type: ignore[assignment]
    for name, buffer in module._buffers.items():
        if buffer is not None:
            replica._buffers[name] = buffer.to(device)
    for name, child in replica._modules.items():
        if child is not None:
            replica._modules[name] = _copied(child, device, detach)
    return replica
